"""Prices in logarithms, held against high-precision arithmetic."""

import mpmath
import numpy as np
import pytest

from algorithms.training.pdors.prices import PriceFunction, price_bounds
from models.training import Job, Machine, SigmoidUtility, TrainingInstance


def job(name="j", **changes):
    values = {
        "name": name,
        "arrival": 0,
        "epochs": 1,
        "samples": 1000,
        "batch": 4,
        "gradient": 0.0,
        "sample_time": 0.01,
        "workers_per_ps": 2.0,
        "bandwidth_internal": 2.0,
        "bandwidth_external": 1.0,
        "worker": {"gpu": 1, "cpu": 2},
        "ps": {"cpu": 1},
        "utility": SigmoidUtility(kind="sigmoid", priority=10, decay=0.5, target=3),
    }
    return Job(**{**values, **changes})


def instance(jobs, slots=10, capacity=None):
    capacity = capacity or {"gpu": 8, "cpu": 32}
    machines = (Machine(name="m0", capacity=capacity), Machine(name="m1", capacity=capacity))
    return TrainingInstance(
        slots=slots, resources=("gpu", "cpu"), machines=machines, jobs=tuple(jobs)
    )


def test_bounds_of_one_job_by_hand():
    # rate = 100 samples per worker and slot; V/F = 250 samples per worker: 3 slots, duration 2.
    # ceil(V / rate_ext) = 10 worker-slots of (gpu 1 + cpu 3) = 40; T * sum of C = 10 * 80 = 800.
    # 1/mu = 40/800; L = 1/2 * 40/800 * u(9) / 40 = u(9) / 1600.
    one = job()
    bounds = price_bounds(instance([one]))
    u = one.utility.value
    assert np.exp(bounds.log_highest) == pytest.approx([u(2) / 1, u(2) / 3], rel=1e-12)
    assert np.exp(bounds.log_lowest) == pytest.approx(u(9) / 1600, rel=1e-12)


def test_impossible_jobs_do_not_set_prices():
    small = instance([job()])
    huge = job(
        "huge",
        epochs=10**6,
        utility=SigmoidUtility(kind="sigmoid", priority=1e9, decay=0, target=0),
    )
    both = instance([job(), huge])
    assert both.possible_jobs == (0,)
    assert price_bounds(both).log_lowest == price_bounds(small).log_lowest
    assert np.array_equal(price_bounds(both).log_highest, price_bounds(small).log_highest)


def test_no_possible_job_gives_a_price_all_the_same():
    bounds = price_bounds(instance([]))
    assert bounds.log_lowest == 0
    assert np.array_equal(bounds.log_highest, [0, 0])
    assert bounds.largest_log_ratio == 1


def test_a_resource_that_no_job_needs_is_priced_lowest():
    bounds = price_bounds(instance([job(worker={"cpu": 1})]))
    assert bounds.log_highest[0] == bounds.log_lowest
    assert bounds.log_highest[1] > bounds.log_lowest


@pytest.mark.parametrize("decay", [0.0, 0.7, 5.0, 40.0])
def test_price_function_against_high_precision(decay):
    """Also with ln(U/L) of several hundred: nothing overflows, and the ends are L and U."""
    steep = job(utility=SigmoidUtility(kind="sigmoid", priority=77, decay=decay, target=1.5))
    case = instance([steep])
    bounds = price_bounds(case)
    with mpmath.workdps(60):

        def u(duration):
            return 77 / (1 + mpmath.exp(mpmath.mpf(decay) * (duration - mpmath.mpf("1.5"))))

        lowest = u(9) / 1600
        highest = [u(2), u(2) / 3]
        assert bounds.log_lowest == pytest.approx(float(mpmath.log(lowest)), rel=1e-13)
        function = PriceFunction(bounds, case.capacity)
        for share in (0.0, 0.25, 0.5, 1.0):
            found = function.log_prices(share * case.capacity)
            for r in range(2):
                exact = mpmath.log(lowest) + share * mpmath.log(highest[r] / lowest)
                assert found[0, r] == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
    if decay == 40.0:
        assert bounds.largest_log_ratio > 250


def test_no_price_where_there_is_no_capacity():
    case = instance([job()], capacity={"cpu": 32})
    prices = PriceFunction(price_bounds(case), case.capacity).log_prices(np.zeros((3, 2, 2)))
    assert np.all(prices[..., 0] == -np.inf)
    assert np.all(np.isfinite(prices[..., 1]))


def test_a_given_ratio_raises_the_lowest_price_and_keeps_the_highest():
    bounds = price_bounds(instance([job()]))
    given = bounds.with_largest_log_ratio(8.0)
    assert given.largest_log_ratio == pytest.approx(8.0)
    top = bounds.log_highest.argmax()
    assert given.log_highest[top] == bounds.log_highest[top]
    assert given.log_lowest > bounds.log_lowest
    assert (given.log_highest >= given.log_lowest).all()
    # Half full: half of the logarithm.
    function = PriceFunction(given, np.array([[8.0, 32.0]]))
    middle = function.log_prices(np.array([[4.0, 16.0]]))
    assert middle[0, top] == pytest.approx(given.log_lowest + 4.0)
