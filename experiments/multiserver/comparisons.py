"""multiserver/reward, utilities, contention, arrival: OGA and the four heuristics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from experiments.declaration import Claim, Experiment, Grid
from experiments.multiserver.comparisons_judging import judge_heuristics

__all__ = ["ARRIVAL", "CONTENTION", "REWARD", "SETTINGS", "UTILITIES"]

TASK = "experiments.multiserver.outcomes:compare_task"
SIZE: dict[str, Any] = {"ports": 8, "instances": 10, "resources": 4, "slots": 10000}
SMALL: dict[str, Any] = {"ports": 5, "instances": 8, "resources": 3, "slots": 3000}
QUICK: dict[str, Any] = {"ports": 4, "instances": 4, "resources": 2, "slots": 300}
SETTINGS: dict[str, dict[str, Any]] = {
    "linear": {"gain": "linear", "probability": 0.7},
    "mixed": {"gain": "mixed", "probability": 0.7},
    "log": {"gain": "log", "probability": 0.7},
    "full": {"gain": "linear", "probability": 1.0},
}
GAINS = ("linear", "log", "poly", "reciprocal")
FORMS = ("sum", "channel")
PANELS = ("linear", "mixed")
CONTENTIONS = (0.5, 1.0, 2.0, 4.0, 8.0)
PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def reward_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """The four settings."""
    size = QUICK if quick else SIZE
    return [
        {"setting": name, **size, **setting, "running": True} for name, setting in SETTINGS.items()
    ]


def utilities_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """The four kinds of gain in both forms."""
    size = QUICK if quick else SMALL
    return [{**size, "gain": gain, "form": form} for form in FORMS for gain in GAINS]


def contention_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Scarcity of capacity, for two kinds of gains."""
    values = CONTENTIONS[::2] if quick else CONTENTIONS
    size = QUICK if quick else SMALL
    return [{**size, "gain": gain, "contention": v} for gain in PANELS for v in values]


def arrival_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Probability of a job, for two kinds of gains."""
    values = PROBABILITIES[::2] if quick else PROBABILITIES
    size = QUICK if quick else SMALL
    return [{**size, "gain": gain, "probability": v} for gain in PANELS for v in values]


def _claims(name: str, axes: tuple[str, ...], where: str) -> tuple[Claim, ...]:
    statistic = (
        "difference of total rewards over the reward of y*, paired by seed, t intervals corrected "
        "for all comparisons; reproduced if all are above 0, partly if at least half are"
    )
    return (
        Claim(
            f"{name}/channel",
            f"OGA earns more than the four heuristics {where}, a request limiting a channel.",
            statistic,
            partial(judge_heuristics, axes=axes, suffix=""),
        ),
        Claim(
            f"{name}/job",
            f"The same {where}, a request limiting what the heuristics give a job in all.",
            statistic,
            partial(judge_heuristics, axes=axes, suffix="-job"),
        ),
    )


METRICS = {
    "best": "total reward of y*, lower value",
    "oga": "total reward of OGA, committed, theory's steps",
    "oga-lookahead": "total reward of OGA that sees x(t)",
    "fairness": "total reward",
    "drf": "total reward, a request limiting a channel (drf-job: a job)",
    "binpacking": "total reward, likewise",
    "spreading": "total reward, likewise",
}
NAMES = ("oga", "fairness", "drf", "binpacking", "spreading")


def _experiment(
    name: str, summary: str, grid: Grid, axes: tuple[str, ...], where: str, seconds: float
) -> Experiment:
    return Experiment(
        name=f"multiserver/{name}",
        revision=1,
        summary=summary,
        paper="arXiv 2305.06572, experiments: OGASched against four heuristics",
        grid=grid,
        task=TASK,
        figure=f"experiments.multiserver.comparisons_drawing:draw_{name}",
        claims=_claims(name, axes, where),
        metrics=METRICS,
        cost="work",
        policies=NAMES,
        expected_seconds=seconds,
        quick_seconds=20.0,
    )


REWARD = _experiment(
    "reward",
    "average reward so far of OGA and four heuristics, in four settings",
    reward_grid,
    ("setting",),
    "in every setting",
    50.0,
)
UTILITIES = _experiment(
    "utilities",
    "total reward by kind of gain, in both forms",
    utilities_grid,
    ("form", "gain"),
    "with every kind of gain",
    100.0,
)
CONTENTION = _experiment(
    "contention",
    "total reward over the scarcity of capacity",
    contention_grid,
    ("gain", "contention"),
    "however scarce capacity is",
    30.0,
)
ARRIVAL = _experiment(
    "arrival",
    "total reward over the probability of a job",
    arrival_grid,
    ("gain", "probability"),
    "however many jobs there are",
    35.0,
)
