"""How many workers fit, and what a job could do alone on the empty cluster (D2, D5)."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from models.training.instance import Job

__all__ = [
    "JobReach",
    "ceil_count",
    "fits",
    "floor_count",
    "job_reach",
    "most_colocated_workers",
    "most_units",
    "most_workers_for",
    "ps_beside_workers",
    "workers_for",
]

CEILING_TOLERANCE = 1e-9  # D2: a computed real this little above a whole number is that number
LARGEST_TABLES = 10**8  # steps of the tables for w_ext; beyond, a MILP is faster
FIT_TOLERANCE = 1e-9  # relative; the audit allows 1e-6, so what fits here passes there
FIT_ABSOLUTE = 1e-12  # as the audit allows


def ceil_count(x: float) -> int:
    """Smallest whole number not below `x`, forgiving 1e-9 (D2)."""
    return math.ceil(x - CEILING_TOLERANCE)


def workers_for(samples: float, rate: float) -> int:
    """Fewest workers that process `samples` in one slot, each `rate` (D2); at least one.

    What D2 forgives must not make it none: without a worker nothing is processed, however little
    there is to do.
    """
    return max(ceil_count(samples / rate), 1)


def floor_count(x: float) -> int:
    """Largest whole number not above `x`, forgiving 1e-9."""
    return math.floor(x + CEILING_TOLERANCE)


def fits(use: NDArray[np.float64], capacity: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether `use` fits into `capacity` in every resource; both shaped (..., resources)."""
    return np.all(use <= capacity * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE, axis=-1)


def most_units(
    demand: NDArray[np.float64], capacity: NDArray[np.float64], at_most: int
) -> NDArray[np.int64]:
    """Most units with `demand` (resources,) that fit into each row of `capacity`.

    Parameters
    ----------
    demand : array, shape (resources,)
    capacity : array, shape (..., resources)
        Free capacity; slightly negative entries count as 0.
    at_most : int
        Upper limit, the answer where the demand is zero.

    Returns
    -------
    array of int, shape (...)
    """
    used = demand > 0
    result = np.full(capacity.shape[:-1], at_most, dtype=np.int64)
    if not used.any():
        return result
    with np.errstate(over="ignore"):  # a tiny demand fits any number of times: infinity is right
        room = np.maximum(capacity[..., used], 0.0) * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE
        count = np.floor(np.min(np.minimum(room / demand[used], float(at_most)), axis=-1))
    return np.minimum(result, count.astype(np.int64))


