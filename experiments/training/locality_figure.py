"""training/locality: how much faster a machine's inside is than the network between machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment
from experiments.judging import rises_then_flattens
from experiments.line_figure import LineFigure, Panel
from experiments.training.points import CAPTION, METRICS, REVISION, ROWS, TASK, points

__all__ = ["LOCALITY"]

RATIOS = (1.0, 3.0, 10.0, 20.0, 30.0, 45.0, 60.0)


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """b_int / b_ext = 1 to 60; T = 50, H = 20 as in the paper's draft, I = 50 (not stated there).

    Jobs are drawn with b_int = b_ext, where they are hardest, so that they are possible along the
    whole axis and the same everywhere; then b_int alone grows.
    """
    size = {"jobs": 10, "slots": 10, "machines": 4} if quick else _SIZE
    ratios = (1.0, 20.0, 30.0, 60.0) if quick else RATIOS
    return points(
        ("pdors",), [{**size, "locality": 1.0, "internal_factor": ratio} for ratio in ratios]
    )


_SIZE = {"jobs": 50, "slots": 50, "machines": 20}

_CLAIMS = (
    Claim(
        "locality",
        "Total utility rises rapidly with b_int / b_ext, and more gradually beyond 30.",
        "three paired differences: the rise from 1 to 30, the slope before 30 minus the slope "
        "after it, the same with the slope from 20 to 30; t intervals corrected for three; "
        "reproduced if all are above 0, partly if the first two are",
        rises_then_flattens("utility", "internal_factor", 1.0, 30.0, 60.0),
    ),
)

LOCALITY = Experiment(
    name="training/locality",
    revision=REVISION,
    summary="utility of PD-ORS over b_int / b_ext, I = 50, T = 50, H = 20",
    paper="arXiv 2108.02917, draft: total utility over the ratio of bandwidths",
    grid=grid,
    task=TASK,
    figure=LineFigure(
        "PD-ORS over the bandwidth inside a machine",
        "internal_factor",
        "b_int / b_ext",
        (
            Panel("utility", "total utility"),
            Panel("completed", "completed jobs"),
        ),
        _CLAIMS,
        default=1.0,
        note="Jobs are drawn with b_int = b_ext, then b_int alone grows.",
        caption=CAPTION,
    ),
    claims=_CLAIMS,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=("pdors",),
    expected_seconds=600.0,
    quick_seconds=5.0,
)
