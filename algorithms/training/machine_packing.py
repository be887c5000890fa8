"""How many workers of a job fit on machines, and where: compiled, for many questions a second.

The same rules as in `models.training.throughput` (D2, D11): counts are whole, what fits is judged
with the same tolerances. One job is described by its demands `worker` and `ps`, both shaped
(resources,), and by gamma, its workers per parameter server (PS).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from models.training.throughput import CEILING_TOLERANCE, FIT_TOLERANCE

__all__ = ["most_beside", "most_colocated", "ps_needed", "spread"]

SMALL = 1e-12  # absolute part of the fit tolerance, as in `models.training.throughput.fits`

Amounts = NDArray[np.float64]
Counts = NDArray[np.int64]


@njit(cache=True)
def ps_needed(workers: int, gamma: float) -> int:
    """PSs that so many workers need (D2)."""
    return math.ceil(workers / gamma - CEILING_TOLERANCE)


@njit(cache=True)
def most_beside(
    demand: Amounts, other: Amounts, other_count: int, free: Amounts, at_most: int
) -> int:
    """Most units of `demand` beside `other_count` units of `other`; -1 if those do not fit."""
    most = float(at_most)
    for r in range(len(demand)):
        room = max(free[r], 0.0) * (1 + FIT_TOLERANCE) + SMALL - other_count * other[r]
        if room < 0:
            return -1
        if demand[r] > 0:
            most = min(most, math.floor(room / demand[r]))
    return int(most)


@njit(cache=True)
def most_colocated(worker: Amounts, ps: Amounts, gamma: float, free: Amounts, at_most: int) -> int:
    """Most workers, up to `at_most`, that fit with the PSs they need on one machine."""
    bound = float(at_most)
    for r in range(len(worker)):
        bundle = worker[r] + ps[r] / gamma
        if bundle > 0:
            room = max(free[r], 0.0) * (1 + FIT_TOLERANCE) + SMALL
            bound = min(bound, math.floor(room / bundle))
    best = 0
    servers = ps_needed(int(bound), gamma)
    while servers > 0:  # fewer PSs leave more room, but serve fewer workers
        served = int(min(bound, math.floor(servers * gamma + CEILING_TOLERANCE)))
        if served <= best:
            break
        best = max(best, most_beside(worker, ps, servers, free, served))
        if best >= served:
            break
        servers -= 1
    return best


@njit(cache=True)
def spread(
    worker: Amounts,
    ps: Amounts,
    gamma: float,
    free: Amounts,
    at_most: int,
    colocated: Counts,
    workers_on: Counts,
    ps_on: Counts,
) -> int:
    """Spread up to `at_most` workers and their PSs over machines, by the better of two ways.

    Parameters
    ----------
    worker, ps, gamma
        The job.
    free : array, shape (machines, resources)
    at_most : int
    colocated : array of int, shape (machines,)
        `most_colocated` of every machine, at most the job's batch.
    workers_on, ps_on : arrays of int, shape (machines,)
        Filled with the result.

    Returns
    -------
    int
        Workers placed; not always the most that is possible, but never fewer than the machines
        hold with their own PSs.
    """
    total = _own_ps(gamma, at_most, colocated, workers_on, ps_on)
    if total < at_most:
        total = _ps_first(worker, ps, gamma, free, at_most, total, workers_on, ps_on)
    _drop_spare_ps(gamma, total, workers_on, ps_on)
    return total


@njit(cache=True)
def _own_ps(
    gamma: float, at_most: int, colocated: Counts, workers_on: Counts, ps_on: Counts
) -> int:
    """Every machine hosts the PSs of its own workers; what holds few is used first.

    So what is left free are whole machines, which others need for internal allocations.
    """
    workers_on[:] = 0
    ps_on[:] = 0
    total = 0
    for h in np.argsort(colocated.astype(np.float64)):
        count = min(colocated[h], at_most - total)
        if count > 0:
            workers_on[h] = count
            ps_on[h] = ps_needed(count, gamma)
            total += count
    return total


@njit(cache=True)
def _ps_first(
    worker: Amounts,
    ps: Amounts,
    gamma: float,
    free: Amounts,
    at_most: int,
    known: int,
    workers_on: Counts,
    ps_on: Counts,
) -> int:
    """PSs where they displace the fewest workers, then workers; by bisection above `known`."""
    machines = len(free)
    servers = ps_needed(at_most, gamma)
    ps_alone = np.zeros(machines, dtype=np.int64)
    displaced = np.zeros(machines)
    most = 0
    for h in range(machines):
        alone = most_beside(worker, ps, 0, free[h], at_most)
        ps_alone[h] = most_beside(ps, worker, 0, free[h], servers)
        displaced[h] = alone / max(ps_alone[h], 0.5)
        most += alone
    order = np.argsort(displaced)
    low, high = known, min(at_most, most)
    workers_try = np.zeros(machines, dtype=np.int64)
    ps_try = np.zeros(machines, dtype=np.int64)
    while low < high:
        middle = (low + high + 1) // 2
        needed = ps_needed(middle, gamma)
        ps_try[:] = 0
        for h in order:
            ps_try[h] = min(ps_alone[h], needed)
            needed -= ps_try[h]
        found = 0
        workers_try[:] = 0
        if needed == 0:
            for h in range(machines):
                count = most_beside(worker, ps, ps_try[h], free[h], middle - found)
                workers_try[h] = max(count, 0)
                found += workers_try[h]
        if found == middle:
            low = middle
            workers_on[:] = workers_try
            ps_on[:] = ps_try
        else:
            high = middle - 1
    return low


@njit(cache=True)
def _drop_spare_ps(gamma: float, total: int, workers_on: Counts, ps_on: Counts) -> None:
    """Keep as many PSs as D2 asks for in total; those beside the fewest workers go first."""
    spare = ps_on.sum() - ps_needed(total, gamma)
    for h in np.argsort(workers_on.astype(np.float64)):
        if spare <= 0:
            break
        dropped = min(ps_on[h], spare)
        ps_on[h] -= dropped
        spare -= dropped
