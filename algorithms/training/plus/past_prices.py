"""Prices that follow contention, from the jobs seen so far: what a unit will be worth to others.

If the jobs still to come are like those seen, then as many arrive per slot, with the same work
and worth. Sorted by worth per part of the cluster that they need, the best of them fill the
cluster up to some job; its worth per part is what capacity is worth to them (the price of a
fractional knapsack). Nothing is known of how much of the cluster they can really use, because of
packing losses and slower external allocations, and an estimate from a few jobs is rough: the
price is the mean over a range of such parts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.prices import price_bounds
from models.training import TrainingInstance

__all__ = ["PARTS", "clearing_level", "paper_prices", "past_prices", "prices_ahead"]

PARTS = (0.25, 0.35, 0.5, 0.7, 1.0)
"""Parts of the cluster that the work of jobs, counted at the internal rate, may fill."""

DOUBT = 2.0
"""So many jobs without worth are thought to have been seen before the first one: a job is not to
price itself out of an empty cluster."""

RAMP = 3.0
"""Slots ahead from which on the full price is asked: the very next slots are mostly wanted by
jobs that are already here, and these compete within the plan."""


def clearing_level(work: NDArray[np.float64], worth: NDArray[np.float64], supply: float) -> float:
    """Worth per work of the job at which the best jobs exceed the supply; 0 if all fit.

    Parameters
    ----------
    work, worth : arrays, shape (jobs,)
        Both non-negative; jobs without work always fit.
    supply : float
        In the unit of work.
    """
    some = work > 0
    density = worth[some] / work[some]
    order = np.argsort(-density, kind="stable")
    filled = np.cumsum(work[some][order])
    critical = int(np.searchsorted(filled, supply, side="right"))
    return float(density[order[critical]]) if critical < len(order) else 0.0


def past_prices(
    instance: TrainingInstance, seen: list[int], slots_seen: int
) -> tuple[float, NDArray[np.float64]]:
    """Estimate what capacity is worth to jobs to come.

    Parameters
    ----------
    instance : TrainingInstance
        Only the jobs in `seen` are looked at.
    seen : list of int
        Possible jobs that have arrived.
    slots_seen : int
        Slots over which they arrived.

    Returns
    -------
    level : float
        Utility per slot of the whole cluster.
    price : array, shape (resources,)
        Per unit of a resource and slot. A resource has the part of the level that it has of the
        jobs' demand, counted as shares of the cluster.
    """
    total = instance.capacity.sum(axis=0)
    if not seen:
        return 0.0, np.zeros(len(total))
    shares = np.zeros((len(seen), len(total)))
    worth = np.zeros(len(seen))
    for x, i in enumerate(seen):
        job = instance.jobs[i]
        bundle = instance.worker_demand[i] + instance.ps_demand[i] / job.workers_per_ps
        worker_slots = job.workload / job.rate_internal
        np.divide(worker_slots * bundle, total, out=shares[x], where=total > 0)
        worth[x] = job.utility.value((instance.reach[i].slots_needed or 1) - 1)
    if not shares.any():
        return 0.0, np.zeros(len(total))
    part = shares.sum(axis=0) / shares.sum()
    work = shares @ part
    level = float(np.mean([clearing_level(work, worth, p * slots_seen) for p in PARTS]))
    level *= len(seen) / (len(seen) + DOUBT)
    price = np.divide(level * part, total, out=np.zeros(len(total)), where=total > 0)
    return level, price


def prices_ahead(price: NDArray[np.float64], slots: int) -> NDArray[np.float64]:
    """Prices of the slots from the present one on, shape (slots, resources).

    Who arrives later cannot use the present slot: it is free of charge.
    """
    rise = np.minimum(np.arange(slots) / RAMP, 1.0)
    return rise[:, None] * price


def paper_prices(
    instance: TrainingInstance, seen: list[int], used: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The paper's price (eq. 12) with U, L and mu of the jobs seen, machines pooled.

    Parameters
    ----------
    instance : TrainingInstance
    seen : list of int
    used : array, shape (slots, resources)
        What is allocated in each slot, on all machines together.
    """
    total = instance.capacity.sum(axis=0)
    if not seen:
        return np.zeros_like(used)
    known = TrainingInstance(
        slots=instance.slots,
        resources=instance.resources,
        machines=instance.machines,
        jobs=tuple(instance.jobs[i] for i in seen),
    )
    bounds = price_bounds(known)
    share = np.divide(used, total, out=np.zeros_like(used), where=total > 0)
    log_price = bounds.log_lowest + np.minimum(share, 1.0) * bounds.log_ratio
    return np.where(total > 0, np.exp(np.minimum(log_price, math.log(1e300))), 0.0)
