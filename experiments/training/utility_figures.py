"""training/utility-machines, utility-jobs and oasis: total utility on drawn workloads, T = 20."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment
from experiments.judging import better, gap_grows
from experiments.line_figure import LineFigure, Panel
from experiments.training.points import CAPTION, COMPARED, METRICS, REVISION, ROWS, TASK, points

__all__ = ["OASIS_JOBS", "UTILITY", "UTILITY_JOBS", "UTILITY_MACHINES"]

SLOTS = 20
OTHERS = ("fifo", "drf", "dorm")
"""The policies that the paper's figures compare PD-ORS with; the others are ours to add."""

BETTER = (
    "mean utility of PD-ORS minus each baseline's, paired by seed, at every point, with t "
    "intervals corrected for all comparisons (Bonferroni); reproduced if all are above 0, partly "
    "if at least half are"
)
GROWS = (
    "slope of the paired difference over the axis, one per seed, t intervals corrected for the "
    "baselines; reproduced if all are above 0 and no gain is surely a loss, partly if at least "
    "half of the slopes are above 0"
)

UTILITY = (
    Panel("utility", "total utility"),
    Panel("utility", "PD-ORS minus the policy, paired by seed", minus="pdors"),
)


def machines_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """H varies; I = 50, T = 20 as in the paper."""
    if quick:
        return points(COMPARED, [{"jobs": 10, "slots": 10, "machines": h} for h in (2, 4, 8)])
    return points(
        COMPARED, [{"jobs": 50, "slots": SLOTS, "machines": h} for h in (20, 40, 60, 80, 100)]
    )


def _jobs_grid(policies: Sequence[str], quick: bool) -> Sequence[dict[str, Any]]:
    if quick:
        return points(policies, [{"jobs": i, "slots": 10, "machines": 4} for i in (4, 8, 12)])
    return points(
        policies, [{"jobs": i, "slots": SLOTS, "machines": 100} for i in (20, 35, 50, 80)]
    )


def jobs_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """I varies; H = 100, T = 20 as in the paper, which does not state its values of I."""
    return _jobs_grid(COMPARED, quick)


def oasis_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """The points of `jobs_grid` that concern PD-ORS and OASiS: their rows are shared."""
    return _jobs_grid([p for p in COMPARED if p.startswith("pdors") or p == "oasis"], quick)


_MACHINES_CLAIMS = (
    Claim(
        "utility-machines/above",
        "PD-ORS significantly outperforms FIFO, DRF and Dorm at every number of machines.",
        BETTER,
        better("utility", "machines", OTHERS, policy="pdors"),
    ),
    Claim(
        "utility-machines/grows",
        "Its gain in total utility grows with the number of machines.",
        GROWS,
        gap_grows("utility", "machines", OTHERS, policy="pdors"),
    ),
    Claim(
        "utility-machines/plus",
        "Ours, not the paper's: PD-ORS+ is above every other policy at every number of machines.",
        BETTER.replace("PD-ORS minus", "PD-ORS+ minus").replace("baseline", "other policy"),
        better(
            "utility",
            "machines",
            tuple(p for p in COMPARED if p != "pdors-plus"),
            policy="pdors-plus",
        ),
    ),
)

UTILITY_MACHINES = Experiment(
    name="training/utility-machines",
    revision=REVISION,
    summary="total utility over the number of machines, I = 50, T = 20",
    paper="arXiv 2108.02917, total utility with increasing number of machines (synthetic data)",
    grid=machines_grid,
    task=TASK,
    figure=LineFigure(
        "Total utility over the number of machines",
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
    expected_seconds=600.0,
    quick_seconds=8.0,
)

_JOBS_CLAIMS = (
    Claim(
        "utility-jobs/above",
        "PD-ORS significantly outperforms FIFO, DRF and Dorm at every number of jobs.",
        BETTER,
        better("utility", "jobs", OTHERS, policy="pdors"),
    ),
    Claim(
        "utility-jobs/grows",
        "Its gain in total utility grows with the number of jobs.",
        GROWS,
        gap_grows("utility", "jobs", OTHERS, policy="pdors"),
    ),
)

UTILITY_JOBS = Experiment(
    name="training/utility-jobs",
    revision=REVISION,
    summary="total utility over the number of jobs, H = 100, T = 20",
    paper="arXiv 2108.02917, total utility with increasing number of jobs (synthetic data)",
    grid=jobs_grid,
    task=TASK,
    figure=LineFigure(
        "Total utility over the number of jobs",
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
    expected_seconds=450.0,
    quick_seconds=8.0,
)

_OASIS_CLAIMS = (
    Claim(
        "oasis/above",
        "PD-ORS outperforms OASiS, which never puts workers beside parameter servers.",
        BETTER,
        better("utility", "jobs", ("oasis",), policy="pdors"),
    ),
    Claim(
        "oasis/widens",
        "The gap between PD-ORS and OASiS widens as the number of jobs grows.",
        GROWS,
        gap_grows("utility", "jobs", ("oasis",), policy="pdors"),
    ),
)

OASIS_JOBS = Experiment(
    name="training/oasis",
    revision=REVISION,
    summary="PD-ORS and OASiS over the number of jobs, H = 100, T = 20",
    paper="arXiv 2108.02917, PD-ORS and OASiS with increasing number of jobs",
    grid=oasis_grid,
    task=TASK,
    figure=LineFigure(
        "PD-ORS and OASiS over the number of jobs",
        "jobs",
        "jobs I",
        UTILITY,
        _OASIS_CLAIMS,
        caption=CAPTION,
    ),
    claims=_OASIS_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=("pdors", "oasis"),
    expected_seconds=400.0,
    quick_seconds=6.0,
)
