"""training/training-time: the median time from arrival to completion, unfinished jobs count T."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment
from experiments.judging import better
from experiments.training.points import COMPARED, METRICS, REVISION, ROWS, TASK, points

__all__ = ["CLAIMS", "TRAINING_TIME"]

OTHERS = ("fifo", "drf", "dorm", "oasis")


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """T = 80, H = 30, I = 100."""
    size = {"jobs": 10, "slots": 10, "machines": 4}
    return points(COMPARED, [size if quick else {"jobs": 100, "slots": 80, "machines": 30}])


CLAIMS = (
    Claim(
        "training-time",
        "PD-ORS has the smallest median of actual training time, below FIFO, DRF, Dorm and OASiS.",
        "each baseline's median over the possible jobs minus that of PD-ORS, paired by seed, "
        "unfinished jobs counted as T, t intervals corrected for the baselines; reproduced if all "
        "are above 0, partly if at least half are",
        better("median_time", "jobs", OTHERS, sign=-1, policy="pdors"),
    ),
)

TRAINING_TIME = Experiment(
    name="training/training-time",
    revision=REVISION,
    summary="median of completion - arrival, unfinished = T, I = 100, T = 80, H = 30",
    paper="arXiv 2108.02917, median of actual training time",
    grid=grid,
    task=TASK,
    figure="experiments.training.training_time_drawing:draw",
    claims=CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=COMPARED,
    expected_seconds=400.0,
    quick_seconds=4.0,
)
