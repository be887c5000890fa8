"""Verdicts of the multiserver figures on rows whose verdict is known."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from experiments.multiserver import comparisons, prices, projection, regret, scale, steps

SEEDS = range(20)


def table(points: list[dict[str, Any]], values: Callable[..., dict[str, float]]) -> pd.DataFrame:
    """Rows of all points and seeds; values get a little noise by seed."""
    return pd.DataFrame(
        {**point, "seed": seed, **values(point, 1 + 0.01 * (seed % 5))}
        for point in points
        for seed in SEEDS
    )


@pytest.mark.parametrize(
    ("power", "factor", "bound", "exponent"),
    [
        (0.5, 1.0, "reproduced", "reproduced"),
        (0.54, 1.0, "reproduced", "reproduced"),
        (0.56, 1.0, "reproduced", "not-reproduced"),
        (0.5, 11.0, "not-reproduced", "reproduced"),
    ],
)
def test_regret(power: float, factor: float, bound: str, exponent: str) -> None:
    def values(point: dict[str, Any], noise: float) -> dict[str, float]:
        slots = point["slots"]
        regret = factor * noise * slots**power
        return {"regret": regret, "bound": 10 * slots**0.5, "says_from": 40.0, "best": slots}

    rows = table(list(regret.grid(False)), values)
    assert [verdict.status for _, verdict in regret.REGRET.judge(rows)] == [bound, exponent]
    assert regret.exponents(rows[rows["setting"] == "coin"]) == pytest.approx([power] * 20)


def test_exponents_leave_negative_regret_out() -> None:
    rows = table(
        [{"slots": slots} for slots in (100, 1000, 10000)],
        lambda point, noise: {"regret": (noise - 1.005) * point["slots"]},
    )
    assert regret.exponents(rows) == pytest.approx([1.0] * 16)  # not those of the seeds 0, 5, ...


@pytest.mark.parametrize(
    ("geometric", "living", "status"),
    [(0.5, -0.2, "reproduced"), (0.5, 0.1, "partly"), (-0.1, -0.2, "not-reproduced")],
)
def test_steps_on_the_flip(geometric: float, living: float, status: str) -> None:
    def values(point: dict[str, Any], noise: float) -> dict[str, float]:
        slots = point["slots"]
        root = noise * slots**0.5
        if point["case"] != "flip":
            return {**dict.fromkeys(steps.RULES, root), "best": slots, "bound": 10 * slots**0.5}
        regrets = dict.fromkeys(steps.LIVING, living * noise * slots)
        regrets |= dict.fromkeys(steps.DYING, geometric * noise * slots)
        return {**regrets, "best": slots, "bound": 2 * slots}

    rows = table(list(steps.grid(False)), values)
    found = [verdict.status for _, verdict in steps.STEPS.judge(rows)]
    assert found == ["reproduced", "reproduced", status]


@pytest.mark.parametrize(("wrong", "status"), [(0.0, "reproduced"), (0.02, "not-reproduced")])
def test_projection(wrong: float, status: str) -> None:
    rows = table(
        list(projection.grid(False)),
        lambda _, noise: {
            "wrong": wrong * noise,
            "over_cap": wrong,
            "excess": wrong,
            "slots_infeasible": wrong,
        },
    )
    assert [verdict.status for _, verdict in projection.PROJECTION.judge(rows)] == [status]


@pytest.mark.parametrize(
    ("ours", "theirs", "per_job", "statuses"),
    [
        (0.95, 0.9, 0.5, ["reproduced", "reproduced"]),
        (0.95, 1.2, 0.5, ["not-reproduced", "partly"]),  # fairness has no limit per job
        (0.95, 1.2, 1.2, ["not-reproduced", "not-reproduced"]),
    ],
)
def test_comparisons(ours: float, theirs: float, per_job: float, statuses: list[str]) -> None:
    def values(_: dict[str, Any], noise: float) -> dict[str, float]:
        names = ("drf", "binpacking", "spreading")
        rewards = {"fairness": theirs, **dict.fromkeys(names, theirs)}
        rewards |= {f"{name}-job": per_job for name in names}
        return {
            "best": 100.0,
            "oga": 100 * ours * noise,
            **{k: 100 * v for k, v in rewards.items()},
        }

    rows = table(list(comparisons.utilities_grid(False)), values)
    judged = comparisons.UTILITIES.judge(rows)
    assert [verdict.status for _, verdict in judged] == statuses
    if theirs > ours:
        assert "surely worse in 32 (against all four at: " in judged[0][1].text


@pytest.mark.parametrize(("power", "status"), [(-0.5, "reproduced"), (-0.1, "not-reproduced")])
def test_prices(power: float, status: str) -> None:
    rows = table(
        list(prices.grid(False)),
        lambda point, noise: {"distance": noise * point["slots"] ** power},
    )
    assert [verdict.status for _, verdict in prices.PRICES.judge(rows)] == [status]


@pytest.mark.parametrize(
    ("power", "status"), [(1.0, "reproduced"), (0.7, "partly"), (1.4, "not-reproduced")]
)
def test_time_of_a_slot(power: float, status: str) -> None:
    def values(point: dict[str, Any], noise: float) -> dict[str, float]:
        channels = point["instances"] * point["degree"] * point["resources"]
        seconds = 1e-8 * noise * channels**power
        rewards = dict.fromkeys(("best", "oga", "fairness", "drf", "binpacking", "spreading"), 1.0)
        return {"channels": channels, "policy_seconds": seconds, **rewards}

    rows = table(list(scale.grid(False)), values)
    assert scale.SCALE.judge(rows)[0][1].status == status
    assert scale.time_exponents(rows) == pytest.approx([power] * 20)
