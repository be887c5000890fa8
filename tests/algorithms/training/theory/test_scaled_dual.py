"""Scaled prices: still a bound, and the least of them."""

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.exact.brute_force import brute_force
from algorithms.training.theory.certificate import dual_certificate
from algorithms.training.theory.scaled_dual import best_scaled_dual, dual_value
from tests.training_factories import random_tiny


@pytest.mark.parametrize("seed", range(15))
def test_bounds_the_optimum_and_is_no_worse_than_any_scale(seed):
    instance = random_tiny(seed)
    online = run(instance, "pdors", seed=seed)
    log_prices = online.log.log_prices()
    found = best_scaled_dual(instance, log_prices)
    assert dual_value(instance, log_prices, 1.0) == pytest.approx(
        dual_certificate(online.solution, online.log).dual
    )
    assert dual_value(instance, log_prices, found.scale) == pytest.approx(found.dual)
    best = brute_force(instance)
    assert found.dual >= best - 1e-9
    # D is convex in the scale, so that the search cannot have missed a lower place.
    for scale in (0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0):
        assert found.dual <= dual_value(instance, log_prices, scale) * (1 + 1e-3)


def test_a_price_in_between_is_found():
    """Two jobs of worth 10 for one place: at half the price 10 the sum is 10, not 20."""
    from experiments.training.counterexamples import worker_only

    instance = worker_only()
    log_prices = np.log(np.array([[[10.0], [10.0]]]))
    found = best_scaled_dual(instance, log_prices)
    # D(s) = 2 max(10 - 20 s, 0) + 30 s: least at s = 1/2.
    assert found.scale == pytest.approx(0.5, rel=1e-2)
    assert found.dual == pytest.approx(15.0, rel=1e-2)
