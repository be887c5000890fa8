"""training/gain: the factor G_delta on the LP optimum before it is rounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment
from experiments.judging import best_at
from experiments.line_figure import LineFigure, Panel
from experiments.training.points import CAPTION, METRICS, REVISION, ROWS, TASK, point

__all__ = ["GAIN"]

DEFAULT = 1.0
GAINS = (0.2, 0.6, 0.9, 1.0, 1.1, 1.2)


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """G = 0.2 to 1.2; I = 50, T = 20, H = 100."""
    size: dict[str, Any] = {"jobs": 10, "slots": 10, "machines": 4}
    if not quick:
        size = {"jobs": 50, "slots": 20, "machines": 100}
    changes: list[dict[str, Any]] = [
        {} if gain == DEFAULT else {"set_gain": gain}
        for gain in ((0.6, 1.0, 1.2) if quick else GAINS)
    ]
    return [point("pdors", **size, **change) for change in changes]


_CLAIMS = (
    Claim(
        "gain",
        "The approximation ratio of PD-ORS is best at G_delta = 1.",
        "utility at G = 1 minus that at every other G, paired by seed (the optimum of an instance "
        "does not depend on G, so the ratio is best where the utility is), t intervals corrected "
        "for all of them; reproduced if all are above 0, partly if no mean is below 0",
        best_at("utility", "set_gain", DEFAULT, DEFAULT),
    ),
)

GAIN = Experiment(
    name="training/gain",
    revision=REVISION,
    summary="utility of PD-ORS over the rounding gain G_delta, I = 50, T = 20, H = 100",
    paper="arXiv 2108.02917, impact of the pre-rounding gain factor on the competitive ratio",
    grid=grid,
    task=TASK,
    figure=LineFigure(
        "PD-ORS over the gain before rounding",
        "set_gain",
        "G_delta",
        (
            Panel("utility", "total utility"),
            Panel("rejected_rounding", "jobs rejected because no draw was feasible"),
        ),
        _CLAIMS,
        default=DEFAULT,
        caption=CAPTION,
    ),
    claims=_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=("pdors",),
    expected_seconds=500.0,
    quick_seconds=5.0,
)
