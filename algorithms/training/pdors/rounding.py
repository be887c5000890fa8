"""Randomized rounding of a slot program's LP optimum (eqs. 22, 23; Lemmas 1, 2; D7)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.training import Job
from models.training.throughput import fits

__all__ = ["RoundedSlot", "gain_favouring_cover", "gain_favouring_packing", "round_slot"]

SNAP = 1e-6  # the solver's own feasibility tolerance: closer to a whole number is that number
FIRST_BATCH = 32
LARGEST_BATCH = 1024


def gain_favouring_packing(packing_rows: int, smallest_packing: float, delta: float) -> float:
    """G_delta of Lemma 1 and Theorem 3, in (0, 1].

    Parameters
    ----------
    packing_rows : int
        r, number of packing rows (RH + 1 in a slot program).
    smallest_packing : float
        W_b (W_2), smallest ratio of right-hand side to coefficient.
    delta : float
        In (0, 1].
    """
    ratio = 3 * math.log(3 * packing_rows / delta) / smallest_packing
    return 1 + ratio / 2 - math.sqrt((ratio / 2) ** 2 + ratio)


def gain_favouring_cover(cover_rows: int, smallest_cover: float, delta: float) -> float:
    """G_delta of Lemma 2 and Theorem 4, above 1; m = 2 cover rows in a slot program (D3)."""
    ratio = math.log(3 * cover_rows / delta) / smallest_cover
    return 1 + ratio + math.sqrt(ratio**2 + 2 * ratio)


@dataclass(frozen=True)
class RoundedSlot:
    """The outcome of rounding.

    Attributes
    ----------
    workers, ps : arrays of int, shape (machines,), or None
        The cheapest feasible draw, None if there was none.
    log_cost : float
        ln of its cost, inf if there was none.
    attempts, feasible : int
        Draws made, and how many of them were feasible.
    """

    workers: NDArray[np.int64] | None
    ps: NDArray[np.int64] | None
    log_cost: float
    attempts: int
    feasible: int


def round_slot(
    job: Job,
    workers: NDArray[np.float64],
    ps: NDArray[np.float64],
    *,
    worker_cover: int,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    free_capacity: NDArray[np.float64],
    log_cost: Callable[[NDArray[np.int64], NDArray[np.int64]], float],
    rng: np.random.Generator,
    feasible_draws: int,
    max_attempts: int,
) -> RoundedSlot:
    """Draw until `feasible_draws` draws were feasible or `max_attempts` were made (D7).

    Parameters
    ----------
    job : Job
    workers, ps : arrays, shape (machines,)
        G_delta times the LP optimum.
    worker_cover : int
        D, least number of workers.
    worker_demand, ps_demand : arrays, shape (resources,)
    free_capacity : array, shape (machines, resources)
    log_cost : callable
        ln of the cost of integer (workers, ps).
    rng : numpy.random.Generator
    feasible_draws, max_attempts : int
        S and the limit on attempts.

    Notes
    -----
    A machine has at most four outcomes (either count rounded up or not), so whether each of
    them fits is looked up, not recomputed, and only fractional entries are drawn. If no
    outcome at all can be feasible, nothing is drawn and `attempts` is 0.
    """
    used = np.flatnonzero((workers > SNAP) | (ps > SNAP))
    low_workers, up_workers = _floor_and_fraction(workers[used])
    low_ps, up_ps = _floor_and_fraction(ps[used])
    nothing = RoundedSlot(None, None, math.inf, 0, 0)

    fitting = np.empty((2, 2, len(used)), dtype=bool)
    for i in range(2):
        for j in range(2):
            use = (low_workers + i)[:, None] * worker_demand + (low_ps + j)[:, None] * ps_demand
            fitting[i, j] = fits(use, free_capacity[used])
    if not _can_succeed(job, worker_cover, fitting, low_workers, up_workers > 0, low_ps, up_ps > 0):
        return nothing

    attempts = feasible = 0
    best, best_cost = None, math.inf
    seen: set[bytes] = set()
    batch = FIRST_BATCH
    while feasible < feasible_draws and attempts < max_attempts:
        batch = min(batch, max_attempts - attempts)
        add_workers = rng.random((batch, len(used))) < up_workers
        add_ps = rng.random((batch, len(used))) < up_ps
        total_workers = low_workers.sum() + add_workers.sum(axis=1)
        total_ps = low_ps.sum() + add_ps.sum(axis=1)
        accepted = (
            (total_workers >= worker_cover)
            & (total_workers <= job.batch)
            & (total_ps >= np.ceil(total_workers / job.workers_per_ps - 1e-9))
        )
        rows = np.flatnonzero(accepted)
        machine = np.arange(len(used))
        inside = fitting[
            add_workers[rows].astype(np.intp), add_ps[rows].astype(np.intp), machine
        ].all(axis=1)
        good = rows[inside][: feasible_draws - feasible]
        for row in good:
            key = add_workers[row].tobytes() + add_ps[row].tobytes()
            if key in seen:
                continue
            seen.add(key)
            draw = low_workers + add_workers[row], low_ps + add_ps[row]
            full_workers = np.zeros(len(workers), dtype=np.int64)
            full_ps = np.zeros(len(ps), dtype=np.int64)
            full_workers[used], full_ps[used] = draw
            cost = log_cost(full_workers, full_ps)
            if cost < best_cost:
                best, best_cost = (full_workers, full_ps), cost
        feasible += len(good)
        reached = feasible >= feasible_draws
        attempts += int(good[-1]) + 1 if reached and len(good) else batch
        batch = min(2 * batch, LARGEST_BATCH)
    if best is None:
        return RoundedSlot(None, None, math.inf, attempts, 0)
    return RoundedSlot(best[0], best[1], best_cost, attempts, feasible)


def _floor_and_fraction(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    nearest = np.round(values)
    values = np.where(np.abs(values - nearest) <= SNAP, nearest, values)
    low = np.floor(values)
    return low.astype(np.int64), values - low


def _can_succeed(
    job: Job,
    worker_cover: int,
    fitting: NDArray[np.bool_],
    low_workers: NDArray[np.int64],
    open_workers: NDArray[np.bool_],
    low_ps: NDArray[np.int64],
    open_ps: NDArray[np.bool_],
) -> bool:
    """Whether some outcome could be feasible: a necessary condition, cheap to check.

    Rounding up on a machine where that does not fit is not counted, though it may be drawn.
    """
    if not fitting[0, 0].all():  # rounded down it does not fit: nor does it rounded up
        return False
    most_workers = int((low_workers + (open_workers & fitting[1, 0])).sum())
    most_ps = int((low_ps + (open_ps & fitting[0, 1])).sum())
    least_workers = max(int(low_workers.sum()), worker_cover)
    return (
        most_workers >= worker_cover
        and least_workers <= job.batch
        and most_ps >= job.ps_for(least_workers)
    )
