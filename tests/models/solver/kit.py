"""Small problems with known answers, and the conditions that any answer must meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyomo.environ as pyo

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Problem:
    build: Callable[[], pyo.ConcreteModel]
    objective: float
    primal: dict[str, float]
    dual: dict[str, float] = field(default_factory=dict)
    integer: bool = False

    @property
    def name(self) -> str:
        return self.build.__name__


def maximise_three_rows() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    m.a = pyo.Constraint(expr=m.x <= 4)
    m.b = pyo.Constraint(expr=2 * m.y <= 12)
    m.c = pyo.Constraint(expr=3 * m.x + 2 * m.y <= 18)
    m.o = pyo.Objective(expr=3 * m.x + 5 * m.y, sense=pyo.maximize)
    return m


def minimise_with_constant() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    m.a = pyo.Constraint(expr=m.x + m.y >= 4)
    m.b = pyo.Constraint(expr=m.x + 3 * m.y - 1 >= 5)
    m.o = pyo.Objective(expr=2 * m.x + 3 * m.y + 10)
    return m


def equation() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.NonNegativeReals), pyo.Var(domain=pyo.NonNegativeReals)
    m.a = pyo.Constraint(expr=m.x + m.y == 5)
    m.b = pyo.Constraint(expr=m.x - 2 * m.y >= -4)
    m.o = pyo.Objective(expr=m.x - m.y)
    return m


def two_sided_row() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.a = pyo.Constraint(expr=(1, m.x - m.y, 3))
    m.b = pyo.Constraint(expr=m.x + m.y <= 7)
    m.o = pyo.Objective(expr=m.x + 2 * m.y, sense=pyo.maximize)
    return m


def columns_at_bounds() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 3)), pyo.Var(bounds=(1, None))
    m.a = pyo.Constraint(expr=m.x + m.y <= 100)
    m.o = pyo.Objective(expr=-m.x + 2 * m.y)
    return m


def fixed_and_unused() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.unused = pyo.Var(bounds=(2, 2))
    m.x, m.fixed = pyo.Var(bounds=(0, None)), pyo.Var()
    m.fixed.fix(3)
    m.a = pyo.Constraint(expr=m.x + m.fixed <= 8)
    m.o = pyo.Objective(expr=m.fixed * m.x + m.fixed, sense=pyo.maximize)
    return m


def knapsack() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1, 2], domain=pyo.Binary)
    value, weight = [60, 100, 120], [10, 20, 30]
    m.a = pyo.Constraint(expr=sum(weight[i] * m.x[i] for i in m.x) <= 50)
    m.o = pyo.Objective(expr=sum(value[i] * m.x[i] for i in m.x), sense=pyo.maximize)
    return m


def whole_numbers() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.NonNegativeIntegers)
    m.y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(None, 2))
    m.a = pyo.Constraint(expr=2 * m.x + m.y >= 5)
    m.o = pyo.Objective(expr=3 * m.x + 2 * m.y + 5)
    return m


def fixed_charge() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.flow = pyo.Var(bounds=(0, None))
    m.open = pyo.Var(domain=pyo.Binary)
    m.a = pyo.Constraint(expr=m.flow <= 8 * m.open)
    m.o = pyo.Objective(expr=2 * m.flow - 5 * m.open, sense=pyo.maximize)
    return m


PROBLEMS = [
    Problem(maximise_three_rows, 36, {"x": 2, "y": 6}, {"a": 0, "b": 1.5, "c": 1}),
    Problem(minimise_with_constant, 19, {"x": 3, "y": 1}, {"a": 1.5, "b": 0.5}),
    Problem(equation, -1, {"x": 2, "y": 3}, {"a": 1 / 3, "b": 2 / 3}),
    Problem(two_sided_row, 10, {"x": 4, "y": 3}, {"a": -0.5, "b": 1.5}),
    Problem(columns_at_bounds, -1, {"x": 3, "y": 1}, {"a": 0}),
    Problem(fixed_and_unused, 18, {"x": 5, "unused": 2}, {"a": 3}),
    Problem(knapsack, 220, {"x[0]": 0, "x[1]": 1, "x[2]": 1}, integer=True),
    Problem(whole_numbers, 13, {"x": 2, "y": 1}, integer=True),
    Problem(fixed_charge, 11, {"flow": 8, "open": 1}, integer=True),
]


def check_feasible(program, result):
    """The point is within rows and columns, and its integers are whole."""
    x = result.primal
    assert np.all(x >= program.lower)
    assert np.all(x <= program.upper)
    assert np.all(x[program.integer] % 1 == 0)
    activity = program.matrix.toarray() @ x
    room = TOLERANCE * np.maximum(1, np.abs(activity))
    assert np.all(activity >= program.row_lower - room)
    assert np.all(activity <= program.row_upper + room)
    assert np.isclose(result.objective, program.costs @ x + program.constant)


def check_optimal_lp(program, result):
    """Feasible, stationary, right signs, complementary, and strong duality."""
    assert result.status == "optimal"
    check_feasible(program, result)
    matrix, x = program.matrix.toarray(), result.primal
    dual, reduced = result.dual, result.reduced_costs
    np.testing.assert_allclose(program.costs - matrix.T @ dual, reduced, atol=TOLERANCE)

    # When minimising, raising an active lower side can only cost: its price is positive. A
    # price of the other sign belongs to the upper side; when maximising, the reverse.
    sense = -1 if program.maximise else 1
    total = program.constant
    for price, value, lower, upper in (
        (dual, matrix @ x, program.row_lower, program.row_upper),
        (reduced, x, program.lower, program.upper),
    ):
        side = np.where(sense * price > 0, lower, upper)
        priced = np.abs(price) > TOLERANCE
        np.testing.assert_allclose(value[priced], side[priced], rtol=TOLERANCE, atol=TOLERANCE)
        total += price[priced] @ side[priced]
    assert np.isclose(total, result.objective, rtol=TOLERANCE, atol=TOLERANCE)
    assert result.bound == result.objective
    assert result.gap == 0
