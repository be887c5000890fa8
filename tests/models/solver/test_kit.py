"""Known problems, solved warm and cold, after updates, and with their conditions checked."""

import numpy as np
import pyomo.environ as pyo
import pytest

from models.solver import Engine, Status, solve_model
from tests.models.solver.kit import PROBLEMS, check_feasible, check_optimal_lp

by_name = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)


def check_known(problem, engine, result):
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(problem.objective)
    assert result.bound == pytest.approx(problem.objective)
    names = [v.name for v in engine.compiled.variables]
    assert dict(zip(names, result.primal, strict=True)) == pytest.approx(problem.primal)
    if problem.integer:
        assert result.dual is None
        assert result.reduced_costs is None
        check_feasible(engine.program, result)
    else:
        rows = [c.name for c in engine.compiled.constraints]
        assert dict(zip(rows, result.dual, strict=True)) == pytest.approx(problem.dual)
        check_optimal_lp(engine.program, result)


@by_name
@pytest.mark.parametrize("start", ["warm", "cold"])
def test_known_answer(problem, start):
    engine = Engine(problem.build())
    for _ in range(2):
        check_known(problem, engine, engine.solve(start, verify=True))
    assert engine.counters.solves == 2
    assert engine.counters.copies == 2


@by_name
@pytest.mark.parametrize("start", ["warm", "cold"])
def test_known_answer_after_going_away_and_back(problem, start):
    engine = Engine(problem.build())
    old = engine.program.copy()
    columns, rows = np.arange(old.costs.size), np.arange(old.row_lower.size)
    engine.solve(start)
    engine.set_costs(columns, -old.costs)
    engine.set_column_bounds(columns, -1, 1)
    engine.set_row_bounds(rows, -np.inf, 1)
    engine.set_objective_constant(100)
    away = engine.solve(start, verify=True)
    assert away.objective != pytest.approx(problem.objective)
    engine.set_costs(columns, old.costs)
    engine.set_column_bounds(columns, old.lower, old.upper)
    engine.set_row_bounds(rows, old.row_lower, old.row_upper)
    engine.set_objective_constant(old.constant)
    check_known(problem, engine, engine.solve(start))
    assert engine.counters.updates == 8
    assert engine.counters.rebuilds == 0


@by_name
def test_loaded_into_the_model(problem):
    model = problem.build()
    result = solve_model(model)
    result.load_into(model)
    values = {name: model.find_component(name).value for name in problem.primal}
    assert values == pytest.approx(problem.primal)
    assert pyo.value(model.o) == pytest.approx(problem.objective)
