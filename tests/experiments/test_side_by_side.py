"""Ratios of times, and intervals that hold what they promise."""

import numpy as np
import pytest

from experiments.side_by_side import exponent, interleaved, quartiles, ratio, ratios_of


def test_ways_take_turns():
    order = []
    ways = {"a": lambda: order.append("a"), "b": lambda: order.append("b") or len(order)}
    seconds, answers = interleaved(ways, 3)
    assert answers == {"a": None, "b": 6}
    assert order == ["a", "b"] * 3
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}


@pytest.mark.parametrize("count", [6, 15, 40])
def test_the_interval_holds_the_median_as_often_as_it_says(count):
    rng = np.random.default_rng(count)
    held = 0
    for _ in range(2000):
        found = ratio("a_over_b", np.exp(rng.normal(size=count)), np.ones(count))
        assert found["low"] <= found["a_over_b"] <= found["high"]
        held += found["low"] <= 1.0 <= found["high"]
    assert 0.94 <= held / 2000  # 95 %, less three standard errors of the count


def test_few_pairs_are_shown_with_all_they_have():
    found = ratio("a_over_b", [4.0, 2.0, 6.0], [1.0, 1.0, 1.0])
    assert found == {"a_over_b": 4.0, "low": 2.0, "high": 6.0}


def test_quartiles_are_in_milliseconds():
    assert quartiles([0.001, 0.002, 0.003]) == pytest.approx({"ms": 2, "ms_q1": 1.5, "ms_q3": 2.5})


def test_exponent_of_a_power():
    assert exponent([1, 10, 100], [2.0, 20.0 * 10**0.5, 2000.0]) == pytest.approx(1.5)


def test_ratios_are_found_wherever_they_are():
    content = {
        "seed": 0,
        "table": {"x": {"ms": 2.0, "warm_over_it": 3, "low": 1.0, "high": 4.0}},
        "two": {"a_over_c": 5.0, "b_over_c": 6.0, "low": 1.0},
    }
    assert dict(ratios_of(content)) == {
        "table / x / warm_over_it": {"ratio": 3.0, "low": 1.0, "high": 4.0},
        "two / a_over_c": {"ratio": 5.0},
        "two / b_over_c": {"ratio": 6.0},
    }
