"""One point of training/ablation: one instance, and one variant or the bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from algorithms.training import run
from algorithms.training.exact.optimum import optimum
from experiments.training.ablation import BOUND, VARIANTS
from experiments.training.instances import draw_instance
from models.training import audit

__all__ = ["task"]

WORK = ("rounds", "lps_solved")


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one run; see the metrics of `experiments.training.ablation.ABLATION`.

    Raises
    ------
    AssertionError
        If a schedule fails the audit.
    """
    generated = draw_instance(parameters, seed)
    instance = generated.instance
    if parameters["variant"] == BOUND:
        best = optimum(instance, time_limit=parameters["time_limit"], seed=seed)
        schedule, upper = best.schedule, best.upper
        work: float = sum(best.counters.values())
        extra: Mapping[str, float] = {}
    else:
        policy, options = VARIANTS[parameters["variant"]]
        outcome = run(instance, policy, seed=seed, **options)
        schedule, upper, extra = outcome.solution, math.nan, outcome.counters
        work = sum(extra.get(name, 0) for name in WORK)
    report = audit(instance, schedule)
    if not report.feasible:
        raise AssertionError(f"{schedule.policy}: {report.violations[0]}")
    possible = len(instance.possible_jobs)
    return {
        "utility": schedule.objective,
        "upper": upper,
        "completed": sum(job.completion is not None for job in schedule.jobs),
        "possible": possible,
        "impossible": instance.number_of_jobs - possible,
        "redraws": generated.report.redraws,
        "work": work,
        "arrivals_source": generated.report.arrivals,
        "promises_broken": extra.get("promises_broken", 0),
    }
