"""Where the proof of Theorems 5 and 6 does not carry, counted on an instance or a run.

Weak duality wants, for every job, a lambda that covers the payoff of each of its schedules on the
*empty* cluster at the final prices. PD-ORS sets lambda = 0 for a job that it rejects because
nothing fits the free capacity, or because no draw was feasible. The paper argues that prices do
the work of the capacity: a resource that is used up costs U^r, which no job can pay. But U^r is
the utility per worker *and* PS; a worker alone (its PS elsewhere) or a PS alone costs less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.dynamic_program import default_levels, spread_workload
from algorithms.training.pdors.prices import MINUS_INFINITY, PriceBounds
from algorithms.training.pdors.slot import JobSlots, SlotState
from models.training import TrainingInstance
from models.training.throughput import ceil_count, most_units

__all__ = ["Unblocked", "payoff_on_empty_cluster", "unblocked"]


def payoff_on_empty_cluster(
    instance: TrainingInstance, i: int, log_prices: NDArray[np.float64]
) -> float:
    """Payoff of a real schedule of job i on the empty cluster at given prices, 0 if none pays.

    In each slot one machine is tried, and workers and PSs by price, each filling machine after
    machine. A job may have a better schedule: what is returned is a proved lower bound of the
    lambda that duality needs.

    Parameters
    ----------
    instance : TrainingInstance
    i : int
    log_prices : array, shape (slots, machines, resources)
    """
    job = instance.jobs[i]
    slots = JobSlots(instance, i)
    left = instance.slots - job.arrival
    levels = default_levels(left)
    samples = job.workload * np.arange(1, levels + 1) / levels
    log_theta = np.full((left, levels + 1), np.inf)
    log_theta[:, 0] = MINUS_INFINITY
    for k in range(left):
        state = slots.state(instance.capacity, log_prices[job.arrival + k])
        spread: dict[int, float] = {}
        for level, found in enumerate(slots.internal(state, samples), start=1):
            cover = slots.workers_for(float(samples[level - 1]))
            if cover not in spread:
                spread[cover] = _spread_log_cost(slots, state, cover)
            internal = found.log_cost if found is not None else math.inf
            log_theta[k, level] = min(internal, spread[cover])
    costs = spread_workload(log_theta).log_cost[:, -1]
    # A schedule that ends earlier than slot k is worth more than is counted here, never less.
    return max(
        [0.0] + [job.utility.value(k) - math.exp(c) for k, c in enumerate(costs) if c < math.inf]
    )


def _spread_log_cost(slots: JobSlots, state: SlotState, workers: int) -> float:
    """ln of the cost of filling machines by price, workers or PSs first; inf if neither fits."""
    if workers > slots.job.batch:
        return math.inf
    ps = slots.job.ps_for(workers)
    best = math.inf
    for workers_first in (True, False):
        free = state.free_capacity
        counts = {}
        for kind in (workers_first, not workers_first):  # True: workers
            demand = slots.worker_demand if kind else slots.ps_demand
            price = state.log_worker_price if kind else state.log_ps_price
            placed = _fill(demand, price, free, workers if kind else ps)
            if placed is None:
                break
            counts[kind] = placed
            free = free - placed[:, None] * demand
        else:
            best = min(best, state.log_cost(counts[True], counts[False]))
    return best


def _fill(
    demand: NDArray[np.float64],
    log_price: NDArray[np.float64],
    free: NDArray[np.float64],
    units: int,
) -> NDArray[np.int64] | None:
    """Put units on the cheapest machines, as many on each as fit; None if they do not fit."""
    room = most_units(demand, free, units)
    order = np.argsort(log_price, kind="stable")
    before = np.cumsum(room[order]) - room[order]
    placed = np.zeros(len(room), dtype=np.int64)
    placed[order] = np.clip(units - before, 0, room[order])
    return placed if int(placed.sum()) == units else None


@dataclass(frozen=True)
class Unblocked:
    """Pairs (possible job, resource that its workers or PSs need), and what U^r does not block.

    Attributes
    ----------
    worker_pairs, ps_pairs : int
        Pairs in which a worker (a PS) needs the resource.
    workers, ps : int
        Those in which one worker (PS) alone, at U^r for this resource and L for the others,
        costs less than the job is worth at its best.
    """

    worker_pairs: int
    ps_pairs: int
    workers: int
    ps: int


def unblocked(instance: TrainingInstance, bounds: PriceBounds) -> Unblocked:
    """Count the units that a used-up resource does not price out."""
    pairs = {"worker": 0, "ps": 0}
    cheap = {"worker": 0, "ps": 0}
    lowest = math.exp(bounds.log_lowest)
    for i in instance.possible_jobs:
        job = instance.jobs[i]
        shortest = max(ceil_count(job.workload / job.batch / job.rate_internal) - 1, 0)
        best = job.utility.value(shortest)
        demands = {"worker": instance.worker_demand[i], "ps": instance.ps_demand[i]}
        for kind, demand in demands.items():
            for r in np.flatnonzero(demand):
                others = lowest * float(demand.sum() - demand[r])
                cost = float(demand[r]) * math.exp(float(bounds.log_highest[r])) + others
                pairs[kind] += 1
                cheap[kind] += cost < best
    return Unblocked(pairs["worker"], pairs["ps"], cheap["worker"], cheap["ps"])
