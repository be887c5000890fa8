"""Algorithm 2: the schedule of greatest payoff for one job, over all completion slots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from algorithms.training.pdors.answers import SlotAnswers, SpreadAllocation
from algorithms.training.pdors.dynamic_program import WorkloadTable, spread_workload
from algorithms.training.pdors.prices import MINUS_INFINITY
from algorithms.training.pdors.rounding import (
    gain_favouring_cover,
    gain_favouring_packing,
    round_slot,
)
from models.training.schedule import Placement, Reason
from models.training.throughput import job_reach

__all__ = ["COVER_ROWS", "Candidate", "Rounding", "ScheduleSearch"]

COVER_ROWS = 2  # m: worker cover and PS cover (D3)


@dataclass(frozen=True)
class Rounding:
    """How LP optima are rounded; see `PdorsParameters`.

    Attributes
    ----------
    gain, theory, delta
        G_delta, or the theorem that gives it, and that theorem's delta.
    feasible_draws, max_attempts : int
    packing_rows : int
        r of Theorem 3.
    """

    gain: float
    theory: Literal["none", "packing", "cover"]
    delta: float
    feasible_draws: int
    max_attempts: int
    packing_rows: int


@dataclass(frozen=True)
class Candidate:
    """A schedule, its payoff and what it costs."""

    payoff: float
    completion: int
    log_cost: float
    placements: list[Placement]


class ScheduleSearch:
    """Algorithm 2 for one job.

    Parameters
    ----------
    answers : SlotAnswers
        The slot subproblems.
    rounding : Rounding
    rng : numpy.random.Generator
        The job's own stream; slots and levels draw from it in order.
    """

    def __init__(self, answers: SlotAnswers, rounding: Rounding, rng: np.random.Generator) -> None:
        self.answers, self.rounding, self.rng = answers, rounding, rng
        self.job = answers.job
        self.rounding_attempts = 0
        self.rounding_failures = 0
        self.rounding_skipped = 0
        self._rounded: dict[tuple[int, int], SpreadAllocation] = {}
        self._cost = self._theta()
        self.table = _spread(self._cost)

    def best_schedule(self) -> Candidate | None:
        """Return the schedule of greatest positive payoff (Algorithm 2), None if there is none."""
        best: Candidate | None = None
        for last in range(len(self._cost)):
            log_cost = float(self.table.log_cost[last, -1])
            if log_cost == math.inf:
                continue
            levels = self.table.levels_per_slot(last)
            # What is found for this completion slot may end earlier; its real end counts.
            duration = max(k for k, level in enumerate(levels) if level)
            payoff = self.job.utility.value(duration) - math.exp(log_cost)
            if payoff > (best.payoff if best else 0.0):
                completion = self.job.arrival + duration
                best = Candidate(payoff, completion, log_cost, self._placements(levels))
        return best

    def why_not(self) -> Reason:
        """Say why there is no schedule of positive payoff."""
        if self.table.log_cost[-1, -1] < math.inf:
            return "price"
        relaxed = np.minimum(self.answers.external_cost, self._cost)
        if _spread(relaxed).log_cost[-1, -1] < math.inf:
            return "rounding"
        return "capacity"

    def has_room_off_grid(self, machines: int) -> bool:
        """Whether whole slots of the free capacity, without level grid, reach the workload."""
        samples = sum(
            job_reach(
                1,
                np.maximum(self.answers.free_capacity(k, np.arange(machines)), 0.0),
                self.job,
                self.answers.worker_demand,
                self.answers.ps_demand,
            ).samples_per_slot
            for k in range(len(self._cost))
        )
        return self.job.workload_reached(samples)

    def _placements(self, levels: list[int]) -> list[Placement]:
        placements: list[Placement] = []
        for k, level in enumerate(levels):
            if level == 0:
                continue
            where = k, level - 1
            found = self._rounded.get(where) or self.answers.internal(*where)
            placements += [
                (
                    self.job.arrival + k,
                    int(found.machines[n]),
                    int(found.workers[n]),
                    int(found.ps[n]),
                )
                for n in np.flatnonzero(found.workers + found.ps)
            ]
        return placements

    def _theta(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Finish Algorithm 4 for every slot and level by rounding the external case."""
        internal, external = self.answers.internal_cost, self.answers.external_cost
        cost = internal.copy()
        possible = external < np.inf
        # Every feasible draw satisfies the LP's rows, so it costs no less.
        needless = possible & (internal <= external + self.answers.tie)
        self.rounding_skipped = int(needless.sum())
        for k, q in np.argwhere(possible & ~needless):
            log_cost = self._round(int(k), int(q), float(cost[k, q]))
            cost[k, q] = min(cost[k, q], log_cost)
        return cost

    def _round(self, k: int, q: int, to_beat: float) -> float:
        """Round; keep what costs less than `to_beat`; return ln of the cost, inf without a draw."""
        relaxed = self.answers.relaxed(k, q)
        cover = int(self.answers.covers[q])
        gain = self._gain(k, cover)
        rounded = round_slot(
            self.job,
            gain * relaxed.workers,
            gain * relaxed.ps,
            worker_cover=cover,
            worker_demand=self.answers.worker_demand,
            ps_demand=self.answers.ps_demand,
            free_capacity=self.answers.free_capacity(k, relaxed.machines),
            log_cost=self.answers.log_cost(k, relaxed.machines),
            rng=self.rng,
            feasible_draws=self.rounding.feasible_draws,
            max_attempts=self.rounding.max_attempts,
        )
        self.rounding_attempts += rounded.attempts
        if rounded.workers is None or rounded.ps is None:
            self.rounding_failures += 1
            return math.inf
        if rounded.log_cost < to_beat:
            self._rounded[k, q] = SpreadAllocation(relaxed.machines, rounded.workers, rounded.ps)
        return rounded.log_cost

    def _gain(self, k: int, cover: int) -> float:
        """G_delta, as given or by Theorem 3 or 4 (D7)."""
        if self.rounding.theory == "packing":
            smallest = self.answers.smallest_packing(k)
            return gain_favouring_packing(self.rounding.packing_rows, smallest, self.rounding.delta)
        if self.rounding.theory == "cover":
            # W_a; a row that asks for nothing (no PS, by a huge gamma) is no cover row.
            least = min(cover, self.job.ps_for(cover) or cover)
            return gain_favouring_cover(COVER_ROWS, least, self.rounding.delta)
        return self.rounding.gain


def _spread(cost: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> WorkloadTable:
    """Spread the workload over slots at these costs of 1, 2, ... levels; none costs nothing."""
    nothing = np.full((len(cost), 1), MINUS_INFINITY)
    return spread_workload(np.concatenate([nothing, cost], axis=1))
