"""Filling the machines of one slot, bundle by bundle: what the baselines have in common.

A bundle is one worker and the parameter servers (PSs) that D2 then requires. Round-robin is the
placement of arXiv 2108.02917, section "Numerical Results".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from models.training import TrainingInstance
from models.training.throughput import FIT_TOLERANCE, floor_count

__all__ = ["Cluster", "fill"]

Key = tuple[float, ...]


class Cluster:
    """Machines of one slot with the workers and PSs that are on them.

    Parameters
    ----------
    instance : TrainingInstance
        All counts are of its jobs; those that are impossible have no place here.
    capacity : array, shape (machines, resources), optional
        The instance's own by default; one row with the sum of all machines makes a pool.

    Attributes
    ----------
    pointer : int
        Machine at which the next search starts. It survives `clear`, so that every slot goes on
        where the last one stopped.
    room : array, shape (machines, resources)
        What is left, with the tolerance of `models.training.throughput.fits`.
    workers, ps : arrays of int, shape (jobs, machines)
    worker_count, ps_count : lists of int, one per job
        Totals over the machines.
    most_workers : list of int, one per job
        Most workers at once: the batch, or what fits on the empty cluster (D5).
    worker_share, ps_share : arrays, shape (jobs, resources)
        Part of each resource's total that one worker and one PS need.
    """

    def __init__(
        self, instance: TrainingInstance, capacity: NDArray[np.float64] | None = None
    ) -> None:
        self.instance = instance
        self.capacity = instance.capacity if capacity is None else capacity
        self.pointer = 0
        self.most_workers = [
            min(job.batch, reach.external_workers)
            for job, reach in zip(instance.jobs, instance.reach, strict=True)
        ]
        self._limit = self.capacity * (1 + FIT_TOLERANCE) + 1e-12
        self._worker_is_free = [not demand.any() for demand in instance.worker_demand]
        self._ps_is_free = [not demand.any() for demand in instance.ps_demand]
        total = self.capacity.sum(axis=0)
        self.worker_share = _shares(instance.worker_demand, total)
        self.ps_share = _shares(instance.ps_demand, total)
        self._share_pairs = [
            list(zip(worker, ps, strict=True))
            for worker, ps in zip(self.worker_share.tolist(), self.ps_share.tolist(), strict=True)
        ]
        self.clear()

    def clear(self) -> None:
        """Take everything off the machines."""
        shape = (self.instance.number_of_jobs, len(self.capacity))
        self.room = self._limit.copy()
        self.workers = np.zeros(shape, dtype=np.int64)
        self.ps = np.zeros(shape, dtype=np.int64)
        self.worker_count = [0] * shape[0]
        self.ps_count = [0] * shape[0]

    def share(self, i: int, workers: int | None = None, ps: int | None = None) -> float:
        """Dominant share: the largest part of a resource's total that a job has, or would have.

        Parameters
        ----------
        i : int
        workers, ps : int, optional
            What the job has now, by default.
        """
        w = self.worker_count[i] if workers is None else workers
        s = self.ps_count[i] if ps is None else ps
        return max(w * alpha + s * beta for alpha, beta in self._share_pairs[i])

    def allocation(self, i: int) -> list[tuple[int, int, int]]:
        """Return the job's machines as (machine index, workers, PSs)."""
        used = np.flatnonzero(self.workers[i] + self.ps[i])
        return [(int(h), int(self.workers[i, h]), int(self.ps[i, h])) for h in used]

    def put(self, i: int, machine: int, workers: int, ps: int) -> None:
        """Change what the job has on a machine; whether it fits is the caller's concern."""
        self.workers[i, machine] += workers
        self.ps[i, machine] += ps
        self.worker_count[i] += workers
        self.ps_count[i] += ps
        self.room[machine] -= (
            workers * self.instance.worker_demand[i] + ps * self.instance.ps_demand[i]
        )

    def release(self, i: int) -> None:
        """Take a job off all machines."""
        used = np.flatnonzero(self.workers[i] + self.ps[i])
        self.workers[i] = self.ps[i] = 0
        self.worker_count[i] = self.ps_count[i] = 0
        # Computed anew from the counts, so that no rounding error adds up over the slots.
        self.room[used] = (
            self._limit[used]
            - self.workers[:, used].T @ self.instance.worker_demand
            - self.ps[:, used].T @ self.instance.ps_demand
        )

    def next_bundle(self, i: int, at_most: int | None = None) -> tuple[int, int]:
        """Workers and PSs of the job's next bundle; no workers if it has all it may have.

        Workers that need nothing come all at once, as many as the bundle's PSs serve.

        Parameters
        ----------
        i : int
        at_most : int, optional
            Most workers in total; what fits on the empty cluster by default.
        """
        job = self.instance.jobs[i]
        count = self.worker_count[i]
        most = self.most_workers[i] if at_most is None else at_most
        if count >= most:
            return 0, 0
        workers = 1
        if self._worker_is_free[i]:
            served = most if self._ps_is_free[i] else job.workers_per_ps * job.ps_for(count + 1)
            workers = max(1, floor_count(min(most, served)) - count)
        return workers, max(job.ps_for(count + workers) - self.ps_count[i], 0)

    def add_bundle(self, i: int, at_most: int | None = None) -> bool:
        """Place the job's next bundle by round-robin, or leave everything as it was.

        The worker goes to the first machine on which it fits and after which its PSs still find
        a place, so that a bundle is only refused if there is none.

        Returns
        -------
        bool
            Whether it was placed.
        """
        workers, ps = self.next_bundle(i, at_most)
        if workers == 0:
            return False
        ps_demand = self.instance.ps_demand[i]
        before = self.pointer
        if ps and next(self._machines_with_room(ps_demand), None) is None:
            return False
        for machine in self._machines_with_room(self.instance.worker_demand[i]):
            self.put(i, machine, workers, 0)
            self._move_past(machine)
            if self._add_ps(i, ps):
                return True
            self.put(i, machine, -workers, 0)
            self.pointer = before
        return False

    def add_gang(self, i: int, workers: int) -> bool:
        """Place so many workers and their PSs by round-robin, all or nothing."""
        before = self.pointer
        while self.worker_count[i] < workers:
            if not self.add_bundle(i, workers):
                self.release(i)
                self.pointer = before
                return False
        return True

    def _add_ps(self, i: int, ps: int) -> bool:
        """Place PSs by round-robin, all or nothing; those that need nothing, on one machine."""
        at_once = ps if self._ps_is_free[i] else 1
        placed: list[int] = []
        for _ in range(0, ps, max(at_once, 1)):
            machine = next(self._machines_with_room(self.instance.ps_demand[i]), None)
            if machine is None:
                for used in placed:
                    self.put(i, used, 0, -at_once)
                return False
            self.put(i, machine, 0, at_once)
            self._move_past(machine)
            placed.append(machine)
        return True

    def _machines_with_room(self, demand: NDArray[np.float64]) -> Iterator[int]:
        """Yield the machines on which one unit fits, from the pointer on and around."""
        first = self.pointer
        if (demand <= self.room[first]).all():
            yield first
        machines = np.flatnonzero((demand <= self.room).all(axis=1))
        start = int(np.searchsorted(machines, first))
        for machine in (*machines[start:], *machines[:start]):
            if machine != first:
                yield int(machine)

    def _move_past(self, machine: int) -> None:
        self.pointer = (machine + 1) % len(self.capacity)


def _shares(demand: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part of each resource's total that one unit needs; a resource that nobody has counts 0."""
    with np.errstate(over="ignore"):  # of almost nothing: infinity is right, no unit fits
        return np.divide(demand, total, out=np.zeros_like(demand), where=total > 0)


def fill(cluster: Cluster, jobs: Sequence[int], key: Callable[[int], Key | None]) -> None:
    """Add bundle after bundle, always to the job of the least key.

    A job whose bundle does not fit is left out from then on: the room only shrinks.

    Parameters
    ----------
    cluster : Cluster
    jobs : sequence of int
        Among equal keys the earlier one comes first.
    key : callable
        Called with a job after each of its bundles; None if it wants no more.
    """
    queue: list[tuple[Key, int, int]] = []

    def enqueue(rank: int, i: int) -> None:
        value = key(i)
        if value is not None:
            heapq.heappush(queue, (value, rank, i))

    for rank, i in enumerate(jobs):
        enqueue(rank, i)
    while queue:
        _, rank, i = heapq.heappop(queue)
        if cluster.add_bundle(i):
            enqueue(rank, i)
