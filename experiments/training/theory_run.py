"""Part ``run`` of training/theory: one PD-ORS run, and all that the proofs say about it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np

from algorithms.policy import Run
from algorithms.training import run
from algorithms.training.exact.optimum import optimum
from algorithms.training.pdors.dynamic_program import default_levels
from algorithms.training.pdors.pdors import COVER_ROWS
from algorithms.training.pdors.rounding import gain_favouring_cover, round_slot
from algorithms.training.pdors.slot import ExternalOptimum, JobSlots, SlotState
from algorithms.training.theory.allocation_cost import differential_ratio, job_steps
from algorithms.training.theory.certificate import dual_certificate
from algorithms.training.theory.cover_packing import program_of_slot
from algorithms.training.theory.proof_gaps import payoff_on_empty_cluster, unblocked
from algorithms.training.theory.rounding_guarantees import Guarantee
from algorithms.training.theory.rounding_trials import observe
from algorithms.training.theory.scaled_dual import best_scaled_dual
from experiments.training.instances import draw_instance
from experiments.training.points import ENGINE_OF_ROWS
from models.training import TrainingInstance, audit

__all__ = ["DRAWS_OF_THEOREM", "SLOT_FIELDS", "run_row"]

INSTANCE_SEEDS = 1000  # more than there are jobs
SAMPLED_SLOTS = 12
MOST_TRIES = 60
DRAWS_OF_THEOREM = 10
"""S. Theorems 5 and 6 count S draws in each state, and no further attempts."""

SLOT_FIELDS = (
    "draws",
    "cost",
    "cover",
    "packing",
    "feasible",
    "vacuous",
    "chernoff_valid",
    "meaningless_cost",
    "found",
)
"""What is kept of each sampled slot program, in this order."""


def run_row(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one instance."""
    delta = parameters["delta"]
    # The generator gives the first jobs of a larger instance to a smaller one of the same seed.
    # Here the two sizes are counted together, so their instances are to be independent.
    generated = draw_instance(parameters, INSTANCE_SEEDS * seed + parameters["jobs"])
    instance = generated.instance
    online = run(instance, "pdors", seed=seed, engine=ENGINE_OF_ROWS)
    literal = {
        theory: run(
            instance,
            "pdors",
            seed=seed,
            engine=ENGINE_OF_ROWS,
            theory=theory,
            delta=delta,
            draws=DRAWS_OF_THEOREM,
            max_attempts=DRAWS_OF_THEOREM,
        )
        for theory in ("packing", "cover")
    }
    runs = [online, *literal.values()]
    start = max((r.solution for r in runs), key=lambda s: s.objective)
    best = optimum(instance, time_limit=parameters["time_limit"], start=start, seed=seed)
    for schedule in [*(r.solution for r in runs), best.schedule]:
        report = audit(instance, schedule)
        if not report.feasible:
            raise AssertionError(f"{schedule.policy}: {report.violations[0]}")
    bounds = online.log.prices.bounds
    reasons = [job.reason for job in online.solution.jobs]
    slots, lps = _slots(instance, online, parameters, seed)
    return {
        "evaluations": online.counters["lps_solved"] + lps,
        "possible": len(instance.possible_jobs),
        "impossible": instance.number_of_jobs - len(instance.possible_jobs),
        "opt_lower": best.lower,
        "opt_upper": best.upper,
        "opt_status": best.status,
        "online": online.solution.objective,
        "online_packing": literal["packing"].solution.objective,
        "online_cover": literal["cover"].solution.objective,
        "epsilon": bounds.largest_log_ratio,
        "gain_cover": gain_favouring_cover(COVER_ROWS, 1.0, delta),
        "start_value": instance.slots
        * float(instance.capacity.sum())
        * math.exp(bounds.log_lowest),
        "completed": reasons.count(None),
        "unrounded": online.counters["rounding_failures"],
        "rejected_price": reasons.count("price"),
        "rejected_capacity": reasons.count("capacity"),
        "rejected_rounding": reasons.count("rounding"),
        **_duality(instance, online),
        **_relation(online, delta / 3),
        **{f"unblocked_{k}": v for k, v in asdict(unblocked(instance, bounds)).items()},
        **{f"slots_{name}": json.dumps(found) for name, found in slots.items()},
        "arrivals_source": generated.report.arrivals,
    }


def _duality(instance: TrainingInstance, online: Run) -> dict[str, Any]:
    certificate = dual_certificate(online.solution, online.log)
    log_prices = online.log.log_prices()
    scaled = best_scaled_dual(instance, log_prices)
    gaps = {"price": 0, "capacity": 0, "rounding": 0}
    for decision in online.log.decisions:
        if decision.reason in gaps:
            payoff = payoff_on_empty_cluster(instance, decision.job, log_prices)
            gaps[decision.reason] += payoff > 1e-9
    return {
        "dual": certificate.dual,
        "dual_of_paper": certificate.dual_of_paper,
        "resource_value": certificate.resource_value,
        "dual_scaled": scaled.dual,
        "scale": scaled.scale,
        **{f"unpriced_{reason}": count for reason, count in gaps.items()},
    }


