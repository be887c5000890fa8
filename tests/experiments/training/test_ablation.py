"""training/ablation: grid, verdicts on rows whose answer is known, and one row."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.training.ablation import ABLATION, BOUND, FULL, PARTS, TARGETS, VARIANTS, grid
from experiments.training.ablation_task import task
from experiments.training.ablation_verdict import (
    certified_ratios,
    judge_certified,
    judge_parts,
    losses,
    median_interval,
)


def make_rows(loss, ratio=1.1, seeds=20):
    """Utility 1000 minus the variant's loss, with the seed's noise, and the bound over it."""
    rng = np.random.Generator(np.random.PCG64(0))
    rows = []
    for seed in range(seeds):
        for machines in TARGETS:
            level = 1000 + rng.normal(0, 200)
            for variant in VARIANTS:
                utility = level - loss.get(variant, 0.0) + rng.normal(0, 0.1)
                rows.append((seed, machines, variant, utility, math.nan))
                if variant == FULL:
                    rows.append((seed, machines, BOUND, level, utility * ratio))
    return pd.DataFrame(rows, columns=["seed", "machines", "variant", "utility", "upper"])


def test_each_part_differs_from_the_full_algorithm_in_one_parameter():
    assert VARIANTS[FULL] == ("pdors-plus", {})
    assert all(len(options) == 1 for options in PARTS.values())
    assert set(PARTS) < set(VARIANTS)


@pytest.mark.parametrize("quick", [True, False])
def test_grid(quick):
    points = grid(quick)
    assert len(points) == (2 if quick else 3) * (len(VARIANTS) + 1)
    assert all(("time_limit" in point) == (point["variant"] == BOUND) for point in points)
    assert quick or {point["machines"] for point in points} == set(TARGETS)


def test_parts_that_bring_something():
    rows = make_rows(dict.fromkeys(PARTS, 5.0))
    assert losses(rows, 20)["20 levels"].mean() == pytest.approx(5, abs=0.2)
    assert judge_parts(rows).status == "reproduced"
    assert (
        judge_parts(make_rows({**dict.fromkeys(PARTS, 5.0), "20 levels": 0.0})).status == "partly"
    )
    assert judge_parts(make_rows(dict.fromkeys(PARTS, -5.0))).status == "not-reproduced"
    assert judge_parts(make_rows(dict.fromkeys(PARTS, 5.0), seeds=5)).status == "not-run"


def test_certified_ratio():
    rows = make_rows({}, ratio=1.01)
    assert certified_ratios(rows, 50).tolist() == pytest.approx([1.01] * 20)
    assert judge_certified(rows).status == "reproduced"
    verdict = judge_certified(make_rows({}, ratio=1.1))  # too much for H = 100
    assert verdict.status == "not-reproduced"
    assert "target 1.03" in verdict.text
    assert judge_certified(rows[rows["machines"] == 20]).status == "not-run"


def test_median_within_target_but_not_its_interval():
    rows = make_rows({}, ratio=1.0)
    high = (rows["variant"] == BOUND) & (rows["machines"] == 100) & (rows["seed"] < 8)
    rows.loc[high, "upper"] *= 2
    assert judge_certified(rows).status == "partly"


def test_median_interval_is_exact():
    # Of 20 values the 6th and the 15th: probability 1 - 2 P(Bin(20, 1/2) <= 5) = 95.9 %.
    assert median_interval(list(range(1, 21))) == (10.5, 6.0, 15.0)
    assert median_interval([3.0]) == (3.0, -np.inf, np.inf)


def test_a_row_of_a_variant_and_of_the_bound():
    point = {"jobs": 6, "slots": 6, "machines": 3, "mix": "default", "preset": "calibrated"}
    bound = task({**point, "variant": BOUND, "time_limit": 2.0}, 1)
    for variant in (FULL, "no promise", "pdors"):
        row = task({**point, "variant": variant}, 1)
        assert 0 <= row["utility"] <= bound["upper"] * (1 + 1e-9)
        assert math.isnan(row["upper"])
        assert set(ABLATION.required) <= set(row)
    assert bound["utility"] <= bound["upper"]