def ps_beside_workers(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    capacity: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Most PSs that fit on one machine beside w workers, for w = 0, 1, ... while w fit.

    Parameters
    ----------
    job : Job
    worker_demand, ps_demand, capacity : arrays, shape (resources,)

    Returns
    -------
    array of int, shape (most workers + 1,)
        Entry w is at most the number of PSs that a full batch needs.
    """
    most_workers = int(most_units(worker_demand, capacity, job.batch))
    rest = capacity - np.arange(most_workers + 1)[:, None] * worker_demand
    return most_units(ps_demand, rest, job.ps_for(job.batch))


def most_colocated_workers(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    capacity: NDArray[np.float64],
) -> int:
    """Most workers, at most the batch, that fit with their PSs on one machine."""
    return int(_colocated(job, worker_demand, ps_demand, capacity[None])[0])


def _colocated(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    kinds: NDArray[np.float64],
) -> NDArray[np.int64]:
    """The same for several machines, shape (machines, resources).

    By bisection, so that a batch of billions does no harm: what fits with w workers also fits
    with fewer.
    """
    low, high = np.zeros(len(kinds), dtype=np.int64), most_units(worker_demand, kinds, job.batch)
    while (low < high).any():
        workers = (low + high + 1) // 2
        needed = np.ceil(workers / job.workers_per_ps - CEILING_TOLERANCE).astype(np.int64)
        rest = kinds - workers[:, None] * worker_demand
        fitting = most_units(ps_demand, rest, int(needed.max())) >= needed
        low, high = np.where(fitting, workers, low), np.where(fitting, high, workers - 1)
    return low


def _ps_needed(job: Job, most: int) -> NDArray[np.int64]:
    """PSs that 0..most workers need (D2), as `Job.ps_for` one by one."""
    return np.ceil(np.arange(most + 1) / job.workers_per_ps - CEILING_TOLERANCE).astype(np.int64)


@dataclass(frozen=True)
class JobReach:
    """What a job could do alone on the empty cluster (D5).

    Attributes
    ----------
    internal_workers : int
        w_int, most workers that fit with their PSs on one machine, at most the batch.
    external_workers : int
        w_ext, the same over all machines together.
    samples_per_slot : float
        The most samples of one slot: max(rate_int * w_int, rate_ext * w_ext).
    slots_needed : int or None
        Fewest slots for the workload; None if no number of slots is enough.
    possible : bool
        Whether the workload is within reach between arrival and horizon.
    """

    internal_workers: int
    external_workers: int
    samples_per_slot: float
    slots_needed: int | None
    possible: bool

    def why_impossible(self, job: Job, slots: int) -> str:
        """Say in words why the job cannot be completed, empty if it can."""
        if self.possible:
            return ""
        if self.slots_needed is None:
            return "no worker fits together with its parameter servers"
        return (
            f"needs {self.slots_needed} slots alone at {self.samples_per_slot:.6g} samples per "
            f"slot, but {slots - job.arrival} are left after arrival"
        )


def job_reach(
    slots: int,
    capacity: NDArray[np.float64],
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
) -> JobReach:
    """Compute a job's reach alone on the empty cluster, exactly (D5).

    Parameters
    ----------
    slots : int
        T.
    capacity : array, shape (machines, resources)
    job : Job
    worker_demand, ps_demand : arrays, shape (resources,)
    """
    kinds, counts = _kinds(capacity)
    alone = _colocated(job, worker_demand, ps_demand, kinds).tolist()
    internal = max(alone)
    # Workers that sit beside their own PSs on every machine need no fewer PSs than D2 asks for:
    # if that already makes a full batch, nothing is left to compute.
    colocated = sum(w * int(count) for w, count in zip(alone, counts, strict=True))
    beside = sum(job.ps_for(w) * int(count) for w, count in zip(alone, counts, strict=True))
    if colocated >= job.batch and beside >= job.ps_for(job.batch):
        external = job.batch
    elif not worker_demand.any():
        most_ps = most_units(ps_demand, kinds, job.ps_for(job.batch))
        external = most_workers_for(job, int(most_ps @ counts))
    else:
        most = most_units(worker_demand, kinds, job.batch)
        # No more workers than fit without their PSs: keeps the tables short for large batches.
        together = min(job.batch, int(most @ counts))
        if together * int(most.max()) <= LARGEST_TABLES:
            frontiers = [ps_beside_workers(job, worker_demand, ps_demand, kind) for kind in kinds]
            external = _most_workers_together(frontiers, counts, _ps_needed(job, together))
        else:
            from models.training.reach_program import most_workers_by_program

            external = most_workers_by_program(job, worker_demand, ps_demand, capacity, together)
    per_slot = max(job.rate_internal * internal, job.rate_external * external)
    if per_slot == 0:
        return JobReach(internal, external, 0.0, None, False)
    slots_needed = max(1, math.ceil(job.workload * (1 - 1e-9) / per_slot))
    return JobReach(internal, external, per_slot, slots_needed, slots_needed <= slots - job.arrival)


def _kinds(
    capacity: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the different rows, sorted, and how often each is there: faster than np.unique."""
    rows = capacity[np.lexsort(capacity.T[::-1])] if (capacity != capacity[0]).any() else capacity
    first = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1)))
    return rows[first], np.diff(np.append(first, len(rows)))


def most_workers_for(job: Job, ps: int) -> int:
    """Most workers, at most the batch, that so many PSs serve."""
    return bisect_right(range(1, job.batch + 1), ps, key=job.ps_for)


def _most_workers_together(
    frontiers: list[NDArray[np.int64]], counts: NDArray[np.int64], needed: NDArray[np.int64]
) -> int:
    """Most workers over all machines with their PSs, by (max, +) convolution of the frontiers.

    ``frontiers[k][w]`` is the most PSs beside w workers on a machine of kind k, of which there
    are ``counts[k]``; ``needed[w]`` the PSs that w workers in total require. This is the small
    MILP of D5, solved exactly: best[w] = most PSs that fit beside w workers spread at will.
    """
    most = len(needed) - 1
    best = np.zeros(1, dtype=np.int64)
    for beside, count in zip(frontiers, counts, strict=True):
        power = beside[: most + 1]
        while count:  # binary powers, since equal machines may be many
            if count & 1:
                best = _combine(best, power, most, int(needed[-1]))
            count >>= 1
            if count:
                power = _combine(power, power, most, int(needed[-1]))
    reachable = np.flatnonzero(best >= needed[: len(best)])
    return int(reachable.max(initial=0))


def _combine(
    left: NDArray[np.int64], right: NDArray[np.int64], most: int, ps_cap: int
) -> NDArray[np.int64]:
    """(max, +) convolution, cut to `most` workers and `ps_cap` PSs."""
    if len(left) > len(right):
        left, right = right, left
    size = min(most + 1, len(left) + len(right) - 1)
    result = np.zeros(size, dtype=np.int64)
    for w, ps in enumerate(left[:size]):
        stop = min(size, w + len(right))
        np.maximum(result[w:stop], ps + right[: stop - w], out=result[w:stop])
    return np.minimum(result, ps_cap)