def _relation(online: Run, factor: float) -> dict[str, Any]:
    """Whether the allocation-cost relationship and the step of each job hold (G = 1)."""
    epsilon = online.log.prices.bounds.largest_log_ratio
    steps = list(job_steps(online.log, factor))
    text = [
        [s.order, s.cells, s.failing, *(float(f"{x:.4g}") for x in (s.worst, s.median))]
        + [float(f"{x:.4g}") for x in (s.largest_share, _step_ratio(s.primal, s.dual))]
        for s in steps
    ]
    return {
        "cells": sum(s.cells for s in steps),
        "cells_failing": sum(s.failing for s in steps),
        "cells_failing_plain": sum(s.failing_plain for s in steps),
        "steps": len(steps),
        "steps_failing": sum(s.primal < factor / epsilon * s.dual for s in steps),
        "run_fails": sum(s.primal for s in steps) < factor / epsilon * sum(s.dual for s in steps),
        "differential": differential_ratio(online.log.prices),
        "along": json.dumps([[*row[:-1], row[-1] * epsilon / factor] for row in text]),
    }


def _step_ratio(primal: float, dual: float) -> float:
    return primal / dual if dual > 0 else math.inf


def _slots(
    instance: TrainingInstance, online: Run, parameters: dict[str, Any], seed: int
) -> tuple[dict[str, list[list[float]]], int]:
    """Round a sample of the slot programs that the run met, as Theorems 3 and 4 have it."""
    rng = np.random.Generator(np.random.PCG64([seed, 3]))
    found: dict[str, list[list[float]]] = {"packing": [], "cover": [], "plain": []}
    lps = 0
    jobs: dict[int, JobSlots] = {}
    decided = [k for k, d in enumerate(online.log.decisions) if d.levels]
    for _ in range(MOST_TRIES if decided else 0):
        if len(found["packing"]) == SAMPLED_SLOTS:
            break
        order = int(rng.choice(decided))
        i = online.log.decisions[order].job
        job = instance.jobs[i]
        slots = jobs.setdefault(i, JobSlots(instance, i))
        allocated = online.log.allocated(order)
        slot = int(rng.integers(job.arrival, instance.slots))
        levels = default_levels(instance.slots - job.arrival)
        level = int(rng.integers(1, levels + 1))
        state = slots.state(
            instance.capacity - allocated[slot], online.log.prices.log_prices(allocated[slot])
        )
        cover = slots.workers_for(job.workload * level / levels)
        relaxed = slots.external(state, cover)
        lps += 1
        if relaxed is None:
            continue
        for favour in ("packing", "cover"):
            found[favour].append(
                _slot(slots, state, cover, relaxed, favour, parameters, instance, rng)
            )
        found["plain"].append([_found(slots, state, cover, relaxed, 1.0, rng)])
    return found, lps


def _slot(
    slots: JobSlots,
    state: SlotState,
    cover: int,
    relaxed: ExternalOptimum,
    favour: Any,
    parameters: dict[str, Any],
    instance: TrainingInstance,
    rng: np.random.Generator,
) -> list[float]:
    program = program_of_slot(slots, state, cover, relaxed.log_cost)
    x = np.concatenate([relaxed.workers, relaxed.ps])
    guarantee = Guarantee(
        favour,
        float(min(cover, slots.job.ps_for(cover))),
        slots.smallest_packing(state),
        COVER_ROWS,
        instance.capacity.size + 1,
        parameters["delta"],
    )
    trials = observe(program, x, guarantee, parameters["draws"], rng)
    return [
        trials.draws,
        trials.cost,
        trials.cover,
        trials.packing,
        trials.feasible,
        int(guarantee.vacuous),
        int(guarantee.chernoff_valid),
        int(guarantee.cost_factor < 1),
        _found(slots, state, cover, relaxed, guarantee.gain, rng),
    ]


def _found(
    slots: JobSlots,
    state: SlotState,
    cover: int,
    relaxed: ExternalOptimum,
    gain: float,
    rng: np.random.Generator,
) -> int:
    """1 if one of S draws is really feasible, with the ratio of its own workers (D2)."""
    rounded = round_slot(
        slots.job,
        gain * relaxed.workers,
        gain * relaxed.ps,
        worker_cover=cover,
        worker_demand=slots.worker_demand,
        ps_demand=slots.ps_demand,
        free_capacity=state.free_capacity,
        log_cost=state.log_cost,
        rng=rng,
        feasible_draws=1,
        max_attempts=DRAWS_OF_THEOREM,
    )
    return int(rounded.workers is not None)
