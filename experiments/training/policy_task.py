"""One policy on one drawn instance: the task behind all figures that compare policies.

The seed draws the instance and is the policy's seed too, so that all policies of a seed meet the
same jobs (common random numbers) and are compared pair by pair.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from algorithms.training import run
from experiments.training.instances import changed_instance, draw_instance
from experiments.training.points import ENGINE_OF_ROWS
from models.training import TrainingInstance, TrainingSchedule, audit

__all__ = ["REASONS", "task", "training_times"]

REASONS = ("price", "capacity", "rounding", "unfinished", "not-selected")
PROGRAMS = ("lps_solved", "milps_solved")
OPTION = "set_"


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one run; see `experiments.training.points`.

    Raises
    ------
    AssertionError
        If the schedule fails the audit.
    """
    generated = draw_instance(parameters, seed)
    instance = changed_instance(generated.instance, parameters)
    options = {
        name.removeprefix(OPTION): value
        for name, value in parameters.items()
        if name.startswith(OPTION)
    }
    if parameters["policy"] == "pdors":
        options.setdefault("engine", ENGINE_OF_ROWS)
    began = time.perf_counter()
    outcome = run(instance, parameters["policy"], seed=seed, **options)
    seconds = time.perf_counter() - began
    schedule: TrainingSchedule = outcome.solution
    report = audit(instance, schedule)
    if not report.feasible:
        raise AssertionError(f"{schedule.policy}: {report.violations[0]}")
    times = training_times(instance, schedule)
    completed = sum(job.completion is not None for job in schedule.jobs)
    possible = len(instance.possible_jobs)
    reasons: Counter[str | None] = Counter(job.reason for job in schedule.jobs)
    return {
        "utility": schedule.objective,
        "completed": completed,
        "possible": possible,
        "impossible": instance.number_of_jobs - possible,
        "redraws": generated.report.redraws,
        "median_time": float(statistics.median(times)) if times else math.nan,
        "mean_time": statistics.fmean(times) if times else math.nan,
        "unfinished_share": 1 - completed / possible if possible else math.nan,
        "programs": sum(outcome.counters.get(name, 0) for name in PROGRAMS),
        "policy_seconds": seconds,
        "arrivals_source": generated.report.arrivals,
        **{f"rejected_{reason.replace('-', '_')}": reasons[reason] for reason in REASONS},
        **outcome.counters,
    }


def training_times(instance: TrainingInstance, schedule: TrainingSchedule) -> list[int]:
    """Return completion - arrival of every possible job, T if it is not completed [slots]."""
    outcomes = {outcome.name: outcome for outcome in schedule.jobs}
    times = []
    for i in instance.possible_jobs:
        job = instance.jobs[i]
        completion = outcomes[job.name].completion
        times.append(instance.slots if completion is None else completion - job.arrival)
    return times
