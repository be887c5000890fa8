"""What each job could have on one machine of a kind in one slot: the items of its patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.training import TrainingInstance
from models.training.throughput import (
    FIT_ABSOLUTE,
    FIT_TOLERANCE,
    most_colocated_workers,
    most_units,
    ps_beside_workers,
)

__all__ = ["MachineOptions", "machine_options"]


@dataclass(frozen=True)
class MachineOptions:
    """All options of all jobs on a machine of one kind, grouped by job.

    A *pattern* of the machine is at most one option of each job, within its capacity.

    Attributes
    ----------
    room : array, shape (resources,)
        Capacity, with the tolerance of `fits`.
    start : array of int, shape (jobs + 1,)
        Options start[x]..start[x+1]-1 are those of the x-th job.
    job : array of int, shape (options,)
        x of each option.
    internal : array of bool, shape (options,)
        Whether the job has all its workers and PSs here (D1).
    workers, ps : arrays of float, shape (options,)
    use : array, shape (options, resources)
    """

    room: NDArray[np.float64]
    start: NDArray[np.int64]
    job: NDArray[np.int64]
    internal: NDArray[np.bool_]
    workers: NDArray[np.float64]
    ps: NDArray[np.float64]
    use: NDArray[np.float64]


def machine_options(
    instance: TrainingInstance,
    jobs: Sequence[int],
    capacity: NDArray[np.float64],
    at_most: int,
) -> MachineOptions | None:
    """List the options of the jobs on an empty machine.

    Parameters
    ----------
    instance : TrainingInstance
    jobs : sequence of int
    capacity : array, shape (resources,)
    at_most : int
        Number of options.

    Returns
    -------
    MachineOptions or None
        None if there are more than `at_most`.
    """
    start = [0]
    job_of: list[int] = []
    internal: list[bool] = []
    counts: list[tuple[int, int]] = []
    use: list[NDArray[np.float64]] = []
    several = instance.number_of_machines > 1
    for x, i in enumerate(jobs):
        job, alpha, beta = instance.jobs[i], instance.worker_demand[i], instance.ps_demand[i]
        colocated = most_colocated_workers(job, alpha, beta, capacity)
        if len(counts) + colocated > at_most:
            return None
        pairs = [(True, w, job.ps_for(w)) for w in range(1, colocated + 1)]
        if several:
            if len(counts) + int(most_units(alpha, capacity, job.batch)) > at_most:
                return None
            beside = ps_beside_workers(job, alpha, beta, capacity)
            if len(counts) + len(pairs) + int(beside.sum()) + len(beside) > at_most:
                return None
            # More PSs than all workers of the job ever need bring nothing.
            most_ps = job.ps_for(instance.reach[i].external_workers)
            pairs += [
                (False, w, s)
                for w, most in enumerate(beside)
                if w <= instance.reach[i].external_workers
                for s in range(min(int(most), most_ps) + 1)
                if w or s
            ]
        for inside, w, s in pairs:
            job_of.append(x)
            internal.append(inside)
            counts.append((w, s))
            use.append(w * alpha + s * beta)
        start.append(len(counts))
    table = np.array(counts, dtype=float).reshape(-1, 2)
    return MachineOptions(
        capacity * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE,
        np.array(start, dtype=np.int64),
        np.array(job_of, dtype=np.int64),
        np.array(internal, dtype=np.bool_),
        table[:, 0].copy(),
        table[:, 1].copy(),
        np.array(use, dtype=float).reshape(len(counts), len(capacity)),
    )
