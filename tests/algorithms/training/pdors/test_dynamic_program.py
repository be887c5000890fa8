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


def plain(log_theta):
    """The recursion with NumPy's logaddexp, of whose minima the first is taken."""
    slots, size = log_theta.shape
    log_cost, choice = np.empty((slots, size)), np.zeros((slots, size), dtype=int)
    before = np.where(np.arange(size) == 0, -np.inf, np.inf)
    for k in range(slots):
        for q in range(size):
            total = np.logaddexp(log_theta[k, : q + 1], before[q::-1])
            choice[k, q] = np.argmin(total)
            log_cost[k, q] = total[choice[k, q]]
        before = log_cost[k]
    return log_cost, choice


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_plain_recursion_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    slots, levels = int(rng.integers(1, 9)), int(rng.integers(1, 60))
    spread = [0.3, 5.0, 400.0][seed % 3]
    log_theta = np.sort(rng.uniform(0, spread, (slots, levels + 1)), axis=1)
    log_theta[rng.random(slots) < 0.5] = log_theta[0]  # equal slots: ties
    if seed % 2:
        log_theta = np.round(log_theta)
    log_theta[rng.random(log_theta.shape) < 0.2] = math.inf
    log_theta[:, 0] = -math.inf
    table = spread_workload(log_theta)
    log_cost, choice = plain(log_theta)
    assert np.array_equal(table.log_cost, log_cost)
    assert np.array_equal(table.choice, choice)
    for last in range(slots):
        if log_cost[last, -1] < math.inf:
            levels_done = table.levels_per_slot(last)
            assert table.last_slot(last) == max(k for k, q in enumerate(levels_done) if q)


def test_default_number_of_levels():
    assert [default_levels(n) for n in (1, 5, 6, 20)] == [20, 20, 24, 80]
