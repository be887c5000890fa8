"""Spreading a job's work over slots at least price: a dynamic program over worker-slots.

A level is the work of `grain` internal workers in one slot, grain = 1 unless that makes too many
levels. What an allocation does is rounded down to whole levels, so that a solution always covers
the workload; where all slots are internal and the grain is 1 it is exact.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from algorithms.training.machine_packing import ps_needed
from algorithms.training.plan_arrays import JobNumbers, SlotChoice

__all__ = ["choose_workers"]

FORGIVEN = 9e-10  # of a workload; a little less than D11 forgives, for sums are rounded
TINY = 1e-12  # of a number that rounding errors may have pushed past a whole one


@njit(cache=True)
def choose_workers(
    jobs: JobNumbers,
    i: int,
    price: NDArray[np.float64],
    bias: NDArray[np.float64],
    last: int,
    levels: int,
    choice: SlotChoice,
) -> tuple[float, int]:
    """Choose workers per slot so that utility minus price is greatest.

    Parameters
    ----------
    jobs : JobNumbers
    i : int
        The job.
    price : array, shape (K, R)
        Price of a unit of a resource in each slot, >= 0.
    bias : array, shape (K,)
        In [0, 1]; among choices of equal price the one of least bias is taken.
    last : int
        Last slot that may be used.
    levels : int
        Most levels of the dynamic program.
    choice : SlotChoice
        `internal` and `external` are read; `workers` and `spread` are filled.

    Returns
    -------
    payoff : float
    completion : int
        -1 (and payoff 0) if no choice reaches the workload.
    """
    choice.workers[:] = 0
    choice.spread[:] = False
    rate, slower, gamma = jobs.rate_internal[i], jobs.rate_external[i], jobs.gamma[i]
    needed = jobs.remaining[i] * (1 - FORGIVEN)
    reach = 0.0
    for k in range(last + 1):
        reach += max(rate * choice.internal[k], slower * choice.external[k])
    if reach < needed:
        return 0.0, -1
    worker_price = np.zeros(last + 1)
    ps_price = np.zeros(last + 1)
    for k in range(last + 1):
        for r in range(price.shape[1]):
            worker_price[k] += price[k, r] * jobs.worker[i, r]
            ps_price[k] += price[k, r] * jobs.ps[i, r]
    tie = 1e-9 * jobs.utility[i, 0] / max(needed, 1e-300)

    whole = max(math.ceil(needed / rate * (1 - TINY)), 1)
    grain = math.ceil(whole / levels)
    goal = math.ceil(whole / grain)
    unit = grain * rate
    cost = np.full((last + 2, goal + 1), np.inf)
    taken = np.zeros((last + 1, goal + 1), dtype=np.int64)
    level_cost = np.zeros(goal + 1)
    cost[0, 0] = 0.0
    best, completion = -np.inf, -1
    before = 0  # levels within reach of the earlier slots
    for k in range(last + 1):
        most = _levels_of(choice, k, rate, slower, needed, unit, goal)
        for level in range(1, most + 1):
            count, spread = _workers_of(choice, k, level, rate, slower, needed, unit, goal)
            samples = count * (slower if spread else rate)
            level_cost[level] = (
                worker_price[k] * count
                + ps_price[k] * ps_needed(count, gamma)
                + tie * bias[k] * samples
            )
        within = min(goal, before + most)
        for reached in range(within + 1):
            least, levels_here = cost[k, reached], 0
            for level in range(max(1, reached - before), min(most, reached) + 1):
                total = cost[k, reached - level] + level_cost[level]
                if total < least:
                    least, levels_here = total, level
            cost[k + 1, reached] = least
            taken[k, reached] = levels_here
        before = within
        if taken[k, goal] > 0 and jobs.utility[i, k] - cost[k + 1, goal] > best:
            best = jobs.utility[i, k] - cost[k + 1, goal]
            completion = k
    if completion < 0:
        return 0.0, -1
    reached, samples = goal, 0.0
    for k in range(completion, -1, -1):
        level = taken[k, reached]
        if level > 0:
            count, spread = _workers_of(choice, k, level, rate, slower, needed, unit, goal)
            choice.workers[k] = count
            choice.spread[k] = spread
            samples += count * (slower if spread else rate)
        reached -= level
    _drop_surplus(choice, rate, slower, worker_price, samples - needed, completion)
    total, completion = 0.0, -1
    for k in range(last + 1):
        count = choice.workers[k]
        if count > 0:
            completion = k
            total += worker_price[k] * count + ps_price[k] * ps_needed(count, gamma)
    return jobs.utility[i, completion] - total, completion


@njit(cache=True)
def _levels_of(
    choice: SlotChoice,
    k: int,
    rate: float,
    slower: float,
    needed: float,
    unit: float,
    goal: int,
) -> int:
    """Most levels of a slot; all of them if the slot alone reaches the workload."""
    samples = max(rate * choice.internal[k], slower * choice.external[k])
    if samples >= needed:
        return goal
    return int(min(math.floor(samples / unit * (1 + TINY)), goal))


@njit(cache=True)
def _workers_of(
    choice: SlotChoice,
    k: int,
    level: int,
    rate: float,
    slower: float,
    needed: float,
    unit: float,
    goal: int,
) -> tuple[int, bool]:
    """Fewest workers that do so many levels, and whether they are an external allocation."""
    samples = min(level * unit, needed) if level == goal else level * unit
    count = math.ceil(samples / rate * (1 - TINY))
    if count <= choice.internal[k]:
        return max(count, 1), False
    count = math.ceil(samples / slower * (1 - TINY))
    return max(min(count, choice.external[k]), 1), True


@njit(cache=True)
def _drop_surplus(
    choice: SlotChoice,
    rate: float,
    slower: float,
    worker_price: NDArray[np.float64],
    surplus: float,
    completion: int,
) -> None:
    """Leave out whole workers that rounding down made too many, in the dearest slots first."""
    for k in np.argsort(-worker_price[: completion + 1]):
        each = slower if choice.spread[k] else rate
        dropped = min(choice.workers[k], math.floor(surplus / each))
        if dropped > 0:
            choice.workers[k] -= dropped
            surplus -= dropped * each
