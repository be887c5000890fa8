"""The relaxed stage: three ways to schedule on all nodes as one, under learned conflict sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from algorithms.dispatch.hybrid.draw_kernel import best_of
from algorithms.dispatch.hybrid.problems import make_pooled
from models.dispatch import DispatchInstance

__all__ = ["CpSat", "Engine", "Relaxed", "SetTimes", "TimeIndexed", "best_draw"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SHARPNESS = 4
"""Lists by the fourth power of the rates were best (of 1, 2, 3, 4 and 8)."""

CHUNK = 2_000_000  # random numbers at a time


@dataclass(frozen=True)
class Relaxed:
    """What an engine is asked for.

    Attributes
    ----------
    instance : DispatchInstance
    conflict_sets : sequence of tuples of job indices
    most : float
        Largest objective (5.2) [s] that is of interest; infinite without tightening.
    hint : int array, shape (J,)
        Starts of the best mapped schedule.
    """

    instance: DispatchInstance
    conflict_sets: Sequence[tuple[int, ...]]
    most: float
    hint: Ints


class Engine(Protocol):
    """A way to schedule on all nodes as one."""

    def schedule(self, asked: Relaxed, rng: np.random.Generator) -> Ints | None:
        """Starts of the possible jobs, shape (J,); None if none was found."""
        ...


class Keys(Protocol):
    """Draws keys for so many lists."""

    def __call__(self, number: int, /) -> Floats:
        """Keys, shape (number, possible jobs)."""
        ...


def best_draw(asked: Relaxed, draw: Keys, draws: int) -> Ints | None:
    """Make pooled schedules from lists, and return the starts of the best one.

    Parameters
    ----------
    asked : Relaxed
    draw : callable (number) -> float array, shape (number, possible jobs)
        Keys by which jobs are listed, least first.
    draws : int
        Lists altogether.
    """
    problem = make_pooled(asked.instance, asked.conflict_sets)
    jobs = np.flatnonzero(asked.instance.arrays.possible)
    best = np.full(len(jobs), -1, dtype=np.int64)
    most = asked.most
    chunk = max(1, CHUNK // max(len(jobs), 1))
    for done in range(0, draws, chunk):
        most = best_of(problem, draw(min(chunk, draws - done)), most, best)
    if not (best >= 0).all():
        return None
    start = np.full(asked.instance.number_of_jobs, -1, dtype=np.int64)
    start[jobs] = best
    return start


@dataclass(frozen=True)
class SetTimes:
    """Weighted-random set times, after the source.

    Whoever is to be tried next is drawn with a probability that is proportional to the job's
    rate: exponential keys of those rates, in ascending order, are such draws.

    Attributes
    ----------
    draws : int
        Schedules per round.
    bias : "weight" or "smith"
        Rate: the job's weight in (5.2), or a power of that per work, see `smith_rates`.
    """

    draws: int
    bias: str

    def schedule(self, asked: Relaxed, rng: np.random.Generator) -> Ints | None:
        """Return the best of the drawn schedules."""
        arrays = asked.instance.arrays
        jobs = np.flatnonzero(arrays.possible)
        smith = self.bias == "smith"
        rate = (smith_rates(asked.instance) ** SHARPNESS if smith else arrays.weight)[jobs]
        return best_draw(
            asked, lambda number: rng.standard_exponential((number, len(jobs))) / rate, self.draws
        )


def smith_rates(instance: DispatchInstance) -> Floats:
    """Weight per work, the largest being 1; work is duration * share of what is scarcest."""
    arrays = instance.arrays
    uses = np.column_stack([arrays.job_demand, arrays.power])
    limit = np.append(arrays.total_capacity, arrays.headroom_limit)
    share = np.divide(uses, limit, out=np.zeros_like(uses), where=limit > 0)
    load = (arrays.duration[:, np.newaxis] * share)[arrays.possible].sum(axis=0)
    work = arrays.duration * share[:, int(np.argmax(load))]
    # Who needs nothing of it goes before all others.
    rate = arrays.weight / np.maximum(work, 1e-9 * work.max(initial=1e-9))
    return np.asarray(rate / rate.max(initial=1e-300), dtype=float)


class TimeIndexed:
    """The pooled time-indexed model's LP relaxation, and lists by random points of its solution.

    The alpha-point of a job is the slot by which the part alpha of it has started.

    Parameters
    ----------
    draws : int
        Lists per round.
    starts : int
        Jobs times slots of the model, which sets how coarse its time is.
    """

    def __init__(self, draws: int, starts: int) -> None:
        self.draws = draws
        self.starts = starts
        self.bound = 0.0
        self._started: list[tuple[Floats, Floats]] | None = None

    def schedule(self, asked: Relaxed, rng: np.random.Generator) -> Ints | None:
        """Return the best of the drawn schedules."""
        if self._started is None:
            self._started = self._solve(asked)
        started = self._started
        rate = smith_rates(asked.instance)[asked.instance.arrays.possible] ** SHARPNESS

        def draw(number: int) -> Floats:
            keys = np.empty((number, len(started)))
            alpha = rng.random(keys.shape)
            common = rng.random(number) < 0.5  # half of the lists have one alpha for all jobs
            alpha[common] = alpha[common, :1]
            for k, (slots, parts) in enumerate(started):
                keys[:, k] = slots[np.searchsorted(parts, alpha[:, k]).clip(max=len(slots) - 1)]
            # Within a slot as with set times; a key of those is at most 1 after this.
            late = rng.standard_exponential(keys.shape) / rate
            return keys + late / (late.max(axis=1, keepdims=True) + 1e-300) * 0.999

        return best_draw(asked, draw, self.draws)

    def _solve(self, asked: Relaxed) -> list[tuple[Floats, Floats]]:
        from models.dispatch.time_indexed import build_time_indexed
        from models.solver import solve_model

        instance = asked.instance
        jobs = int(instance.arrays.possible.sum())
        last = int(asked.hint.max(initial=0))
        slot = max(1, -(-jobs * (last + 1) // self.starts))
        model = build_time_indexed(instance, slot=slot, last_slot=last // slot + 1, integer=False)
        result = solve_model(model)
        if np.isfinite(result.bound):
            self.bound = float(result.bound)
        result.load_into(model)
        found = []
        for j in model.jobs:
            slots = np.arange(model.first_slot[j], model.last + 1)
            parts = np.array([float(model.started[j, int(k)].value or 0.0) for k in slots])
            found.append((slots.astype(float), np.maximum.accumulate(parts)))
        return found


@dataclass(frozen=True)
class CpSat:
    """CP-SAT on the relaxed model, from the best mapped schedule.

    Attributes
    ----------
    work : float
        CP-SAT's deterministic time per round.
    lns_only : bool
    """

    work: float
    lns_only: bool = True

    def schedule(self, asked: Relaxed, rng: np.random.Generator) -> Ints | None:
        """Return what CP-SAT found; None if it found nothing, or proved that there is nothing."""
        from models.dispatch.cp_sat import solve_cp_sat
        from models.dispatch.relaxed import build_relaxed

        built = build_relaxed(
            asked.instance,
            conflict_sets=asked.conflict_sets,
            at_most=asked.most if np.isfinite(asked.most) else None,
            hint=asked.hint,
        )
        result = solve_cp_sat(
            built.model,
            built.start,
            deterministic_limit=self.work,
            seed=int(rng.integers(2**31)),
            lns_only=self.lns_only,
        )
        if result.values is None:
            return None
        start = np.full(asked.instance.number_of_jobs, -1, dtype=np.int64)
        start[built.jobs] = result.values
        return start
