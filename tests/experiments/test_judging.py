"""Verdicts on synthetic rows whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.intervals import mean_interval
from experiments.judging import (
    LEAST_SEEDS,
    best_at,
    better,
    compare,
    gap_grows,
    rises_then_flattens,
)
from experiments.training.feasibility import crossings, judge, task
from experiments.training.mix_judging import log_gains, shrinks_with_mix

POINTS = (20, 40, 60)


def make_rows(value, policies=("pdors", "fifo", "drf"), points=POINTS, seeds=20, axis="machines"):
    """Rows with value(policy, point) plus noise of the seed, which pairing removes."""
    rng = np.random.Generator(np.random.PCG64(1))
    rows = []
    for seed in range(seeds):
        common = rng.normal(0, 50)  # much larger than the differences
        for point in points:
            for policy in policies:
                noise = common + rng.normal(0, 0.5)
                rows.append(
                    {
                        "seed": seed,
                        "policy": policy,
                        axis: point,
                        "utility": value(policy, point) + noise,
                    }
                )
    return pd.DataFrame(rows)


def above(policy, point):
    return {"pdors": 110, "fifo": 100, "drf": 105}[policy]


BETTER = better("utility", "machines", ("fifo", "drf"), policy="pdors")
GROWS = gap_grows("utility", "machines", ("fifo", "drf"), policy="pdors")


def test_intervals_hold_together_by_bonferroni():
    values = [1.0, 2.0, 4.0, 5.0]
    one, two = compare([("a", values), ("b", values)])
    assert (one.mean, one.low, one.high) == mean_interval(values, 1 - 0.05 / 2)
    assert (two.low, two.high) == (one.low, one.high)
    assert one.low < compare([("a", values)])[0].low
    assert compare([]) == []


def test_a_policy_above_everywhere_is_reproduced_though_seeds_differ_more():
    verdict = BETTER(make_rows(above))
    assert verdict.status == "reproduced"
    assert verdict.numbers["n"] == 20
    assert verdict.numbers["estimate"] == pytest.approx(5, abs=0.5)  # against drf, the stronger
    assert 4 < verdict.numbers["low"] < verdict.numbers["estimate"] < verdict.numbers["high"] < 6
    assert "6 of 6 comparisons" in verdict.text


def test_above_one_of_two_is_partly_and_the_text_says_where_not():
    rows = make_rows(lambda policy, point: {"pdors": 110, "fifo": 100, "drf": 115}[policy])
    verdict = BETTER(rows)
    assert verdict.status == "partly"
    assert "surely worse than DRF at machines = 20, 40, 60" in verdict.text
    assert verdict.numbers["high"] < 0


def test_above_nobody_and_no_difference_at_all_are_not_reproduced():
    assert BETTER(make_rows(lambda *_: 100)).status == "not-reproduced"
    below = make_rows(lambda policy, _: 90 if policy == "pdors" else 100)
    assert BETTER(below).status == "not-reproduced"


def test_less_is_better_with_sign_minus_one():
    rows = make_rows(lambda policy, _: 90 if policy == "pdors" else 100)
    judged = better("utility", "machines", ("fifo", "drf"), sign=-1, policy="pdors")(rows)
    assert judged.status == "reproduced"
    assert judged.numbers["estimate"] == pytest.approx(10, abs=0.5)


def test_equal_rows_without_any_spread_are_not_better():
    rows = pd.DataFrame(
        [
            {"seed": seed, "policy": policy, "machines": 1, "utility": 7.0}
            for seed in range(20)
            for policy in ("pdors", "fifo", "drf")
        ]
    )
    assert BETTER(rows).status == "not-reproduced"


@pytest.mark.parametrize(("seeds", "status"), [(LEAST_SEEDS - 1, "not-run"), (20, "reproduced")])
def test_fewer_seeds_than_twenty_are_not_judged(seeds, status):
    verdict = BETTER(make_rows(above, seeds=seeds))
    assert verdict.status == status
    assert verdict.numbers["n"] == seeds


def test_seeds_without_all_points_are_left_out():
    rows = make_rows(above, seeds=21)
    assert BETTER(rows.iloc[:-1]).numbers["n"] == 20


@pytest.mark.parametrize(
    ("fifo_slope", "drf_slope", "status"),
    [(-0.5, -0.2, "reproduced"), (-0.5, 0.2, "partly"), (0.1, 0.2, "not-reproduced")],
)
def test_a_growing_gap_is_seen_in_the_slope(fifo_slope, drf_slope, status):
    slopes = {"pdors": 0, "fifo": fifo_slope, "drf": drf_slope}
    verdict = GROWS(make_rows(lambda policy, point: 100 + slopes[policy] * point))
    assert verdict.status == status
    assert verdict.numbers["estimate"] == pytest.approx(-max(fifo_slope, drf_slope), abs=0.02)


def test_a_gain_that_begins_as_a_loss_grows_only_partly():
    rows = make_rows(lambda policy, point: point if policy == "pdors" else 40)
    verdict = GROWS(rows)
    assert verdict.status == "partly"
    assert verdict.numbers["low"] > 0
    assert "surely a loss against FIFO at machines = 20;" in verdict.text


def test_a_slope_is_the_least_squares_slope():
    rows = make_rows(above, seeds=3)
    table = rows.pivot_table(index="seed", columns=["machines", "policy"], values="utility")
    expected = [
        np.polyfit(POINTS, [table[p, "pdors"][s] - table[p, "drf"][s] for p in POINTS], 1)[0]
        for s in range(3)
    ]
    judged = gap_grows("utility", "machines", ("drf",), policy="pdors")(rows)
    assert judged.numbers["estimate"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        ({0.6: 50, 1.0: 100, 1.2: 80}, "reproduced"),
        ({0.6: 50, 1.0: 100, 1.2: 99.9999}, "partly"),
        ({0.6: 50, 1.0: 100, 1.2: 120}, "not-reproduced"),
    ],
)
def test_best_at_one_value_which_rows_do_not_write(curve, status):
    rows = make_rows(lambda _, x: curve[x], ("pdors",), tuple(curve), axis="set_gain")
    if status == "partly":  # the same noise at both, so that the tiny advantage is not sure
        tied = rows["set_gain"] == 1.2
        noise = np.random.Generator(np.random.PCG64(2)).normal(0, 1, tied.sum())
        own = rows[rows["set_gain"] == 1.0]["utility"].to_numpy()
        rows.loc[tied, "utility"] = own - (noise - noise.mean()) - 0.001
    rows["set_gain"] = rows["set_gain"].where(rows["set_gain"] != 1.0)
    assert best_at("utility", "set_gain", 1.0, 1.0)(rows).status == status


RATIOS = (1.0, 10.0, 20.0, 30.0, 60.0)


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        ({1: 0, 10: 90, 20: 190, 30: 290, 60: 300}, "reproduced"),  # bends at 30
        ({1: 0, 10: 200, 20: 205, 30: 210, 60: 240}, "partly"),  # bends at 10
        ({1: 0, 10: 90, 20: 190, 30: 290, 60: 590}, "not-reproduced"),  # a straight line
        ({1: 100, 10: 100, 20: 100, 30: 100, 60: 100}, "not-reproduced"),
        ({1: 300, 10: 200, 20: 100, 30: 50, 60: 10}, "not-reproduced"),  # falls
    ],
)
def test_rising_then_flattening(curve, status):
    rows = make_rows(lambda _, x: curve[int(x)], ("pdors",), RATIOS, axis="ratio")
    judged = rises_then_flattens("utility", "ratio", 1.0, 30.0, 60.0)(rows)
    assert judged.status == status
    assert judged.numbers["estimate"] == pytest.approx(curve[30] - curve[1], abs=1)


def mix_rows(default_gain, google_gain, zero=False):
    rng = np.random.Generator(np.random.PCG64(3))
    rows = []
    for seed in range(20):
        for jobs in (20, 60):
            for mix, gain in (("default", default_gain), ("google", google_gain)):
                other = math.exp(rng.normal(4, 1))
                mine = other * gain * math.exp(rng.normal(0, 0.02))
                size = {"seed": seed, "jobs": jobs, "slots": 8, "machines": 4, "mix": mix}
                nothing = zero and seed == 0 and jobs == 20 and mix == "google"
                rows.append({**size, "policy": "pdors", "utility": mine})
                rows.append({**size, "policy": "oasis", "utility": 0.0 if nothing else other})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("default_gain", "google_gain", "status"),
    [(1.5, 1.2, "reproduced"), (1.2, 1.5, "not-reproduced")],
)
def test_a_gain_that_shrinks_with_the_mix(default_gain, google_gain, status):
    verdict = shrinks_with_mix("jobs")(mix_rows(default_gain, google_gain))
    assert verdict.status == status
    assert verdict.numbers["estimate"] == pytest.approx(
        math.log(default_gain / google_gain), abs=0.02
    )


def test_runs_without_finite_ratio_are_counted_and_their_seed_left_out():
    rows = mix_rows(1.5, 1.2, zero=True)
    assert len(log_gains(rows, "pdors", "oasis")) == 79
    verdict = shrinks_with_mix("jobs")(rows)
    assert "1 runs without finite ratio left out" in verdict.text
    assert verdict.numbers["n"] == 19
    assert verdict.status == "not-run"


def test_feasibility_curves_by_hand():
    """W_b = 15, r = 401, delta = 0.1: the ratio is 3 ln(12030) / 15."""
    ratio = 3 * math.log(12030) / 15
    gain = 1 + ratio / 2 - math.sqrt(ratio**2 / 4 + ratio)
    row = task({"cover": 20, "delta": 0.1}, 0)
    assert row["gain"] == pytest.approx(gain)
    assert row["right_side"] == pytest.approx(3 / math.exp(10 * gain))
    assert not row["meaningful"]
    assert task({"cover": 40, "delta": 0.1}, 0)["meaningful"]


def curves(crossing):
    """Flat curves that meet delta where they are told."""
    return pd.DataFrame(
        [
            {
                "cover": cover,
                "delta": delta,
                "right_side": at,
                "meaningful": at <= delta,
                "gain": 0.3,
            }
            for cover, at in crossing.items()
            for delta in np.linspace(0.02, 0.1, 9)
        ]
    )


@pytest.mark.parametrize(
    ("crossing", "status"),
    [
        ({20: 0.08, 30: 0.055, 40: 0.03}, "reproduced"),
        ({20: 0.08, 30: 0.055, 40: 0.07}, "partly"),
        ({20: 0.03, 30: 0.055}, "not-reproduced"),
        ({20: 0.5, 30: 0.01}, "not-reproduced"),  # nothing crosses
    ],
)
def test_crossings_that_fall(crossing, status):
    rows = curves(crossing)
    assert judge(rows).status == status
    inside = {cover: at for cover, at in crossing.items() if 0.02 < at < 0.1}
    assert crossings(rows) == pytest.approx(inside)
