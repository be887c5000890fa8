"""(1)-(5) where times or budgets are many powers of ten apart: right, or not claimed."""

import logging

import pytest

from algorithms.splitting import run
from algorithms.splitting.exact.integer_columns import solve_columns
from models.splitting import SplittingInstance, audit
from tests.splitting_factories import make_instance, make_job, random_small, with_budgets


def far_apart() -> SplittingInstance:
    """The slow node and the slow link take 1e11 times as long as the better of two ways."""
    rates = [1e-3, 1e8, 1.1e8]
    links = [(0, 1, 1e4), (0, 2, 9e3), (1, 0, 1e-3), (2, 0, 1e6), (1, 2, 1e7), (0, 1, 1e-3)]
    jobs = [
        make_job(f"j{j}", compute=(1e5, 30.0, 1e-4), data=(300.0, 2e8, 9.0, 10.0)) for j in (0, 1)
    ]
    return make_instance(rates, links, jobs, memory=[None, 4.0, 4.0])


@pytest.mark.parametrize("method", ["columns", "arcs"])
def test_slow_ways_beside_fast_ones_spoil_nothing(method):
    instance = far_apart()
    expected = run(instance, "ilp").solution.objective
    outcome = run(instance, "ilp", method=method)
    assert audit(instance, outcome.solution).feasible
    assert outcome.log.lower <= expected * (1 + 1e-8)
    assert outcome.log.upper >= expected * (1 - 1e-8)
    if outcome.log.status == "optimal":
        assert outcome.solution.objective == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("method", ["columns", "arcs"])
def test_next_to_nothing_in_a_budget_is_not_reported_as_bad_scaling(method, caplog):
    jobs = [make_job(f"j{j}", compute=(1e9, 1e-3), data=(1.0, 1.0, 1.0)) for j in range(3)]
    links = [(0, 1, 1.0), (1, 0, 1.0)]
    instance = make_instance([1e9, 1e9], links, jobs, compute_budget=[2.1e9, 1.1e9])
    with caplog.at_level(logging.WARNING):
        outcome = run(instance, "ilp", method=method)
    assert caplog.messages == []
    assert audit(instance, outcome.solution).feasible
    assert outcome.solution.objective == pytest.approx(3 + 2)  # one job goes there and back


def test_few_columns_or_many_prove_the_same():
    for seed in range(40):
        instance = with_budgets(random_small(seed, nodes=4, jobs=3, layers=3), seed)
        few, many = (solve_columns(instance, most_columns=most) for most in (20, 50_000))
        assert few.status == many.status
        assert few.upper == pytest.approx(many.upper, rel=1e-8)
