"""Randomized rounding of a slot program's LP optimum (eqs. 22, 23; Lemmas 1, 2; D7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.random_access import stream_words
from algorithms.training.pdors.rounding_chances import SNAP
from algorithms.training.pdors.rounding_kernels import judge_optima
from models.training import Job

__all__ = [
    "RoundedOptima",
    "RoundedSlot",
    "SlotOptima",
    "gain_favouring_cover",
    "gain_favouring_packing",
    "round_optima",
    "round_slot",
]


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


@dataclass(frozen=True)
class SlotOptima:
    """LP optima of the slot programs of one slot, on the machines that they use.

    Attributes
    ----------
    start : array of int, shape (optima + 1,)
        Optimum n is entries start[n] to start[n + 1] of the following.
    machine : array of int, shape (entries,)
        Rising within an optimum.
    group : array of int, shape (entries,)
        Row of `free` of that machine.
    workers, ps : arrays, shape (entries,)
    free : array, shape (groups, resources)
        Free capacity of one machine.
    """

    start: NDArray[np.int64]
    machine: NDArray[np.int64]
    group: NDArray[np.int64]
    workers: NDArray[np.float64]
    ps: NDArray[np.float64]
    free: NDArray[np.float64]


@dataclass(frozen=True)
class RoundedOptima:
    """The outcome of rounding one optimum per case.

    Attributes
    ----------
    attempts, feasible : arrays of int, shape (cases,)
        Draws made, and how many of them were feasible.
    position : array of int, shape (cases + 1,)
        Numbers taken from the stream before each case, and in all.
    case : array of int, shape (draws,)
        Case of each different feasible draw; cases rise, and draws are in order.
    start : array of int, shape (draws + 1,)
        Draw n is rows start[n] to start[n + 1] of the following.
    entry, workers, ps : arrays of int, shape (rows,)
        Which entry of the optima, and what is put there.
    """

    attempts: NDArray[np.int64]
    feasible: NDArray[np.int64]
    position: NDArray[np.int64]
    case: NDArray[np.int64]
    start: NDArray[np.int64]
    entry: NDArray[np.int64]
    workers: NDArray[np.int64]
    ps: NDArray[np.int64]

    def by_width(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield draws that have equally many rows, and these, shaped (draws, rows of each)."""
        width = np.diff(self.start)
        for rows in np.unique(width):
            draws = np.flatnonzero(width == rows)
            yield draws, self.start[draws, None] + np.arange(rows)


def round_optima(
    job: Job,
    optima: SlotOptima,
    which: NDArray[np.int64],
    *,
    gain: NDArray[np.float64],
    worker_cover: NDArray[np.int64],
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    rng: np.random.Generator,
    feasible_draws: int,
    max_attempts: int,
) -> RoundedOptima:
    """Round one optimum after the other, each as `round_slot` does.

    Parameters
    ----------
    job : Job
    optima : SlotOptima
    which : array of int, shape (cases,)
        The optimum of each case.
    gain, worker_cover : arrays, shape (cases,)
        G_delta and D of each case.
    worker_demand, ps_demand : arrays, shape (resources,)
    rng : numpy.random.Generator
        Of a PCG64.
    feasible_draws, max_attempts : int
        S and the limit on attempts, of each case.
    """
    bits = rng.bit_generator
    if not isinstance(bits, np.random.PCG64):
        raise TypeError(f"rounding draws from a PCG64, not from {type(bits).__name__}")
    attempts, feasible, position, draws, outcome = judge_optima(
        stream_words(bits),
        which,
        gain,
        worker_cover,
        optima.start,
        optima.group,
        optima.workers,
        optima.ps,
        optima.free,
        worker_demand,
        ps_demand,
        (feasible_draws, max_attempts, job.batch, job.workers_per_ps),
    )
    bits.advance(int(position[-1]))
    start = np.append(draws[:, 1], len(outcome))
    return RoundedOptima(
        attempts, feasible, position, draws[:, 0], start, *(outcome[:, n] for n in range(3))
    )


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
        Of a PCG64.
    feasible_draws, max_attempts : int
        S and the limit on attempts.

    Notes
    -----
    If no outcome at all can be feasible, nothing is drawn and `attempts` is 0.
    """
    used = np.flatnonzero((workers > SNAP) | (ps > SNAP))
    optima = SlotOptima(
        np.array([0, len(used)]), used, used, workers[used], ps[used], free_capacity
    )
    rounded = round_optima(
        job,
        optima,
        np.zeros(1, dtype=np.int64),
        gain=np.ones(1),
        worker_cover=np.array([worker_cover]),
        worker_demand=worker_demand,
        ps_demand=ps_demand,
        rng=rng,
        feasible_draws=feasible_draws,
        max_attempts=max_attempts,
    )
    best, best_cost = None, math.inf
    for n in range(len(rounded.case)):
        rows = slice(rounded.start[n], rounded.start[n + 1])
        draw = np.zeros((2, len(workers)), dtype=np.int64)
        draw[0, used[rounded.entry[rows]]] = rounded.workers[rows]
        draw[1, used[rounded.entry[rows]]] = rounded.ps[rows]
        cost = log_cost(draw[0], draw[1])
        if cost < best_cost:
            best, best_cost = draw, cost
    attempts, feasible = int(rounded.attempts[0]), int(rounded.feasible[0])
    if best is None:
        return RoundedSlot(None, None, math.inf, attempts, 0)
    return RoundedSlot(best[0], best[1], best_cost, attempts, feasible)
