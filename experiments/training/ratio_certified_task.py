"""One point of training/ratio-certified: one instance, and one policy or the optimum's interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from algorithms.training.exact.optimum import optimum
from experiments.training import policy_task
from experiments.training.instances import draw_instance
from experiments.training.ratio_certified import BOUND
from models.training import audit

__all__ = ["task"]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one run; see the metrics of `RATIO_CERTIFIED`.

    Raises
    ------
    AssertionError
        If a schedule fails the audit.
    """
    if parameters["policy"] != BOUND:
        return policy_task.task(parameters, seed)
    generated = draw_instance(parameters, seed)
    instance = generated.instance
    best = optimum(instance, time_limit=parameters["time_limit"], seed=seed)
    report = audit(instance, best.schedule)
    if not report.feasible:
        raise AssertionError(f"{best.schedule.policy}: {report.violations[0]}")
    possible = len(instance.possible_jobs)
    return {
        "utility": best.lower,
        "upper": best.upper,
        "completed": sum(job.completion is not None for job in best.schedule.jobs),
        "possible": possible,
        "impossible": instance.number_of_jobs - possible,
        "redraws": generated.report.redraws,
        "programs": sum(best.counters.values()),
        "arrivals_source": generated.report.arrivals,
    }
