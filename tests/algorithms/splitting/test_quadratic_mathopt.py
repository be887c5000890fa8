"""Quadratic 0-1 programs by the SCIP in OR-tools: by enumeration, and what it refuses."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from algorithms.splitting.exact.quadratic_mathopt import solve_by_mathopt
from models.solver import SolverError, Status


def quadratic(seed: int, size: int = 5) -> tuple[pyo.ConcreteModel, np.ndarray, np.ndarray]:
    stream = np.random.default_rng(seed)
    products, single = stream.integers(-5, 6, (size, size)), stream.integers(-5, 6, size)
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(size), domain=pyo.Binary)
    model.two = pyo.Constraint(expr=sum(model.x.values()) == 2)
    model.last = pyo.Constraint(expr=1 + model.x[0] <= 2 - model.x[1])
    terms = [
        int(products[i, k]) * model.x[i] * model.x[k] for i in range(size) for k in range(size)
    ]
    terms += [int(single[i]) * model.x[i] for i in range(size)]
    model.cost = pyo.Objective(expr=sum(terms) + 7)
    return model, products, single


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_enumeration(seed: int) -> None:
    model, products, single = quadratic(seed)
    points = [np.array(x) for x in itertools.product((0, 1), repeat=5)]
    allowed = [x for x in points if x.sum() == 2 and x[0] + x[1] <= 1]
    best = min(x @ products @ x + single @ x + 7 for x in allowed)
    status, objective, bound = solve_by_mathopt(model, time_limit=10, gap=1e-9)
    assert status is Status.OPTIMAL
    assert objective == pytest.approx(best)
    assert bound == pytest.approx(best)
    found = np.array([round(model.x[i].value) for i in range(5)])
    assert found @ products @ found + single @ found + 7 == pytest.approx(best)


def test_an_infeasible_program_has_no_numbers() -> None:
    model, _, _ = quadratic(0)
    model.none = pyo.Constraint(expr=sum(model.x.values()) >= 3)
    status, objective, _ = solve_by_mathopt(model, time_limit=10, gap=1e-9)
    assert (status, objective) == (Status.INFEASIBLE, None)


def test_what_is_not_quadratic_is_refused() -> None:
    model, _, _ = quadratic(0)
    model.product = pyo.Constraint(expr=model.x[0] * model.x[1] <= 1)
    with pytest.raises(SolverError, match="constraint product is not linear"):
        solve_by_mathopt(model, time_limit=10, gap=1e-9)
    model, _, _ = quadratic(0)
    model.cost.set_value(model.x[0] * model.x[1] * model.x[2])
    with pytest.raises(SolverError, match="not a quadratic one"):
        solve_by_mathopt(model, time_limit=10, gap=1e-9)
    model, _, _ = quadratic(0)
    model.cost.sense = pyo.maximize
    with pytest.raises(SolverError, match="to be minimised"):
        solve_by_mathopt(model, time_limit=10, gap=1e-9)
