"""How each part of a Pyomo model comes out as rows and columns."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pyomo.environ as pyo
import pytest

from models.solver import SolverError, Status, compile_model, solve_model


def above_one(m, i, k):
    return m.x[i, k] >= k if k > 1 else pyo.Constraint.Skip


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.I = pyo.Set(initialize=["b", "a"])
    m.x = pyo.Var(m.I, [1, 2], bounds=(0, 10))
    m.whole = pyo.Var(domain=pyo.Integers, bounds=(-3, None))
    m.binary = pyo.Var(domain=pyo.Binary)
    m.free = pyo.Var()
    m.fixed = pyo.Var(initialize=2)
    m.fixed.fix()
    m.range = pyo.Constraint(expr=(1, m.x["b", 1] + 2 * m.x["a", 2] + m.fixed + 3, 12))
    m.trivial = pyo.Constraint(expr=0 * m.free + m.fixed <= 3)
    m.cancelled = pyo.Constraint(expr=m.free - m.free <= 3)
    m.some = pyo.Constraint(m.I, [1, 2], rule=above_one)
    m.equal = pyo.Constraint(expr=m.whole == m.binary)
    m.off = pyo.Constraint(expr=m.whole >= 7)
    m.off.deactivate()
    m.o = pyo.Objective(expr=m.fixed * m.x["a", 1] + m.fixed + 7, sense=pyo.maximize)
    return m


def test_columns_follow_the_declaration(model):
    compiled = compile_model(model)
    assert [v.name for v in compiled.variables] == [
        "x[b,1]", "x[b,2]", "x[a,1]", "x[a,2]", "whole", "binary", "free"
    ]  # fmt: skip
    program = compiled.program
    np.testing.assert_array_equal(program.lower, [0, 0, 0, 0, -3, 0, -np.inf])
    np.testing.assert_array_equal(program.upper, [10, 10, 10, 10, np.inf, 1, np.inf])
    np.testing.assert_array_equal(program.integer, [False] * 4 + [True, True, False])
    np.testing.assert_array_equal(program.costs, [0, 0, 2, 0, 0, 0, 0])
    assert program.constant == 9
    assert program.maximise


def test_rows_have_both_sides_and_no_constants(model):
    compiled = compile_model(model)
    assert [c.name for c in compiled.constraints] == ["range", "some[b,2]", "some[a,2]", "equal"]
    program = compiled.program
    np.testing.assert_array_equal(program.row_lower, [-4, 2, 2, 0])
    np.testing.assert_array_equal(program.row_upper, [7, np.inf, np.inf, 0])
    np.testing.assert_array_equal(
        program.matrix.toarray(),
        [
            [1, 0, 0, 2, 0, 0, 0],
            [0, 1, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0, 0, 1, -1, 0],
        ],
    )


def test_components_give_their_indices(model):
    compiled = compile_model(model)
    np.testing.assert_array_equal(compiled.columns(model.x), [0, 1, 2, 3])
    np.testing.assert_array_equal(compiled.columns(model.x, [("a", 2), ("b", 1)]), [3, 0])
    np.testing.assert_array_equal(compiled.columns(model.whole), [4])
    np.testing.assert_array_equal(compiled.columns([model.free, model.x["a", 1]]), [6, 2])
    np.testing.assert_array_equal(compiled.rows(model.some), [1, 2])
    np.testing.assert_array_equal(compiled.rows(model.some["a", 2]), [2])
    assert compiled.columns(model.x, []).dtype == np.int32


@pytest.mark.parametrize(
    ("find", "name"),
    [
        (lambda c, m: c.columns(m.fixed), "fixed"),
        (lambda c, m: c.columns(m.x, [("a", 3)]), r"x\[\('a', 3\)\]"),
        (lambda c, m: c.rows(m.trivial), "trivial"),
        (lambda c, m: c.rows(m.cancelled), "cancelled"),
        (lambda c, m: c.rows(m.off), "off"),
        (lambda c, m: c.rows(m.some, [("a", 1)]), r"some\[\('a', 1\)\]"),
    ],
)
def test_what_has_no_index_is_named(model, find, name):
    with pytest.raises(KeyError, match=name + " has no (row|column)"):
        find(compile_model(model), model)


def test_false_constant_constraint_is_infeasible_and_comes_back_active(model):
    model.fixed.fix(3.5)
    result = solve_model(model)
    assert result.status is Status.INFEASIBLE
    assert model.trivial.active
    compiled = compile_model(model)
    (row,) = compiled.rows(model.trivial)
    assert compiled.program.row_upper[row] == -0.5
    model.fixed.fix(2)
    assert solve_model(model).status is Status.OPTIMAL


def test_constant_constraint_true_up_to_rounding_is_no_infeasibility():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.tenth = pyo.Var(initialize=0.1)
    m.tenth.fix()
    m.c = pyo.Constraint(expr=m.tenth + 0.2 == 0.3)
    m.o = pyo.Objective(expr=m.x)
    assert solve_model(m).status is Status.OPTIMAL


@pytest.mark.parametrize(("constant", "status"), [(1, "optimal"), (2, "infeasible")])
def test_model_without_columns(constant, status):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=constant)
    m.x.fix()
    m.c = pyo.Constraint(expr=m.x <= 1)
    m.o = pyo.Objective(expr=m.x + 3)
    result = solve_model(m)
    assert result.status == status
    assert result.has_solution == (status == "optimal")
    assert status == "infeasible" or result.objective == 4


def test_model_without_rows_or_objective():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(2, 3))
    result = solve_model(m)
    assert result.objective == 0
    assert 2 <= result.value(0) <= 3


def test_two_objectives_are_refused(model):
    model.second = pyo.Objective(expr=model.free)
    with pytest.raises(SolverError, match=r"several active objectives: o, second"):
        compile_model(model)


def test_domain_with_gaps_is_refused(model):
    model.odd = pyo.Var(domain=pyo.RangeSet(1, 5, 2))
    with pytest.raises(SolverError, match="odd: its domain"):
        compile_model(model)


def test_lookup_survives_copies_and_processes(model):
    compiled = compile_model(model)
    for twin in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        np.testing.assert_array_equal(twin.columns(twin.model.x), [0, 1, 2, 3])
        with pytest.raises(KeyError):
            twin.columns(model.x)


def test_import_is_light():
    code = (
        "import sys, models.solver; "
        "print([n for n in ('pyomo', 'highspy', 'scipy', 'pandas', 'matplotlib') "
        "if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
