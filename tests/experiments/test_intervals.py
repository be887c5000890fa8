import math

import numpy as np
import pytest

from experiments.intervals import mean_interval


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
