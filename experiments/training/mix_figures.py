"""training/mix-machines and mix-jobs: PD-ORS over OASiS with many and with few critical jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment
from experiments.line_figure import LineFigure, Panel
from experiments.training.mix_judging import log_gains, shrinks_with_mix
from experiments.training.points import CAPTION, METRICS, REVISION, ROWS, TASK, points

if TYPE_CHECKING:
    import pandas

__all__ = ["MIX_JOBS", "MIX_MACHINES"]

SLOTS = 80
MIXES = ("default", "google")
POLICIES = ("pdors", "oasis")
STATISTIC = (
    "ln(PD-ORS / OASiS) with the default mix minus the same with the Google mix, per seed, mean "
    "over the points, t interval; reproduced if above 0 and no point is surely below 0, partly if "
    "the mean and half of the points are positive"
)
PANELS = (Panel("gain", "utility of PD-ORS / utility of OASiS", geometric=True),)


def machines_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """H = 10, 30, 50 with both mixes; I = 100, T = 80."""
    jobs, slots, values = (10, 10, (2, 4, 8)) if quick else (100, SLOTS, (10, 30, 50))
    return points(
        POLICIES,
        [
            {"jobs": jobs, "slots": slots, "machines": h, "mix": mix}
            for mix in MIXES
            for h in values
        ],
    )


def jobs_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """I = 20, 60, 100 with both mixes; H = 30, T = 80."""
    machines, slots, values = (4, 10, (4, 8, 12)) if quick else (30, SLOTS, (20, 60, 100))
    return points(
        POLICIES,
        [
            {"jobs": i, "slots": slots, "machines": machines, "mix": mix}
            for mix in MIXES
            for i in values
        ],
    )


def gains(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return what the figures show: PD-ORS's rows with its utility over OASiS's."""
    return log_gains(rows, "pdors", "oasis")


_MACHINES_CLAIMS = (
    Claim(
        "mix-machines",
        "The gain of PD-ORS over OASiS shrinks when 1 % instead of 35 % of the jobs are critical, "
        "over the number of machines.",
        STATISTIC,
        shrinks_with_mix("machines"),
    ),
)

MIX_MACHINES = Experiment(
    name="training/mix-machines",
    revision=REVISION,
    summary="utility over OASiS's by number of machines and class mix, I = 100, T = 80",
    paper="arXiv 2108.02917, total utility with increasing number of machines, two class mixes",
    grid=machines_grid,
    task=TASK,
    figure=LineFigure(
        "PD-ORS over OASiS, two mixes of jobs, by number of machines",
        "machines",
        "machines H",
        PANELS,
        _MACHINES_CLAIMS,
        lines="mix",
        derive=gains,
        note="Geometric means.",
        caption=CAPTION,
    ),
    claims=_MACHINES_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=POLICIES,
    expected_seconds=1500.0,
    quick_seconds=10.0,
)

_JOBS_CLAIMS = (
    Claim(
        "mix-jobs",
        "The gain of PD-ORS over OASiS shrinks when 1 % instead of 35 % of the jobs are critical, "
        "over the number of jobs.",
        STATISTIC,
        shrinks_with_mix("jobs"),
    ),
)

MIX_JOBS = Experiment(
    name="training/mix-jobs",
    revision=REVISION,
    summary="utility over OASiS's by number of jobs and class mix, H = 30, T = 80",
    paper="arXiv 2108.02917, total utility with increasing number of jobs, two class mixes",
    grid=jobs_grid,
    task=TASK,
    figure=LineFigure(
        "PD-ORS over OASiS, two mixes of jobs, by number of jobs",
        "jobs",
        "jobs I",
        PANELS,
        _JOBS_CLAIMS,
        lines="mix",
        derive=gains,
        note="Geometric means.",
        caption=CAPTION,
    ),
    claims=_JOBS_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=POLICIES,
    expected_seconds=900.0,
    quick_seconds=10.0,
)
