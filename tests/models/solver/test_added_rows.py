"""Rows added to a live model count from the next solve on, as in a model built with them."""

import numpy as np
import pyomo.environ as pyo
import pytest

from models.solver import Engine, SolverError


def knapsack() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.Binary)
    model.room = pyo.Constraint(expr=3 * model.x[0] + 4 * model.x[1] + 5 * model.x[2] <= 8)
    model.worth = pyo.Objective(
        expr=4 * model.x[0] + 5 * model.x[1] + 6 * model.x[2], sense=pyo.maximize
    )
    return model


def test_a_cut_changes_the_optimum() -> None:
    model = knapsack()
    engine = Engine(model)
    assert engine.solve().objective == pytest.approx(10)
    columns = engine.columns(model.x)
    rows = engine.add_rows(-np.inf, 1.0, [columns[[0, 2]]], [np.ones(2)], ["not both"])
    assert engine.solve(verify=True).objective == pytest.approx(9)
    assert engine.row_name(int(rows[0])) == "not both"
    engine.set_row_bounds(rows, -np.inf, np.inf)
    assert engine.solve(verify=True).objective == pytest.approx(10)


def test_columns_and_rows_added_in_turn() -> None:
    model = knapsack()
    engine = Engine(model)
    y = engine.add_columns([3.0], 0.0, 1.0, [[0]], [[1.0]], [True], ["y"])
    columns = engine.columns(model.x)
    engine.add_rows(-np.inf, 1.0, [np.append(columns[2:], y)], [np.ones(2)])
    assert engine.solve(verify=True).objective == pytest.approx(12)
    assert engine.program.matrix.shape == (2, 4)


def test_refuses_what_is_not_finite_and_names_it() -> None:
    engine = Engine(knapsack())
    with pytest.raises(SolverError, match="cut"):
        engine.add_rows(-np.inf, 1.0, [[0]], [[np.nan]], ["cut"])
    with pytest.raises(SolverError, match="cut"):
        engine.add_rows(np.nan, 1.0, [[0]], [[1.0]], ["cut"])
    with pytest.raises(SolverError, match="names"):
        engine.add_rows(-np.inf, 1.0, [[0]], [[1.0]], [])
    assert engine.add_rows(0.0, 1.0, [], []).size == 0
