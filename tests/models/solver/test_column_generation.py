"""A master that grows by batches of columns equals the whole program."""

import numpy as np
import pyomo.environ as pyo
import pytest

from models.solver import Engine
from tests.models.solver.kit import check_optimal_lp

ROWS, COLUMNS, BATCH = 12, 150, 7


def covering(seed, columns):
    """Cover demands at least cost; slack columns keep every restriction feasible."""
    rng = np.random.Generator(np.random.PCG64(seed))
    matrix = rng.integers(1, 9, (ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.4)
    costs = rng.uniform(5, 10, COLUMNS) * np.sqrt(1 + matrix.sum(axis=0))
    demand = rng.uniform(10, 30, ROWS)
    m = pyo.ConcreteModel()
    m.missing = pyo.Var(range(ROWS), bounds=(0, None))
    m.x = pyo.Var(columns, bounds=(0, None))
    m.demand = pyo.Constraint(
        range(ROWS),
        rule=lambda m, i: (
            m.missing[i] + sum(int(matrix[i, j]) * m.x[j] for j in columns) >= demand[i]
        ),
    )
    m.cost = pyo.Objective(
        expr=100 * sum(m.missing.values()) + sum(costs[j] * m.x[j] for j in columns)
    )
    return m, matrix.astype(float), costs


@pytest.mark.parametrize("seed", range(3))
def test_master_equals_the_whole_program(seed):
    whole, matrix, costs = covering(seed, range(COLUMNS))
    expected = Engine(whole).solve()
    model, _, _ = covering(seed, [])
    master = Engine(model, options={"simplex_strategy": 4})
    rows = master.rows(model.demand)
    added: dict[int, int] = {}
    previous = np.inf
    while True:
        result = master.solve()
        check_optimal_lp(master.program, result)
        assert result.objective <= previous + 1e-9
        previous = result.objective
        reduced = costs - matrix.T @ result.dual[rows]
        new = [j for j in np.argsort(reduced)[:BATCH] if reduced[j] < -1e-9]
        if not new:
            break
        assert not set(new) & set(added)
        indices = master.add_columns(
            costs[new],
            0,
            np.inf,
            [rows[np.flatnonzero(matrix[:, j])] for j in new],
            [matrix[np.flatnonzero(matrix[:, j]), j] for j in new],
            names=[f"pattern {j}" for j in new],
        )
        added.update(zip(new, indices, strict=True))
    assert result.objective == pytest.approx(expected.objective)
    assert 0 < len(added) < COLUMNS
    assert master.column_name(int(indices[0] if len(new) else ROWS)).startswith("pattern")
    assert (master.counters.compiles, master.counters.rebuilds) == (1, 0)
    assert master.counters.solves > 2
    master.solve(verify=True)


def test_added_columns_keep_the_basis():
    model, matrix, costs = covering(0, range(100))
    engine = Engine(model, options={"simplex_strategy": 4, "presolve": "off"})
    first = engine.solve()
    rest = range(100, COLUMNS)
    engine.add_columns(
        costs[rest],
        0,
        np.inf,
        [np.flatnonzero(matrix[:, j]) for j in rest],
        [matrix[np.flatnonzero(matrix[:, j]), j] for j in rest],
    )
    warm = engine.solve("warm")
    assert warm.iterations < first.iterations
    assert engine.solve("cold").objective == pytest.approx(warm.objective)


def test_integer_columns_can_be_added():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 0.5))
    m.c = pyo.Constraint(expr=m.x <= 7)
    m.o = pyo.Objective(expr=m.x, sense=pyo.maximize)
    engine = Engine(m)
    assert not engine.is_mip
    (new,) = engine.add_columns([2.0], 0, 9, [[0]], [[2.0]], integer=[True])
    result = engine.solve()
    assert result.objective == pytest.approx(6.5)
    assert result.value(new) == 3
    assert result.dual is None
