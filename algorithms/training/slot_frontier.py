"""What one job can have in each slot by number of workers, and putting a choice on machines."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from algorithms.training.machine_packing import most_colocated, ps_needed, spread
from algorithms.training.plan_arrays import JobNumbers, SlotChoice

__all__ = ["find_frontier", "place_choice", "take_out"]

TIGHTEST, FIRST = 0, 1


@njit(cache=True)
def find_frontier(
    jobs: JobNumbers, i: int, free: NDArray[np.float64], last: int, choice: SlotChoice
) -> None:
    """Fill `choice` with the most workers of either mode that fit in slots 0..last.

    A slot's external allocation is only of interest where it processes more samples than its
    internal one: with as many workers it is slower and costs the same.

    Parameters
    ----------
    jobs : JobNumbers
    i : int
        The job.
    free : array, shape (K, H, R)
    last : int
    choice : SlotChoice
        `colocated`, `internal` and `external` are changed.
    """
    worker, ps, gamma, batch = jobs.worker[i], jobs.ps[i], jobs.gamma[i], jobs.batch[i]
    machines = free.shape[1]
    workers_on = np.zeros(machines, dtype=np.int64)
    ps_on = np.zeros(machines, dtype=np.int64)
    for k in range(last + 1):
        most, total = 0, 0
        for h in range(machines):
            count = most_colocated(worker, ps, gamma, free[k, h], batch)
            choice.colocated[k, h] = count
            most = max(most, count)
            total = min(total + count, batch)
        choice.internal[k] = most
        choice.external[k] = 0
        least = math.floor(jobs.rate_internal[i] * most / jobs.rate_external[i] + 1e-9) + 1
        if machines == 1 or least > batch:
            continue
        if total < batch and _pooled(worker, ps, gamma, free[k], batch) < least:
            continue
        if total < batch:
            total = spread(
                worker, ps, gamma, free[k], batch, choice.colocated[k], workers_on, ps_on
            )
        if total >= least:
            choice.external[k] = total


@njit(cache=True)
def _pooled(
    worker: NDArray[np.float64],
    ps: NDArray[np.float64],
    gamma: float,
    free: NDArray[np.float64],
    batch: int,
) -> float:
    """Upper bound of the workers that fit: all machines as one, fractions of PSs."""
    most = float(batch)
    for r in range(len(worker)):
        bundle = worker[r] + ps[r] / gamma
        if bundle > 0:
            room = 0.0
            for h in range(len(free)):
                room += max(free[h, r], 0.0)
            most = min(most, room * (1 + 1e-6) / bundle)
    return most + 1e-6


@njit(cache=True)
def place_choice(
    jobs: JobNumbers,
    i: int,
    free: NDArray[np.float64],
    choice: SlotChoice,
    rule: int,
    workers: NDArray[np.int64],
    ps: NDArray[np.int64],
) -> None:
    """Put the chosen numbers of workers on machines.

    Parameters
    ----------
    jobs, i
        The job.
    free : array, shape (K, H, R)
        Reduced by what is placed.
    choice : SlotChoice
        From `find_frontier` on the same free capacity, with `workers` and `spread` chosen.
    rule : int
        Machine of an internal allocation: 0 the one that holds just enough, 1 the first one.
    workers, ps : arrays of int, shape (K, H)
        Filled; they must be zero.
    """
    gamma = jobs.gamma[i]
    slots, machines, resources = free.shape
    for k in range(slots):
        count = choice.workers[k]
        if count == 0:
            continue
        if choice.spread[k]:
            _place_spread(jobs, i, free[k], count, choice.colocated[k], workers[k], ps[k])
        else:
            best = -1
            for h in range(machines):
                room = choice.colocated[k, h]
                if room >= count and (best < 0 or (rule == 0 and room < choice.colocated[k, best])):
                    best = h
            workers[k, best] = count
            ps[k, best] = ps_needed(count, gamma)
        for h in range(machines):
            if workers[k, h] > 0 or ps[k, h] > 0:
                for r in range(resources):
                    use = workers[k, h] * jobs.worker[i, r] + ps[k, h] * jobs.ps[i, r]
                    free[k, h, r] -= use


@njit(cache=True)
def _place_spread(
    jobs: JobNumbers,
    i: int,
    free: NDArray[np.float64],
    count: int,
    colocated: NDArray[np.int64],
    workers_on: NDArray[np.int64],
    ps_on: NDArray[np.int64],
) -> None:
    worker, ps, gamma = jobs.worker[i], jobs.ps[i], jobs.gamma[i]
    total = spread(worker, ps, gamma, free, count, colocated, workers_on, ps_on)
    if total < count:
        # The way that held more with the whole batch: fewer workers fit there too.
        total = spread(worker, ps, gamma, free, jobs.batch[i], colocated, workers_on, ps_on)
        for h in range(len(workers_on)):
            dropped = min(total - count, workers_on[h])
            workers_on[h] -= dropped
            total -= dropped
        spare = ps_on.sum() - ps_needed(count, gamma)
        for h in range(len(ps_on)):
            dropped = min(spare, ps_on[h])
            ps_on[h] -= dropped
            spare -= dropped


@njit(cache=True)
def take_out(
    jobs: JobNumbers,
    i: int,
    free: NDArray[np.float64],
    workers: NDArray[np.int64],
    ps: NDArray[np.int64],
) -> None:
    """Give back what a job has, and set its counts, shaped (K, H), to zero."""
    slots, machines, resources = free.shape
    for k in range(slots):
        for h in range(machines):
            if workers[k, h] > 0 or ps[k, h] > 0:
                for r in range(resources):
                    use = workers[k, h] * jobs.worker[i, r] + ps[k, h] * jobs.ps[i, r]
                    free[k, h, r] += use
                workers[k, h] = 0
                ps[k, h] = 0
