"""The engine, updated in place, against a fresh Pyomo model solved by Pyomo's own interface."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.appsi.base import TerminationCondition
from pyomo.contrib.appsi.solvers.highs import Highs

from models.solver import Engine, Status
from tests.models.solver.kit import check_feasible, check_optimal_lp

STEPS = 4


class Data:
    """A random bounded program with rows of all four kinds, which drifts."""

    def __init__(self, seed, integer):
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.integer = integer
        self.rows, self.columns = 9, 7
        shape = (self.rows, self.columns)
        self.matrix = self.rng.integers(-4, 9, shape) * (self.rng.random(shape) < 0.6)
        self.matrix[:, 0] = 1
        self.maximise = bool(seed % 2)
        self.constant = float(self.rng.integers(-50, 50))
        self.drift(feasible=True)

    def drift(self, feasible):
        rng = self.rng
        self.costs = rng.normal(size=self.columns) * 10
        self.lower = -rng.integers(0, 3, self.columns).astype(float)
        self.upper = rng.integers(1, 6, self.columns).astype(float)
        inside = rng.integers(self.lower, self.upper + 1)
        activity = (self.matrix @ inside).astype(float)
        slack = rng.integers(0, 4, self.rows).astype(float)
        kind = np.arange(self.rows) % 4
        self.row_lower = np.where(kind == 0, -np.inf, activity - slack * (kind != 3))
        self.row_upper = np.where(kind == 1, np.inf, activity + slack * (kind != 3))
        if not feasible:
            self.row_upper[0] = -1000

    def pyomo_model(self):
        m = pyo.ConcreteModel()
        domain = pyo.Integers if self.integer else pyo.Reals
        columns, rows = range(self.columns), range(self.rows)
        m.x = pyo.Var(columns, domain=domain, bounds=lambda m, j: (self.lower[j], self.upper[j]))
        m.c = pyo.Constraint(
            rows,
            rule=lambda m, i: (
                None if np.isinf(self.row_lower[i]) else self.row_lower[i],
                sum(self.matrix[i, j] * m.x[j] for j in columns),
                None if np.isinf(self.row_upper[i]) else self.row_upper[i],
            ),
        )
        m.o = pyo.Objective(
            expr=sum(self.costs[j] * m.x[j] for j in columns) + self.constant,
            sense=pyo.maximize if self.maximise else pyo.minimize,
        )
        return m


def solve_by_pyomo(model):
    """Objective of a fresh solve, or None if it is infeasible."""
    solver = Highs()
    solver.highs_options = {"threads": 1, "mip_rel_gap": 0.0}
    solver.config.load_solution = False
    result = solver.solve(model)
    if result.termination_condition == TerminationCondition.optimal:
        return result.best_feasible_objective
    assert result.termination_condition in (
        TerminationCondition.infeasible,
        TerminationCondition.infeasibleOrUnbounded,
    )
    return None


@pytest.mark.parametrize("integer", [False, True], ids=["lp", "mip"])
@pytest.mark.parametrize("start", ["warm", "cold"])
@pytest.mark.parametrize("seed", range(6))
def test_drifting_program(seed, start, integer):
    data = Data(seed, integer)
    model = data.pyomo_model()
    engine = Engine(model)
    columns, rows = engine.columns(model.x), engine.rows(model.c)
    for step in range(STEPS):
        if step:
            data.drift(feasible=step != 2)
            engine.set_costs(columns, data.costs)
            engine.set_column_bounds(columns, data.lower, data.upper)
            engine.set_row_bounds(rows, data.row_lower, data.row_upper)
        expected = solve_by_pyomo(data.pyomo_model())
        result = engine.solve(start, mip_gap=0.0)
        if step == 2:
            assert expected is None
            assert result.status is Status.INFEASIBLE
            assert not result.has_solution
            continue
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(expected)
        assert result.bound == pytest.approx(expected)
        if integer:
            check_feasible(engine.program, result)
        else:
            check_optimal_lp(engine.program, result)
    counters = engine.counters
    assert (counters.compiles, counters.rebuilds, counters.solves) == (1, 0, STEPS)
    assert counters.updates == 3 * (STEPS - 1)
