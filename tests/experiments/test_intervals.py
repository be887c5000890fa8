import math

import numpy as np
import pytest

from experiments.intervals import binomial_interval, mean_interval


def test_example_worked_by_hand() -> None:
    # Mean 2, deviation 1, n = 3; Student's t for 95 % and 2 degrees of freedom is 4.302653 in
    # any table.
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert (low, high) == pytest.approx((2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)))


def test_a_single_measurement_has_no_interval() -> None:
    mean, low, high = mean_interval([5.0])
    assert mean == 5.0
    assert math.isnan(low)
    assert math.isnan(high)


def test_equal_measurements_leave_no_doubt() -> None:
    assert mean_interval([0.1] * 4) == pytest.approx((0.1, 0.1, 0.1))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_intervals_hold_the_mean_as_often_as_they_say(level: float) -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    trials = 4000
    held = sum(
        low <= 3.0 <= high
        for _, low, high in (
            mean_interval(rng.normal(3.0, 2.0, size=6).tolist(), level) for _ in range(trials)
        )
    )
    # Four standard deviations of a binomial share.
    assert abs(held / trials - level) < 4 * math.sqrt(level * (1 - level) / trials)


@pytest.mark.parametrize(
    ("count", "draws", "low", "high"),
    [
        (0, 10, 0.0, 0.30850),  # 1 - 0.025 ** (1 / 10)
        (10, 10, 0.69150, 1.0),
        (2, 10, 0.02521, 0.55610),  # any table of Clopper and Pearson's
        (0, 0, 0.0, 1.0),
    ],
)
def test_exact_binomial_intervals(count: int, draws: int, low: float, high: float) -> None:
    assert binomial_interval(count, draws) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize("chance", [0.001, 0.03, 0.5])
def test_binomial_intervals_hold_the_probability_at_least_as_often_as_they_say(
    chance: float,
) -> None:
    draws, level = 200, 0.9
    ends = [binomial_interval(k, draws, level) for k in range(draws + 1)]
    held = sum(
        math.comb(draws, k) * chance**k * (1 - chance) ** (draws - k)
        for k, (low, high) in enumerate(ends)
        if low <= chance <= high
    )
    assert held >= level
