"""The hybrid on line: at every event it plans anew, and starts what it plans for now.

Only its search on single nodes is used: running jobs stay on their nodes until their planned ends,
and orders of the waiting jobs are tried beside them, from PRB's order and the last plan's on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from algorithms.dispatch.hybrid.problems import make_serial
from algorithms.dispatch.hybrid.replan_kernel import replan
from algorithms.dispatch.hybrid.serial_kernels import SerialProblem
from algorithms.dispatch.problem import NEVER, POWER, PRIORITY, RESOURCE, Reality
from models.dispatch import DispatchInstance

__all__ = ["OnlineRun", "dispatch_hybrid"]

HEAT = (0.5, 0.005)
"""Temperature of the search at the beginning and at the end, in parts of the cost per job."""

Ints = NDArray[np.int64]


class OnlineRun(NamedTuple):
    """What happened; as `algorithms.dispatch.kernels.dispatch` returns it."""

    start: Ints
    end: Ints
    unit_node: Ints
    passes: int
    tried: int
    waited: Ints
    promise: Ints


class _Dispatcher:
    """What the dispatcher knows and remembers between events."""

    def __init__(
        self,
        instance: DispatchInstance,
        asked: NDArray[np.float64],
        nodes: str,
        budget: int,
        depth: int,
        seed: int,
    ) -> None:
        arrays = instance.arrays
        self.instance, self.budget, self.depth = instance, budget, depth
        self.rng = np.random.Generator(np.random.PCG64(seed))
        problem = make_serial(instance, nodes, binding=0.0)
        # The common factor max_ewt may come from a job that nobody knows of yet.
        self.problem: SerialProblem = problem._replace(weight=1.0 / arrays.expected_wait)
        self.problem.demand[:, -1] = asked
        self.last: list[int] = []

    def plan(
        self, time: int, waiting: list[int], running: list[int], start: Ints, unit_node: Ints
    ) -> tuple[list[int], list[int], Ints]:
        """Return the jobs to start now, those not looked at, and nodes of all units."""
        arrays, problem = self.instance.arrays, self.problem
        urgency = {j: (time - arrays.submit[j] + 1) / arrays.expected_wait[j] for j in waiting}
        by_urgency = sorted(waiting, key=lambda j: (-urgency[j], j))
        chosen, left_out = by_urgency[: self.depth], by_urgency[self.depth :]
        known = set(chosen)
        kept = [j for j in self.last if j in known]
        kept += [j for j in chosen if j not in set(kept)]
        problem.submit[chosen] = time
        for j in running:  # one that is over its time is taken to end at once
            problem.duration[j] = max(arrays.duration[j], time + 1 - start[j])
        best, planned, node = replan(
            problem,
            np.array(running, dtype=np.int64),
            start,
            unit_node,
            np.array([chosen, kept], dtype=np.int64),
            self.budget,
            HEAT,
            self.rng,
        )
        self.last = best.tolist()
        return [j for j in self.last if planned[j] == time], left_out, node


def dispatch_hybrid(
    instance: DispatchInstance,
    nodes: str,
    asked: NDArray[np.float64],
    headroom: float,
    reality: Reality,
    budget: int,
    depth: int,
    seed: int,
) -> OnlineRun:
    """Simulate the hybrid.

    Parameters
    ----------
    instance : DispatchInstance
    nodes : str
        "fullest" or "file".
    asked : float array, shape (J,)
        Watts that a job must find free to start.
    headroom : float
        Watts for all jobs together.
    reality : Reality
    budget : int
        Orders that are tried at an event.
    depth : int
        Waiting jobs that are planned at an event, the most urgent ones.
    seed : int
    """
    arrays = instance.arrays
    dispatcher = _Dispatcher(instance, asked, nodes, budget, depth, seed)
    number = instance.number_of_jobs
    start = np.full(number, -1, np.int64)
    end = np.full(number, NEVER, np.int64)
    unit_node = np.full(len(arrays.unit_job), -1, np.int64)
    waited = np.zeros((number, 3), np.int64)
    ahead = np.flatnonzero(arrays.possible)
    ahead = ahead[np.argsort(arrays.submit[ahead], kind="stable")][::-1].tolist()
    waiting: list[int] = []
    running: list[int] = []
    seen: dict[int, float] = {}
    why: dict[int, int] = {}
    time = passes = tried = 0
    while ahead or waiting:
        times = [int(end[j]) for j in running] + [int(arrays.submit[j]) for j in ahead[-1:]]
        before, time = time, max(time, min(times))
        for j in waiting:
            waited[j, why[j]] += time - before
        running = [j for j in running if end[j] > time]
        while ahead and arrays.submit[ahead[-1]] <= time:
            waiting.append(ahead.pop())
        if not waiting:
            continue
        for j in running:
            dispatcher.problem.demand[j, -1] = seen[j]
        begun, left_out, node = dispatcher.plan(time, waiting, running, start, unit_node)
        passes += 1
        tried += len(waiting) - len(left_out)
        for j in begun:
            start[j], end[j] = time, time + reality.duration[j]
            own = slice(arrays.unit_first[j], arrays.unit_first[j + 1])
            unit_node[own] = node[own]
        drawn = sum(seen[j] for j in running) + float(asked[begun].sum())
        seen |= {j: float(reality.power[j]) for j in begun}
        running += begun
        gone = set(begun)
        waiting = [j for j in waiting if j not in gone]
        room = _room(instance, running, unit_node) if waiting else np.empty((0, 0))
        late = set(left_out)
        for j in waiting:
            why[j] = PRIORITY if j in late else _why(instance, j, room, asked[j], headroom - drawn)
    promise = np.full(number, NEVER, np.int64)
    return OnlineRun(start, end, unit_node, passes, tried, waited, promise)


def _room(instance: DispatchInstance, running: list[int], unit_node: Ints) -> NDArray[np.float64]:
    """What the nodes have left, shape (N, R)."""
    arrays = instance.arrays
    room = np.array(arrays.capacity_limit)
    for j in running:
        for u in range(arrays.unit_first[j], arrays.unit_first[j + 1]):
            room[unit_node[u]] -= arrays.unit_demand[u]
    return room


def _why(
    instance: DispatchInstance, j: int, room: NDArray[np.float64], asked: float, free: float
) -> int:
    """Why job j is not started: looked at first is power, then each unit for itself."""
    if asked > free:
        return POWER
    arrays = instance.arrays
    for u in range(arrays.unit_first[j], arrays.unit_first[j + 1]):
        if not (arrays.unit_demand[u] <= room).all(axis=1).any():
            return RESOURCE
    return PRIORITY
