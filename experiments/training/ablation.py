"""training/ablation: what each part of `pdors-plus` brings. Ours, not in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment
from experiments.training.points import ENGINE_OF_ROWS

__all__ = ["ABLATION", "BOUND", "FULL", "PARTS", "TARGETS", "VARIANTS", "grid"]

FULL = "pdors-plus"
BOUND = "bound"
"""The variant that runs no policy: an interval that holds the offline optimum."""

PARTS: dict[str, dict[str, Any]] = {
    "nothing has a price": {"prices": "none"},
    "price of eq. 12": {"prices": "paper"},
    "decided on arrival": {"replan": "never"},
    "one machine per slot": {"external": False},
    "any machine that fits": {"placement": "first"},
    "20 levels": {"levels": 20},
}
"""The full algorithm without one part each; the name says what is there instead."""

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    FULL: ("pdors-plus", {}),
    **{name: ("pdors-plus", options) for name, options in PARTS.items()},
    "only whole workers": ("pdors-plus", {"replan": "never", "prices": "paper"}),
    "promise to finish": ("pdors-plus", {"promise": "finish"}),
    "no promise": ("pdors-plus", {"promise": "none"}),
    "pdors": ("pdors", {"engine": ENGINE_OF_ROWS}),
}
"""Policy and parameters of each variant."""

TARGETS = {100: 1.03, 50: 1.2, 20: 1.35}
"""Median certified ratio (upper bound of the optimum / utility) that is aimed at, by machines."""

TIME_LIMIT = 10.0


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """I = 50, T = 20 and H = 20, 50, 100; the bound has its time limit as a parameter."""
    sizes = [{"jobs": 50, "slots": 20, "machines": h} for h in (20, 50, 100)]
    if quick:
        sizes = [{"jobs": 10, "slots": 8, "machines": h} for h in (2, 4)]
    common = {"mix": "default", "preset": "calibrated"}
    return [
        {"variant": variant, **size, **common}
        | ({"time_limit": 2.0 if quick else TIME_LIMIT} if variant == BOUND else {})
        for size in sizes
        for variant in (*VARIANTS, BOUND)
    ]


_CLAIMS = (
    Claim(
        "ablation/parts",
        "Ours, not the paper's: each part of PD-ORS+ brings utility.",
        "utility of PD-ORS+ minus that without the part, paired by seed, mean over the numbers of "
        "machines, t intervals corrected for the parts (Bonferroni); reproduced if all are above "
        "0, partly if at least half are",
        "experiments.training.ablation_verdict:judge_parts",
    ),
    Claim(
        "ablation/certified",
        "Ours, not the paper's: at I = 50, T = 20 the median certified ratio of PD-ORS+ is at "
        "most 1.03 at H = 100, 1.2 at H = 50 and 1.35 at H = 20.",
        "median over seeds of (proved upper bound of the offline optimum / utility) by number of "
        "machines, with the exact binomial 95 % interval of the median; reproduced if every "
        "interval is at most its target, partly if every median is",
        "experiments.training.ablation_verdict:judge_certified",
    ),
)

ABLATION = Experiment(
    name="training/ablation",
    revision=1,
    summary="PD-ORS+ without each of its parts, and its certified ratio, I = 50, T = 20",
    paper="not in the paper",
    grid=grid,
    task="experiments.training.ablation_task:task",
    figure="experiments.training.ablation_figure:draw",
    claims=_CLAIMS,
    metrics={
        "utility": "total utility; of the bound, whose row also has the proved `upper`: of the "
        "best schedule known",
        "completed": "jobs completed",
        "possible": "jobs that some schedule completes alone",
        "impossible": "jobs of the instance that no schedule completes alone (D5)",
        "redraws": "jobs redrawn by the generator because they were impossible",
        "work": "rounds of ruin and recreate, linear programs, or solver calls",
    },
    cost="work",
    policies=("pdors-plus", "pdors"),
    seeds=20,
    quick_seeds=2,
    expected_seconds=1200.0,
    quick_seconds=30.0,
)
