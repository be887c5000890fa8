"""PD-ORS, the paper's primal-dual online algorithm (Algorithms 1 and 2), literally, with D1-D11.

References
----------
arXiv 2108.02917, section "Online Scheduling Algorithm Design".
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.log import JobDecision, PdorsLog
from algorithms.training.pdors.dynamic_program import WorkloadTable, default_levels, spread_workload
from algorithms.training.pdors.prices import MINUS_INFINITY, PriceFunction, price_bounds
from algorithms.training.pdors.rounding import (
    gain_favouring_cover,
    gain_favouring_packing,
    round_slot,
)
from algorithms.training.pdors.slot import ExternalOptimum, JobSlots, SlotAllocation, SlotState
from models.training import TrainingInstance, build_schedule
from models.training.schedule import Placement, Reason
from models.training.throughput import job_reach

__all__ = ["PDORS", "PdorsParameters", "run_pdors"]

COVER_ROWS = 2  # m: worker cover and PS cover (D3)


class PdorsParameters(Parameters):
    """Parameters of PD-ORS."""

    gain: Annotated[
        float, Field(gt=0, description="G_delta, factor on the LP optimum before rounding")
    ] = 1.0
    theory: Annotated[
        Literal["none", "packing", "cover"],
        Field(description="take G_delta from Theorem 3 (packing) or 4 (cover) instead of gain"),
    ] = "none"
    delta: Annotated[float, Field(gt=0, le=1, description="delta of Theorems 3-6")] = 0.1
    draws: Annotated[int, Field(ge=1, description="S, feasible draws to choose from")] = 10
    max_attempts: Annotated[int, Field(ge=1, description="most draws per slot and level")] = 5000
    levels: Annotated[
        int,
        Field(ge=0, le=10**6, description="Q, workload levels; 0 = max(20, 4 (T - arrival))"),
    ] = 0
    log_price_ratio: Annotated[
        float,
        Field(ge=0, le=1000, description="largest ln(U/L) of the prices; 0 = from the jobs"),
    ] = 0.0
    start: Annotated[
        Literal["warm", "cold"], Field(description="start of each LP from the last basis or not")
    ] = "warm"


def run_pdors(instance: TrainingInstance, parameters: PdorsParameters, seed: int) -> Run:
    """Decide each job as it arrives, by price (Algorithm 1).

    Parameters
    ----------
    instance : TrainingInstance
    parameters : PdorsParameters
    seed : int
        Non-negative. Each job rounds with a stream of its own.

    Returns
    -------
    Run
        The schedule and a `PdorsLog`.
    """
    bounds = price_bounds(instance)
    if parameters.log_price_ratio > 0:
        bounds = bounds.with_largest_log_ratio(parameters.log_price_ratio)
    prices = PriceFunction(bounds, instance.capacity)
    allocated = np.zeros((instance.slots, *instance.capacity.shape))
    placements: dict[int, list[Placement]] = {}
    decisions = []
    order = sorted(range(instance.number_of_jobs), key=lambda i: instance.jobs[i].arrival)
    for i in order:
        decision, schedule = _decide(instance, parameters, seed, i, prices, allocated)
        decisions.append(decision)
        if schedule:
            placements[i] = schedule
            for slot, machine, workers, ps in schedule:
                allocated[slot, machine] += (
                    workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
                )
    reasons = {d.job: d.reason for d in decisions if d.reason is not None}
    log = PdorsLog(instance, tuple(decisions), prices, placements)
    counters = {
        "lps_solved": sum(d.lps_solved for d in decisions),
        "lps_reused": sum(d.lps_reused for d in decisions),
        "iterations": sum(d.iterations for d in decisions),
        "rounding_attempts": sum(d.rounding_attempts for d in decisions),
        "rounding_failures": sum(d.rounding_failures for d in decisions),
        "rounding_skipped": sum(d.rounding_skipped for d in decisions),
        "jobs_lost_to_grid": sum(d.lost_to_grid for d in decisions),
    }
    return Run(build_schedule(instance, PDORS.name, placements, reasons), log, counters)


def _decide(
    instance: TrainingInstance,
    parameters: PdorsParameters,
    seed: int,
    i: int,
    prices: PriceFunction,
    allocated: NDArray[np.float64],
) -> tuple[JobDecision, list[Placement]]:
    """Decide one job: find its best schedule and admit it iff the payoff is positive."""
    began = time.perf_counter()
    job = instance.jobs[i]
    if not instance.reach[i].possible:
        seconds = time.perf_counter() - began
        return JobDecision(i, job.name, job.arrival, "impossible", seconds=seconds), []
    search = _ScheduleSearch(instance, parameters, seed, i, prices, allocated)
    best = search.best_schedule()
    reason: Reason | None = None
    if best is None:
        reason = search.why_not()
    decision = JobDecision(
        job=i,
        name=job.name,
        arrival=job.arrival,
        reason=reason,
        payoff=best.payoff if best else 0.0,
        completion=best.completion if best else None,
        utility=job.utility.value(best.completion - job.arrival) if best else 0.0,
        log_cost=best.log_cost if best else float(search.table.log_cost[-1, -1]),
        levels=search.levels,
        lps_solved=search.slots.lps_solved,
        lps_reused=search.lps_reused,
        iterations=search.slots.iterations,
        rounding_attempts=search.rounding_attempts,
        rounding_failures=search.rounding_failures,
        rounding_skipped=search.rounding_skipped,
        lost_to_grid=reason == "capacity" and search.has_room_off_grid(),
        seconds=time.perf_counter() - began,
    )
    return decision, best.placements if best else []


@dataclass(frozen=True)
class _Candidate:
    payoff: float
    completion: int
    log_cost: float
    placements: list[Placement]


class _ScheduleSearch:
    """Algorithm 2 for one job: the schedule of greatest payoff over all completion slots."""

    def __init__(
        self,
        instance: TrainingInstance,
        parameters: PdorsParameters,
        seed: int,
        i: int,
        prices: PriceFunction,
        allocated: NDArray[np.float64],
    ) -> None:
        self.instance = instance
        self.parameters = parameters
        self.i = i
        self.job = instance.jobs[i]
        self.rng = np.random.Generator(np.random.PCG64([seed, i]))
        self.slots = JobSlots(instance, i, parameters.start)
        slots_left = instance.slots - self.job.arrival
        self.levels = parameters.levels or default_levels(slots_left)
        self.samples = self.job.workload * np.arange(1, self.levels + 1) / self.levels
        self.lps_reused = 0
        self.rounding_attempts = 0
        self.rounding_failures = 0
        self.rounding_skipped = 0
        self._lp_only = np.full((slots_left, self.levels + 1), np.inf)
        self._lp_only[:, 0] = MINUS_INFINITY
        self.table = self._table(prices, allocated[self.job.arrival :])

    def best_schedule(self) -> _Candidate | None:
        """Return the schedule of greatest positive payoff (Algorithm 2), None if there is none."""
        best: _Candidate | None = None
        for last in range(len(self._allocations)):
            log_cost = float(self.table.log_cost[last, -1])
            if log_cost == math.inf:
                continue
            levels = self.table.levels_per_slot(last)
            # What is found for this completion slot may end earlier; its real end counts.
            duration = max(k for k, level in enumerate(levels) if level)
            payoff = self.job.utility.value(duration) - math.exp(log_cost)
            if payoff > (best.payoff if best else 0.0):
                completion = self.job.arrival + duration
                best = _Candidate(payoff, completion, log_cost, self._placements(levels))
        return best

    def why_not(self) -> Reason:
        """Say why there is no schedule of positive payoff."""
        if self.table.log_cost[-1, -1] < math.inf:
            return "price"
        if spread_workload(self._lp_only).log_cost[-1, -1] < math.inf:
            return "rounding"
        return "capacity"

    def has_room_off_grid(self) -> bool:
        """Whether whole slots of the free capacity, without level grid, reach the workload."""
        samples = sum(
            job_reach(
                1,
                np.maximum(state.free_capacity, 0.0),
                self.job,
                self.slots.worker_demand,
                self.slots.ps_demand,
            ).samples_per_slot
            for state in self._states
        )
        return self.job.workload_reached(samples)

    def _placements(self, levels: list[int]) -> list[Placement]:
        placements: list[Placement] = []
        for k, level in enumerate(levels):
            if level == 0:
                continue
            allocation = self._allocations[k][level]
            assert allocation is not None
            placements += [
                (self.job.arrival + k, int(h), int(allocation.workers[h]), int(allocation.ps[h]))
                for h in np.flatnonzero(allocation.workers + allocation.ps)
            ]
        return placements

    def _table(self, prices: PriceFunction, allocated: NDArray[np.float64]) -> WorkloadTable:
        """Solve every slot and level (Algorithm 4), then the dynamic program (Algorithm 3)."""
        log_theta = np.full((len(allocated), self.levels + 1), np.inf)
        log_theta[:, 0] = MINUS_INFINITY
        self._allocations: list[list[SlotAllocation | None]] = []
        self._states: list[SlotState] = []
        equal_slots: dict[bytes, int] = {}
        optima: list[dict[int, ExternalOptimum | None]] = []
        for k, used in enumerate(allocated):
            # Slots with equal allocations have equal prices, and so equal LPs.
            first = equal_slots.setdefault(used.tobytes(), k)
            if first == k:
                free = self.instance.capacity - used
                self._states.append(self.slots.state(free, prices.log_prices(used)))
                optima.append({})
            else:
                self._states.append(self._states[first])
                optima.append(optima[first])
            self._allocations.append(self._solve_slot(k, optima[k]))
            for level, allocation in enumerate(self._allocations[k]):
                if allocation is not None:
                    log_theta[k, level] = allocation.log_cost
                    self._lp_only[k, level] = min(self._lp_only[k, level], allocation.log_cost)
        return spread_workload(log_theta)

    def _solve_slot(
        self, k: int, optima: dict[int, ExternalOptimum | None]
    ) -> list[SlotAllocation | None]:
        """Solve Algorithm 4 for all levels of one slot; entry 0 is the empty level."""
        state = self._states[k]
        result: list[SlotAllocation | None] = [None]
        internal = self.slots.internal(state, self.samples)
        for level, samples in enumerate(self.samples, start=1):
            best = internal[level - 1]
            cover = self.slots.workers_for(float(samples))
            relaxed = self._relaxed(state, cover, optima)
            if relaxed is not None:
                self._lp_only[k, level] = relaxed.log_cost
                if best is not None and best.log_cost <= relaxed.log_cost:
                    # Every feasible draw satisfies the LP's rows, so it costs no less.
                    self.rounding_skipped += 1
                else:
                    rounded = self._round(state, cover, relaxed)
                    if rounded and (best is None or rounded.log_cost < best.log_cost):
                        best = rounded
            result.append(best)
        return result

    def _relaxed(
        self, state: SlotState, cover: int, optima: dict[int, ExternalOptimum | None]
    ) -> ExternalOptimum | None:
        """Return the LP optimum for this many workers; None if infeasible."""
        if cover in optima:
            self.lps_reused += 1
            return optima[cover]
        # What fewer workers cannot have, more cannot either.
        if any(found is None and less < cover for less, found in optima.items()):
            optima[cover] = None
        else:
            optima[cover] = self.slots.external(state, cover)
        return optima[cover]

    def _round(
        self, state: SlotState, cover: int, relaxed: ExternalOptimum
    ) -> SlotAllocation | None:
        gain = self._gain(state, cover)
        rounded = round_slot(
            self.job,
            gain * relaxed.workers,
            gain * relaxed.ps,
            worker_cover=cover,
            worker_demand=self.slots.worker_demand,
            ps_demand=self.slots.ps_demand,
            free_capacity=state.free_capacity,
            log_cost=state.log_cost,
            rng=self.rng,
            feasible_draws=self.parameters.draws,
            max_attempts=self.parameters.max_attempts,
        )
        self.rounding_attempts += rounded.attempts
        if rounded.workers is None or rounded.ps is None:
            self.rounding_failures += 1
            return None
        return SlotAllocation(rounded.workers, rounded.ps, rounded.log_cost, internal=False)

    def _gain(self, state: SlotState, cover: int) -> float:
        """G_delta, as given or by Theorem 3 or 4 (D7)."""
        if self.parameters.theory == "packing":
            rows = self.instance.capacity.size + 1
            smallest = self.slots.smallest_packing(state)
            return gain_favouring_packing(rows, smallest, self.parameters.delta)
        if self.parameters.theory == "cover":
            # W_a; a row that asks for nothing (no PS, by a huge gamma) is no cover row.
            smallest = min(cover, self.job.ps_for(cover) or cover)
            return gain_favouring_cover(COVER_ROWS, smallest, self.parameters.delta)
        return self.parameters.gain


PDORS = Policy(
    name="pdors",
    summary="the paper's primal-dual online algorithm with randomized rounding",
    parameters=PdorsParameters,
    run=run_pdors,
    counters={
        "lps_solved": "slot programs solved",
        "lps_reused": "slot programs whose solution was known from an equal slot",
        "iterations": "simplex iterations",
        "rounding_attempts": "draws of the randomized rounding",
        "rounding_failures": "slots and levels without any feasible draw",
        "rounding_skipped": "subproblems not rounded: one machine is as cheap as the LP",
        "jobs_lost_to_grid": "jobs rejected only because workloads are rounded up to levels (D4)",
    },
)
