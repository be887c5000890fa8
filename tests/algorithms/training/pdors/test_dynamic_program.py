"""The dynamic program against enumeration of all ways to spread the levels."""

import itertools
import math

import numpy as np
import pytest

from algorithms.training.pdors.dynamic_program import default_levels, spread_workload


def cheapest_by_enumeration(theta, slots, level):
    best = math.inf
    for split in itertools.product(range(level + 1), repeat=slots):
        if sum(split) == level:
            best = min(best, sum(theta[k, q] for k, q in enumerate(split)))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    slots, levels = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    theta = rng.exponential(size=(slots, levels + 1))
    theta[rng.random(theta.shape) < 0.3] = math.inf
    theta[:, 0] = 0
    with np.errstate(divide="ignore"):
        table = spread_workload(np.log(theta))
    for k in range(slots):
        for level in range(levels + 1):
            expected = cheapest_by_enumeration(theta, k + 1, level)
            assert math.exp(table.log_cost[k, level]) == pytest.approx(expected, rel=1e-12)
        if table.log_cost[k, levels] < math.inf:
            split = table.levels_per_slot(k)
            assert sum(split) == levels
            spent = sum(theta[j, q] for j, q in enumerate(split))
            assert spent == pytest.approx(math.exp(table.log_cost[k, levels]), rel=1e-12)


def test_costs_far_apart_do_not_overflow():
    log_theta = np.array([[-np.inf, 0.0, 900.0], [-np.inf, -900.0, 2000.0]])
    table = spread_workload(log_theta)
    assert table.levels_per_slot(1) == [1, 1]
    assert table.log_cost[1, 2] == 0.0
    assert table.log_cost[0, 2] == 900.0


def test_no_way_costs_infinity():
    log_theta = np.array([[-np.inf, 0.0, np.inf]])
    assert spread_workload(log_theta).log_cost[0, 2] == math.inf


def test_levels_that_cost_nothing():
    log_theta = np.full((2, 3), -np.inf)
    table = spread_workload(log_theta)
    assert table.log_cost[1, 2] == -math.inf
    assert sum(table.levels_per_slot(1)) == 2


def test_default_number_of_levels():
    assert [default_levels(n) for n in (1, 5, 6, 20)] == [20, 20, 24, 80]
