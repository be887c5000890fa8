"""The allocation-cost relationship: by hand, by formula, and in the limit."""

import math
from itertools import pairwise

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.pdors.prices import PriceBounds, PriceFunction
from algorithms.training.theory.allocation_cost import (
    differential_ratio,
    job_steps,
    share_at_equality,
)
from experiments.training.counterexamples import bargain
from models.training import TrainingInstance
from tests.training_factories import random_tiny

FACTOR = 1 / 30


def test_one_machine_taken_at_once():
    online = run(bargain(), "pdors")
    (step,) = job_steps(online.log, FACTOR)
    log_ratio = float(online.log.prices.bounds.log_ratio[0])
    low = math.exp(online.log.prices.bounds.log_lowest)
    assert (step.order, step.cells, step.failing, step.failing_plain) == (0, 1, 1, 1)
    assert step.largest_share == 1.0
    assert step.worst == step.median == pytest.approx(log_ratio / math.expm1(log_ratio) / FACTOR)
    assert step.primal == pytest.approx(1e-4)
    payoff = 1e-4 - 2 * low  # both units of the machine at price L
    assert step.dual == pytest.approx(payoff + 2 * low * math.expm1(log_ratio))
    assert step.primal < FACTOR / log_ratio * step.dual


@pytest.mark.parametrize("seed", range(12))
def test_cells_by_the_definition(seed):
    """Recomputed from prices themselves, without the exponential in the formula."""
    instance: TrainingInstance = random_tiny(seed)
    log = run(instance, "pdors", seed=seed).log
    epsilon = log.prices.bounds.largest_log_ratio
    states = [s.copy() for s in log.allocated_over_time()]
    steps = {s.order: s for s in job_steps(log, FACTOR)}
    for order, (before, after) in enumerate(pairwise(states)):
        if not (after > before).any():
            assert order not in steps
            continue
        old, new = np.exp(log.prices.log_prices(before)), np.exp(log.prices.log_prices(after))
        cells = after > before
        left = (old * (after - before))[cells]
        right = (FACTOR / epsilon * instance.capacity * (new - old))[cells]
        found = steps[order]
        assert found.cells == cells.sum()
        assert found.failing == (left < right).sum()
        assert found.worst == pytest.approx(np.min(left / np.where(right > 0, right, np.nan)))
        decision = log.decisions[order]
        assert found.dual == pytest.approx(
            decision.payoff + float((instance.capacity * (new - old)).sum())
        )


def test_the_differential_version_is_an_equality():
    bounds = PriceBounds(-5.0, np.array([7.0, 3.0]))
    prices = PriceFunction(bounds, np.array([[2.0, 5.0], [0.0, 1.0]]))
    assert differential_ratio(prices) == pytest.approx(1.0, abs=1e-5)
    # A larger step already fails, by about half of k z.
    assert differential_ratio(prices, 0.1) == pytest.approx(1.2 / math.expm1(1.2))


def test_share_at_equality_is_the_root():
    z = share_at_equality(100.0, FACTOR)
    assert 100 * z == pytest.approx(FACTOR * math.expm1(100 * z))
    assert 0.045 < z < 0.055  # at ln(U/L) = 100 a job may take 5 % of a machine
    assert share_at_equality(10.0, 1.0) == 0.0
