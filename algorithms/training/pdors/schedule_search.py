"""Algorithm 2: the schedule of greatest payoff for one job, over all completion slots."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.answers import SlotAnswers, SpreadAllocation
from algorithms.training.pdors.dynamic_program import WorkloadTable, spread_workload
from algorithms.training.pdors.prices import MINUS_INFINITY
from algorithms.training.pdors.rounding import (
    RoundedOptima,
    gain_favouring_cover,
    gain_favouring_packing,
    round_optima,
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
        # Draws are not kept, but where in the stream they began: those of the schedule are made
        # again. Most of T * Q are never looked at.
        assert isinstance(rng.bit_generator, np.random.PCG64)
        self._stream = copy.deepcopy(rng.bit_generator)
        self._position = np.full(answers.external_cost.shape, -1, dtype=np.int64)
        self._taken = 0
        self._cost = self._theta()
        self.table = _spread(self._cost)

    def best_schedule(self) -> Candidate | None:
        """Return the schedule of greatest positive payoff (Algorithm 2), None if there is none."""
        best: tuple[float, int, int, float] | None = None
        for last in range(len(self._cost)):
            log_cost = float(self.table.log_cost[last, -1])
            if log_cost == math.inf:
                continue
            # What is found for this completion slot may end earlier; its real end counts.
            duration = self.table.last_slot(last)
            payoff = self.job.utility.value(duration) - math.exp(log_cost)
            if payoff > (best[0] if best else 0.0):
                best = payoff, self.job.arrival + duration, last, log_cost
        if best is None:
            return None
        payoff, completion, last, log_cost = best
        placements = self._placements(self.table.levels_per_slot(last))
        return Candidate(payoff, completion, log_cost, placements)

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
            found = self._allocation(k, level - 1)
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

    def _theta(self) -> NDArray[np.float64]:
        """Finish Algorithm 4 for every slot and level by rounding the external case."""
        internal, external = self.answers.internal_cost, self.answers.external_cost
        cost = internal.copy()
        possible = external < np.inf
        # Every feasible draw satisfies the LP's rows, so it costs no less.
        needless = possible & (internal <= external + self.answers.tie)
        self.rounding_skipped = int(needless.sum())
        rounds = possible & ~needless
        for k in np.flatnonzero(rounds.any(axis=1)).tolist():
            levels = np.flatnonzero(rounds[k])
            rounded = self._round(k, levels, self.rng)
            self.rounding_attempts += int(rounded.attempts.sum())
            self.rounding_failures += int((rounded.feasible == 0).sum())
            log_cost, _ = self._cheapest_draws(k, rounded)
            cheaper = log_cost < cost[k, levels]
            cost[k, levels[cheaper]] = log_cost[cheaper]
            self._position[k, levels[cheaper]] = self._taken + rounded.position[:-1][cheaper]
            self._taken += int(rounded.position[-1])
        return cost

    def _round(self, k: int, levels: NDArray[np.int64], rng: np.random.Generator) -> RoundedOptima:
        """Round the external case of some levels in slot k."""
        optima, which = self.answers.relaxed(k)
        return round_optima(
            self.job,
            optima,
            which[levels],
            gain=self._gain(k, self.answers.covers[levels]),
            worker_cover=self.answers.covers[levels],
            worker_demand=self.answers.worker_demand,
            ps_demand=self.answers.ps_demand,
            rng=rng,
            feasible_draws=self.rounding.feasible_draws,
            max_attempts=self.rounding.max_attempts,
        )

    def _cheapest_draws(
        self, k: int, rounded: RoundedOptima
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return ln of the cost of each case's cheapest draw, inf without one, and which it is."""
        optima, _ = self.answers.relaxed(k)
        costs = np.empty(len(rounded.case))
        for draws, rows in rounded.by_width():
            machines = optima.machine[rounded.entry[rows]]
            costs[draws] = self.answers.log_costs(
                k, machines, rounded.workers[rows], rounded.ps[rows]
            )
        log_cost = np.full(len(rounded.attempts), np.inf)
        draw = np.full(len(log_cost), -1)
        order = np.lexsort((costs, rounded.case))  # of equally cheap draws the first
        case, first = np.unique(rounded.case[order], return_index=True)
        log_cost[case], draw[case] = costs[order[first]], order[first]
        return log_cost, draw

    def _allocation(self, k: int, q: int) -> SpreadAllocation:
        """Return the allocation behind a finite cost."""
        if self._position[k, q] < 0:
            return self.answers.internal(k, q)
        stream = copy.deepcopy(self._stream).advance(int(self._position[k, q]))
        rounded = self._round(k, np.array([q]), np.random.Generator(stream))
        draw = int(self._cheapest_draws(k, rounded)[1][0])
        rows = slice(rounded.start[draw], rounded.start[draw + 1])
        machines = self.answers.relaxed(k)[0].machine[rounded.entry[rows]]
        return SpreadAllocation(machines, rounded.workers[rows], rounded.ps[rows])

    def _gain(self, k: int, covers: NDArray[np.int64]) -> NDArray[np.float64]:
        """G_delta, as given or by Theorem 3 or 4, for some numbers of workers in slot k (D7)."""
        rule, delta = self.rounding.theory, self.rounding.delta
        if rule == "packing":
            smallest = self.answers.smallest_packing(k)
            gain = gain_favouring_packing(self.rounding.packing_rows, smallest, delta)
            return np.full(len(covers), gain)
        if rule == "cover":
            # W_a; a row that asks for nothing (no PS, by a huge gamma) is no cover row.
            least = [min(cover, self.job.ps_for(cover) or cover) for cover in covers.tolist()]
            return np.array([gain_favouring_cover(COVER_ROWS, n, delta) for n in least])
        return np.full(len(covers), self.rounding.gain)


def _spread(cost: NDArray[np.float64]) -> WorkloadTable:
    """Spread the workload over slots at these costs of 1, 2, ... levels; none costs nothing."""
    nothing = np.full((len(cost), 1), MINUS_INFINITY)
    return spread_workload(np.concatenate([nothing, cost], axis=1))
