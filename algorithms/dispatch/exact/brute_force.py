"""The optimum by trying everything: for tests, up to about five jobs."""

from __future__ import annotations

import itertools

import numpy as np

from models.dispatch import DispatchInstance, DispatchSchedule, build_schedule

__all__ = ["brute_force"]


def brute_force(instance: DispatchInstance) -> DispatchSchedule:
    """Return an optimal schedule.

    Some optimal schedule is built by placing jobs one by one, in order of its starts, each on
    fixed nodes and as early as they and the cap allow after the jobs before it. So all orders
    and, for each, all assignments of units to nodes are tried; branches that already cost
    more than the best schedule are cut off.
    """
    return _Search(instance).run()


class _Search:
    def __init__(self, instance: DispatchInstance) -> None:
        self.instance = instance
        self.arrays = instance.arrays
        self.jobs = np.flatnonzero(self.arrays.possible).tolist()
        self.best = np.inf
        self.start = np.full(instance.number_of_jobs, -1, dtype=np.int64)
        self.nodes = np.full(len(self.arrays.unit_job), -1, dtype=np.int64)
        self.best_start, self.best_nodes = self.start.copy(), self.nodes.copy()
        self.assignments = {j: self._assignments(j) for j in self.jobs}

    def run(self) -> DispatchSchedule:
        self._place(list(self.jobs), 0.0, 0)
        return build_schedule(self.instance, "optimal", self.best_start, self.best_nodes)

    def _assignments(self, j: int) -> list[tuple[int, ...]]:
        """All ways to put job j's units on the empty nodes."""
        first, last = self.arrays.unit_first[j], self.arrays.unit_first[j + 1]
        found = []
        for nodes in itertools.product(range(self.instance.number_of_nodes), repeat=last - first):
            left = self.arrays.capacity_limit.copy()
            np.subtract.at(left, list(nodes), self.arrays.unit_demand[first:last])
            if (left >= 0).all():
                found.append(nodes)
        return found

    def _place(self, rest: list[int], cost: float, earliest: int) -> None:
        if cost >= self.best - 1e-9:
            return
        if not rest:
            self.best = cost
            self.best_start, self.best_nodes = self.start.copy(), self.nodes.copy()
            return
        for j in rest:
            others = [i for i in rest if i != j]
            first, last = self.arrays.unit_first[j], self.arrays.unit_first[j + 1]
            for nodes in self.assignments[j]:
                self.nodes[first:last] = nodes
                time = self._earliest(j, earliest)
                self.start[j] = time
                wait = self.arrays.weight[j] * (time - self.arrays.submit[j])
                self._place(others, cost + wait, time)
                self.start[j] = -1
                self.nodes[first:last] = -1

    def _earliest(self, j: int, after: int) -> int:
        """First time, not before the jobs placed so far, at which j fits on its nodes."""
        arrays = self.arrays
        ends = [int(self.start[i] + arrays.duration[i]) for i in self.jobs if self.start[i] >= 0]
        begin = max(after, int(arrays.submit[j]))
        for time in sorted({begin, *(end for end in ends if end > begin)}):
            # No job placed so far starts later, so what fits now fits until the end.
            running = [
                i
                for i in self.jobs
                if self.start[i] >= 0 and self.start[i] + arrays.duration[i] > time
            ]
            if self._fits([*running, j]):
                return time
        raise AssertionError("a possible job fits the empty system")

    def _fits(self, running: list[int]) -> bool:
        arrays = self.arrays
        if arrays.power[running].sum() > arrays.headroom_limit:
            return False
        units = np.flatnonzero(np.isin(arrays.unit_job, running))
        left = arrays.capacity_limit.copy()
        np.subtract.at(left, self.nodes[units], arrays.unit_demand[units])
        return bool((left >= 0).all())
