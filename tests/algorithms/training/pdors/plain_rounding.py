"""Rounding as it reads: every draw in full, by NumPy. What the compiled rounding must equal."""

import math

import numpy as np

from algorithms.training.pdors.rounding import RoundedSlot
from algorithms.training.pdors.rounding_chances import SNAP
from algorithms.training.pdors.rounding_kernels import FIRST_BATCH, LARGEST_BATCH
from models.training.throughput import fits


def split(values):
    nearest = np.round(values)
    values = np.where(np.abs(values - nearest) <= SNAP, nearest, values)
    low = np.floor(values)
    return low.astype(np.int64), values - low


def fitting_table(worker_demand, ps_demand, free, low_workers, low_ps):
    """Entry [i, j, h]: whether machine h holds i more workers and j more PSs than rounded down."""
    use = (low_workers + np.arange(2)[:, None])[:, None, :, None] * worker_demand + (
        low_ps + np.arange(2)[:, None]
    )[None, :, :, None] * ps_demand
    return fits(use, free)


def totals_can_do(job, cover, fitting, low_workers, up_workers, low_ps, up_ps):
    """What excludes an outcome without using the stream: a worker and a PS more never compete."""
    most_workers = int((low_workers + ((up_workers > 0) & fitting[1, 0])).sum())
    most_ps = int((low_ps + ((up_ps > 0) & fitting[0, 1])).sum())
    least = max(int(low_workers.sum()), cover)
    return (
        bool(fitting[0, 0].all())
        and most_workers >= cover
        and least <= job.batch
        and most_ps >= job.ps_for(least)
    )


def plain_round_slot(
    job,
    workers,
    ps,
    *,
    worker_cover,
    worker_demand,
    ps_demand,
    free_capacity,
    log_cost,
    rng,
    feasible_draws,
    max_attempts,
):
    used = np.flatnonzero((workers > SNAP) | (ps > SNAP))
    low_workers, up_workers = split(workers[used])
    low_ps, up_ps = split(ps[used])
    fitting = fitting_table(worker_demand, ps_demand, free_capacity[used], low_workers, low_ps)
    none = RoundedSlot(None, None, math.inf, 0, 0)
    if not totals_can_do(job, worker_cover, fitting, low_workers, up_workers, low_ps, up_ps):
        return none
    attempts = feasible = 0
    best, best_cost = None, math.inf
    batch = FIRST_BATCH
    while feasible < feasible_draws and attempts < max_attempts:
        batch = min(batch, max_attempts - attempts)
        more_workers = rng.random((batch, len(used))) < up_workers
        more_ps = rng.random((batch, len(used))) < up_ps
        for row in range(batch):
            draw = low_workers + more_workers[row], low_ps + more_ps[row]
            attempts += 1
            inside = fitting[
                more_workers[row].astype(int), more_ps[row].astype(int), np.arange(len(used))
            ]
            if (
                worker_cover <= draw[0].sum() <= job.batch
                and draw[1].sum() >= job.ps_for(int(draw[0].sum()))
                and inside.all()
            ):
                feasible += 1
                full = np.zeros((2, len(workers)), dtype=np.int64)
                full[:, used] = draw
                cost = log_cost(full[0], full[1])
                if cost < best_cost:
                    best, best_cost = full, cost
                if feasible == feasible_draws:
                    break
        batch = min(2 * batch, LARGEST_BATCH)
    if best is None:
        return RoundedSlot(None, None, math.inf, attempts, 0)
    return RoundedSlot(best[0], best[1], best_cost, attempts, feasible)
