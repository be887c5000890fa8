"""training/google-machines and google-jobs: arrivals and classes of the Google trace, T = 80."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment
from experiments.judging import better
from experiments.line_figure import LineFigure
from experiments.training.instances import TRACE
from experiments.training.points import CAPTION, COMPARED, METRICS, REVISION, ROWS, TASK, points
from experiments.training.utility_figures import BETTER, UTILITY

__all__ = ["GOOGLE_JOBS", "GOOGLE_MACHINES"]

SLOTS = 80
OTHERS = ("fifo", "drf", "dorm", "oasis")


def machines_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """H = 10, 30, 50; I = 100, T = 80."""
    if quick:
        return points(
            COMPARED, [{"jobs": 10, "slots": 10, "machines": h, "mix": TRACE} for h in (2, 4, 8)]
        )
    return points(
        COMPARED,
        [{"jobs": 100, "slots": SLOTS, "machines": h, "mix": TRACE} for h in (10, 30, 50)],
    )


def jobs_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """I = 20, 60, 100; H = 30, T = 80."""
    if quick:
        return points(
            COMPARED, [{"jobs": i, "slots": 10, "machines": 4, "mix": TRACE} for i in (4, 8, 12)]
        )
    return points(
        COMPARED,
        [{"jobs": i, "slots": SLOTS, "machines": 30, "mix": TRACE} for i in (20, 60, 100)],
    )


_MACHINES_CLAIMS = (
    Claim(
        "google-machines",
        "With arrivals of the Google trace PD-ORS outperforms FIFO, DRF, Dorm and OASiS at every "
        "number of machines.",
        BETTER,
        better("utility", "machines", OTHERS, policy="pdors"),
    ),
)

GOOGLE_MACHINES = Experiment(
    name="training/google-machines",
    revision=REVISION,
    summary="total utility over the number of machines, Google arrivals, I = 100, T = 80",
    paper="arXiv 2108.02917, total utility with increasing number of machines (Google trace)",
    grid=machines_grid,
    task=TASK,
    figure=LineFigure(
        "Total utility over the number of machines, arrivals of the Google trace",
        "machines",
        "machines H",
        UTILITY,
        _MACHINES_CLAIMS,
        caption=CAPTION,
    ),
    claims=_MACHINES_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=COMPARED,
    options=("arrivals",),
    check="experiments.training.instances:check_arrivals",
    expected_seconds=1000.0,
    quick_seconds=8.0,
)

_JOBS_CLAIMS = (
    Claim(
        "google-jobs",
        "With arrivals of the Google trace PD-ORS outperforms FIFO, DRF, Dorm and OASiS at every "
        "number of jobs.",
        BETTER,
        better("utility", "jobs", OTHERS, policy="pdors"),
    ),
)

GOOGLE_JOBS = Experiment(
    name="training/google-jobs",
    revision=REVISION,
    summary="total utility over the number of jobs, Google arrivals, H = 30, T = 80",
    paper="arXiv 2108.02917, total utility with increasing number of jobs (Google trace)",
    grid=jobs_grid,
    task=TASK,
    figure=LineFigure(
        "Total utility over the number of jobs, arrivals of the Google trace",
        "jobs",
        "jobs I",
        UTILITY,
        _JOBS_CLAIMS,
        caption=CAPTION,
    ),
    claims=_JOBS_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=COMPARED,
    options=("arrivals",),
    check="experiments.training.instances:check_arrivals",
    expected_seconds=600.0,
    quick_seconds=8.0,
)
