"""What of a job fits on each machine of the empty cluster: the bounds of the formulations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.training.instance import Job, TrainingInstance
from models.training.throughput import (
    CEILING_TOLERANCE,
    FIT_ABSOLUTE,
    most_colocated_workers,
    most_units,
    most_workers_for,
)

__all__ = ["Fit", "fit_of", "machine_classes", "ratio_row", "room_of"]

SMALL_CAPACITY = 1e-5  # from here on a solver's tolerance is larger than FIT_ABSOLUTE
LARGE_GAMMA = 100.0  # below it a solver's tolerance covers what D2 forgives


@dataclass(frozen=True)
class Fit:
    """Counts that fit on one machine alone, each an array of shape (jobs, machines).

    Attributes
    ----------
    internal_workers, internal_ps : arrays of int
        Most workers that fit with their PSs on the machine, at most the batch, and the PSs that
        so many workers need.
    external_workers, external_ps : arrays of int
        Most workers, at most the batch, that fit without any PS; most PSs, at most what a full
        batch needs, that fit without any worker.
    """

    internal_workers: NDArray[np.int64]
    internal_ps: NDArray[np.int64]
    external_workers: NDArray[np.int64]
    external_ps: NDArray[np.int64]


def fit_of(instance: TrainingInstance) -> Fit:
    """Compute the fit tables of an instance; one computation per kind of machine."""
    jobs, machines = instance.number_of_jobs, instance.number_of_machines
    tables = np.zeros((4, jobs, machines), dtype=np.int64)
    for members in machine_classes(instance.capacity):
        capacity = instance.capacity[members[0]]
        for i in instance.possible_jobs:
            job, alpha, beta = instance.jobs[i], instance.worker_demand[i], instance.ps_demand[i]
            internal = most_colocated_workers(job, alpha, beta, capacity)
            external_ps = int(most_units(beta, capacity, job.ps_for(job.batch)))
            external_workers = int(most_units(alpha, capacity, job.batch))
            counts = (internal, job.ps_for(internal), external_workers, external_ps)
            tables[:, i, members] = np.array(counts)[:, None]
    return Fit(*tables)


def machine_classes(capacity: NDArray[np.float64]) -> list[list[int]]:
    """Group equal machines: lists of machine indices, ordered by their first member.

    Parameters
    ----------
    capacity : array, shape (machines, resources)
    """
    groups: dict[tuple[float, ...], list[int]] = {}
    for h, row in enumerate(capacity):
        groups.setdefault(tuple(row.tolist()), []).append(h)
    return list(groups.values())


def ratio_row(job: Job) -> tuple[float, float]:
    """Coefficient c and constant k with which D2 is the row ``workers <= c * ps + k``.

    With c = gamma and k = 0 that is eq. 2. D2 takes ceil(workers / gamma - 1e-9), so a gamma of
    1e9 or more asks for no PS at all: k counts the workers that D2 forgives. Where one PS serves
    a whole batch, c is no more than that takes, which keeps the coefficients small.
    """
    gamma = job.workers_per_ps
    if gamma < LARGE_GAMMA:
        return gamma, 0.0
    if gamma < job.batch:
        return gamma, gamma * CEILING_TOLERANCE
    without_ps = most_workers_for(job, 0)
    return float(job.batch - without_ps), float(without_ps)


def room_of(capacity: float) -> float:
    """Return a capacity as a row's right-hand side: with the absolute tolerance of `fits`.

    It matters where next to nothing is needed of a resource of which there is next to nothing:
    there the audit passes what a row would refuse.
    """
    return capacity + FIT_ABSOLUTE if capacity < SMALL_CAPACITY else capacity
