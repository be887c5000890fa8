"""PD-ORS, the paper's primal-dual online algorithm (Algorithms 1 and 2), literally, with D1-D11.

References
----------
arXiv 2108.02917, section "Online Scheduling Algorithm Design".
"""

from __future__ import annotations

import time
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.log import JobDecision, PdorsLog
from algorithms.training.pdors.answers import Cluster
from algorithms.training.pdors.curve_answers import CurveCluster
from algorithms.training.pdors.dynamic_program import default_levels
from algorithms.training.pdors.engine_answers import EngineCluster
from algorithms.training.pdors.prices import PriceFunction, price_bounds
from algorithms.training.pdors.schedule_search import COVER_ROWS, Rounding, ScheduleSearch
from models.training import TrainingInstance, build_schedule
from models.training.schedule import Placement, Reason

__all__ = ["COVER_ROWS", "PDORS", "PdorsParameters", "run_pdors"]


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
    engine: Annotated[
        Literal["curves", "highs"],
        Field(description="how slot programs are solved: by curves of their value, or each by LP"),
    ] = "curves"
    start: Annotated[
        Literal["warm", "cold"],
        Field(description="start of each LP of engine highs from the last basis or not"),
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
    cluster: Cluster
    if parameters.engine == "curves":
        cluster = CurveCluster(instance, prices)
    else:
        cluster = EngineCluster(instance, prices, parameters.start)
    placements: dict[int, list[Placement]] = {}
    decisions = []
    order = sorted(range(instance.number_of_jobs), key=lambda i: instance.jobs[i].arrival)
    for i in order:
        decision, schedule = _decide(instance, parameters, seed, i, cluster)
        decisions.append(decision)
        if schedule:
            placements[i] = schedule
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
    cluster: Cluster,
) -> tuple[JobDecision, list[Placement]]:
    """Decide one job: find its best schedule; iff the payoff is positive, allocate it."""
    began = time.process_time()
    job = instance.jobs[i]
    if not instance.reach[i].possible:
        seconds = time.process_time() - began
        return JobDecision(i, job.name, job.arrival, "impossible", seconds=seconds), []
    levels = parameters.levels or default_levels(instance.slots - job.arrival)
    asked = time.process_time()
    answers = cluster.answers(i, job.workload * np.arange(1, levels + 1) / levels)
    lp_seconds = time.process_time() - asked
    rounding = Rounding(
        gain=parameters.gain,
        theory=parameters.theory,
        delta=parameters.delta,
        feasible_draws=parameters.draws,
        max_attempts=parameters.max_attempts,
        packing_rows=instance.capacity.size + 1,
    )
    search = ScheduleSearch(answers, rounding, np.random.Generator(np.random.PCG64([seed, i])))
    best = search.best_schedule()
    reason: Reason | None = None
    if best is None:
        reason = search.why_not()
    else:
        cluster.allocate(i, best.placements)
    decision = JobDecision(
        job=i,
        name=job.name,
        arrival=job.arrival,
        reason=reason,
        payoff=best.payoff if best else 0.0,
        completion=best.completion if best else None,
        utility=job.utility.value(best.completion - job.arrival) if best else 0.0,
        log_cost=best.log_cost if best else float(search.table.log_cost[-1, -1]),
        levels=levels,
        lps_solved=answers.lps_solved,
        lps_reused=answers.lps_reused,
        iterations=answers.iterations,
        lps_by_engine=answers.lps_by_engine,
        rounding_attempts=search.rounding_attempts,
        rounding_failures=search.rounding_failures,
        rounding_skipped=search.rounding_skipped,
        lost_to_grid=reason == "capacity" and search.has_room_off_grid(instance.number_of_machines),
        seconds=time.process_time() - began,
        lp_seconds=lp_seconds,
    )
    return decision, best.placements if best else []


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
