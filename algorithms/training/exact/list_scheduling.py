"""Placing jobs one after another into the free capacity: the primal heuristic of the optimum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.training import Job, TrainingInstance
from models.training.schedule import Placement, samples_in_slot
from models.training.throughput import fits, most_units

__all__ = ["FreeCapacity", "Style", "colocated_workers", "spread_workers"]

Style = Literal["early", "late", "large"]


def colocated_workers(
    job: Job, worker: NDArray[np.float64], ps: NDArray[np.float64], free: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Most workers, at most the batch, that fit with their PSs into each row of `free`.

    Parameters
    ----------
    job : Job
    worker, ps : arrays, shape (resources,)
    free : array, shape (..., resources)

    Returns
    -------
    array of int, shape (...)
    """
    # Fractional PSs give an upper bound; from there down to what really fits.
    count = most_units(worker + ps / job.workers_per_ps, free, job.batch)
    count = np.minimum(count, most_units(worker, free, job.batch))
    while True:
        needed = np.ceil(count / job.workers_per_ps - 1e-9)
        use = count[..., None] * worker + needed[..., None] * ps
        wrong = ~fits(use, np.maximum(free, 0.0)) & (count > 0)
        if not wrong.any():
            return count
        count = np.where(wrong, count - 1, count)


def spread_workers(
    job: Job,
    worker: NDArray[np.float64],
    ps: NDArray[np.float64],
    free: NDArray[np.float64],
    at_most: int,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Spread up to `at_most` workers and the PSs they need over the machines, greedily.

    The better of two ways; not always the most that is possible.

    Parameters
    ----------
    job : Job
    worker, ps : arrays, shape (resources,)
    free : array, shape (machines, resources)
    at_most : int

    Returns
    -------
    workers : int
    workers_on, ps_on : arrays of int, shape (machines,)
    """
    first = _ps_first(job, worker, ps, free, at_most)
    if first[0] == at_most:
        return first
    beside = _ps_beside(job, worker, ps, free, at_most)
    return beside if beside[0] > first[0] else first


def _ps_first(
    job: Job,
    worker: NDArray[np.float64],
    ps: NDArray[np.float64],
    free: NDArray[np.float64],
    at_most: int,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """PSs first, where they displace the fewest workers; the number of workers by bisection."""
    workers_alone = most_units(worker, free, at_most)
    ps_alone = most_units(ps, free, job.ps_for(at_most))
    order = np.argsort(workers_alone / np.maximum(ps_alone, 0.5), kind="stable")
    most = int(min(at_most, workers_alone.sum()))

    def attempt(total: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        ps_on = _in_turn(ps_alone, order, job.ps_for(total))
        if ps_on.sum() < job.ps_for(total):
            return None
        room = most_units(worker, free - ps_on[:, None] * ps, total)
        # Machines that already hold PSs first, then the fullest ones.
        workers_on = _in_turn(room, np.lexsort((room, -ps_on)), total)
        return (workers_on, ps_on) if workers_on.sum() == total else None

    nothing = np.zeros(len(free), dtype=np.int64)
    low, high, found = 0, most, (nothing, nothing)
    while low < high:
        middle = (low + high + 1) // 2
        result = attempt(middle)
        if result is None:
            high = middle - 1
        else:
            low, found = middle, result
    return low, *found


def _ps_beside(
    job: Job,
    worker: NDArray[np.float64],
    ps: NDArray[np.float64],
    free: NDArray[np.float64],
    at_most: int,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """On every machine the PSs of its own workers; then PSs too many make way for workers."""
    room = np.minimum(colocated_workers(job, worker, ps, free), at_most)
    workers_on = _in_turn(room, np.argsort(-room, kind="stable"), at_most)
    ps_on = np.ceil(workers_on / job.workers_per_ps - 1e-9).astype(np.int64)
    left = free - workers_on[:, None] * worker - ps_on[:, None] * ps

    def change(kind: NDArray[np.int64], demand: NDArray[np.float64], h: int, by: int) -> None:
        kind[h] += by
        left[h] -= by * demand

    for _ in range(4 * len(free) + 64):  # one by one: enough for what is left over
        total = int(workers_on.sum())
        if total >= at_most:
            break
        spare = int(ps_on.sum()) - job.ps_for(total + 1)
        place = np.flatnonzero(fits(worker, left)) if spare >= 0 else np.array([], dtype=int)
        if place.size:
            change(workers_on, worker, int(place[0]), 1)
            continue
        swap = np.flatnonzero(fits(worker, left + ps) & (ps_on > 0))
        if spare > 0 and swap.size:
            change(ps_on, ps, int(swap[0]), -1)
            change(workers_on, worker, int(swap[0]), 1)
            continue
        place = np.flatnonzero(fits(ps, left)) if spare < 0 else np.array([], dtype=int)
        if not place.size:
            break
        change(ps_on, ps, int(place[0]), 1)
    total = int(workers_on.sum())
    return total, workers_on, _in_turn(ps_on, np.arange(len(free)), job.ps_for(total))


def _in_turn(room: NDArray[np.int64], order: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Fill `room` with up to `total` units, machine by machine in the given order."""
    before = np.concatenate(([0], np.cumsum(room[order])[:-1]))
    placed = np.zeros(len(room), dtype=np.int64)
    placed[order] = np.clip(total - before, 0, room[order])
    return placed


@dataclass
class FreeCapacity:
    """What is left of every machine in every slot, and where each placed job sits.

    Attributes
    ----------
    instance : TrainingInstance
    left : array, shape (slots, machines, resources)
    placed : dict of job index to placements (slot, machine index, workers, PSs)
    """

    instance: TrainingInstance
    left: NDArray[np.float64] = field(init=False)
    placed: dict[int, list[Placement]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.left = np.repeat(self.instance.capacity[None], self.instance.slots, axis=0)

    @classmethod
    def after(cls, instance: TrainingInstance, placed: dict[int, list[Placement]]) -> FreeCapacity:
        """Return the state after the given placements, which must fit together."""
        free = cls(instance)
        for i, placements in placed.items():
            free.put(i, placements)
        return free

    def put(self, i: int, placements: Sequence[Placement]) -> None:
        """Place job i."""
        self._change(i, placements, -1)
        self.placed[i] = list(placements)

    def take_out(self, i: int) -> list[Placement]:
        """Remove job i and return where it was."""
        placements = self.placed.pop(i, [])
        self._change(i, placements, 1)
        return placements

    def _change(self, i: int, placements: Iterable[Placement], sign: int) -> None:
        alpha, beta = self.instance.worker_demand[i], self.instance.ps_demand[i]
        for slot, machine, workers, ps in placements:
            self.left[slot, machine] += sign * (workers * alpha + ps * beta)

    def completion(self, i: int) -> int:
        """Last slot in which the placed job i has a worker."""
        return max(slot for slot, _, workers, _ in self.placed[i] if workers > 0)

    def value(self) -> float:
        """Total utility of the placed jobs."""
        jobs = self.instance.jobs
        return math.fsum(
            jobs[i].utility.value(self.completion(i) - jobs[i].arrival) for i in self.placed
        )

    def earliest_completion(self, i: int, last: int) -> int | None:
        """First slot by which job i could be done with what is left, None if after `last`."""
        job = self.instance.jobs[i]
        best = self._most_internal(i, last).max(axis=1, initial=0)
        samples = 0.0
        for k, slot in enumerate(range(job.arrival, last + 1)):
            in_slot = job.rate_internal * int(best[k])
            if job.rate_external * self.instance.reach[i].external_workers > in_slot:
                in_slot = max(in_slot, job.rate_external * self._spread(i, slot, job.batch)[0])
            samples += in_slot
            if job.workload_reached(samples):
                return slot
        return None

    def find(self, i: int, last: int, style: Style = "early") -> list[Placement] | None:
        """Find room for job i up to slot `last`, on single machines as far as possible.

        Parameters
        ----------
        i : int
        last : int
            Latest slot that may be used.
        style : {"early", "late", "large"}
            Which slots to use first; large = where the most workers fit on one machine.

        Returns
        -------
        list of placements, or None where no room was found.
        """
        job = self.instance.jobs[i]
        if last < job.arrival:
            return None
        most = self._most_internal(i, last)
        best = most.max(axis=1)
        slots = np.arange(job.arrival, last + 1)
        order = {
            "early": np.arange(len(slots)),
            "late": np.arange(len(slots))[::-1],
            "large": np.argsort(-best, kind="stable"),
        }[style]
        samples = best * job.rate_internal
        external = np.zeros(len(slots), dtype=bool)
        if not job.workload_reached(float(samples.sum())):
            spread = np.array(
                [self._spread(i, int(t), job.batch)[0] * job.rate_external for t in slots]
            )
            gain = spread - samples
            for k in np.argsort(-gain, kind="stable"):
                if gain[k] <= 0 or job.workload_reached(float(samples.sum())):
                    break
                external[k], samples[k] = True, spread[k]
            if not job.workload_reached(float(samples.sum())):
                return None
            # External slots are needed: use them first, so that what is cut off is internal.
            order = np.concatenate([order[external[order]], order[~external[order]]])
        placements: list[Placement] = []
        done = 0.0
        for k in order:
            missing = job.workload - done
            if samples[k] <= 0:
                continue
            slot = int(slots[k])
            chosen = (
                self._external(i, slot, missing)
                if external[k]
                else self._internal(i, slot, missing, most[k])
            )
            placements += chosen
            done += samples_in_slot(job, [place[1:] for place in chosen])
            if job.workload_reached(done):
                return placements
        return None

    def _most_internal(self, i: int, last: int) -> NDArray[np.int64]:
        job = self.instance.jobs[i]
        return colocated_workers(
            job,
            self.instance.worker_demand[i],
            self.instance.ps_demand[i],
            self.left[job.arrival : last + 1],
        )

    def _spread(
        self, i: int, slot: int, at_most: int
    ) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        return spread_workers(
            self.instance.jobs[i],
            self.instance.worker_demand[i],
            self.instance.ps_demand[i],
            self.left[slot],
            at_most,
        )

    def _internal(
        self, i: int, slot: int, missing: float, most: NDArray[np.int64]
    ) -> list[Placement]:
        """Use the machine that is just large enough, else the largest."""
        job = self.instance.jobs[i]
        wanted = max(1, math.ceil(missing * (1 - 1e-9) / job.rate_internal))
        workers = int(min(wanted, most.max()))
        enough = np.flatnonzero(most >= workers)
        machine = int(enough[np.argmin(most[enough])])
        return [(slot, machine, workers, job.ps_for(workers))]

    def _external(self, i: int, slot: int, missing: float) -> list[Placement]:
        job = self.instance.jobs[i]
        wanted = max(1, math.ceil(missing * (1 - 1e-9) / job.rate_external))
        _, workers, ps = self._spread(i, slot, min(wanted, job.batch))
        return [(slot, int(h), int(workers[h]), int(ps[h])) for h in np.flatnonzero(workers + ps)]
