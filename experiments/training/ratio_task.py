"""One point of training/ratio: one instance, PD-ORS, and the optimum."""

from __future__ import annotations

import math
from typing import Any

from algorithms.training import run
from algorithms.training.exact.optimum import optimum
from algorithms.training.theory.certificate import dual_certificate
from experiments.training.instances import draw_instance
from experiments.training.points import ENGINE_OF_ROWS
from models.training import audit

__all__ = ["task"]

INSTANCE_SEEDS = 1000  # more than there are jobs
DELTA = 0.1
GAIN = 1.0


def task(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one instance; see the metrics of `experiments.training.ratio.RATIO`."""
    # The generator gives the first jobs of a larger instance to a smaller one of the same seed.
    # Here instances are to be independent, also across numbers of jobs.
    generated = draw_instance(parameters, INSTANCE_SEEDS * seed + parameters["jobs"])
    instance = generated.instance
    online = run(instance, "pdors", seed=seed, engine=ENGINE_OF_ROWS)
    best = optimum(instance, time_limit=parameters["time_limit"], start=online.solution, seed=seed)
    for schedule in (online.solution, best.schedule):
        report = audit(instance, schedule)
        if not report.feasible:
            raise AssertionError(f"{schedule.policy}: {report.violations[0]}")
    value = online.solution.objective
    log_ratio = online.log.prices.bounds.largest_log_ratio
    reasons = [job.reason for job in online.solution.jobs]
    return {
        "possible": len(instance.possible_jobs),
        "impossible": instance.number_of_jobs - len(instance.possible_jobs),
        "redraws": generated.report.redraws,
        "online": value,
        "lower": best.lower,
        "upper": best.upper,
        "status": best.status,
        "kind": _kind(best.status, best.lower, best.upper, value),
        "ratio_low": _ratio(best.lower, value),
        "ratio_high": _ratio(best.upper, value),
        "theory": 6 * GAIN / DELTA * log_ratio,
        "dual": dual_certificate(online.solution, online.log).dual,
        "completed": reasons.count(None),
        **{
            f"rejected_{reason}": reasons.count(reason)
            for reason in ("price", "capacity", "rounding")
        },
        "arrivals_source": generated.report.arrivals,
        "optimum_seconds": best.seconds,
        "pdors_seconds": sum(decision.seconds for decision in online.log.decisions),
        **online.counters,
    }


def _kind(status: str, lower: float, upper: float, online: float) -> str:
    """Name the special values of a ratio; none of them is dropped."""
    if upper == 0:
        return "empty"
    if online == 0:
        return "infinite" if lower > 0 else "interval"
    return "proven" if status == "optimal" else "interval"


def _ratio(optimum: float, online: float) -> float:
    if online > 0:
        return optimum / online
    return math.inf if optimum > 0 else 1.0
