"""What the engine promises beside the right answer."""

import itertools
import pickle

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest

from models.solver import Engine, Result, SolverError, Status, compile_model, solve_model
from models.solver.result import disagreement
from tests.models.solver.kit import check_optimal_lp, knapsack, maximise_three_rows


def test_two_engines_share_a_compiled_model_but_no_changes():
    compiled = compile_model(maximise_three_rows())
    first, second = Engine(compiled), Engine(compiled)
    first.set_costs([0], 100)
    assert first.solve().objective == pytest.approx(415)
    assert second.solve().objective == pytest.approx(36)
    assert first.counters.compiles == 0


def test_warm_solve_after_a_small_change_takes_few_iterations():
    rng = np.random.Generator(np.random.PCG64(5))
    weights, values = rng.uniform(1, 9, (25, 40)), rng.uniform(1, 9, 40)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40), bounds=(0, 1))
    m.c = pyo.Constraint(
        range(25), rule=lambda m, i: sum(weights[i, j] * m.x[j] for j in m.x) <= 60
    )
    m.o = pyo.Objective(expr=sum(values[j] * m.x[j] for j in m.x), sense=pyo.maximize)
    engine = Engine(m, options={"presolve": "off"})
    full = engine.solve().iterations
    engine.set_row_bounds(engine.rows(m.c), -np.inf, 60.1)
    assert engine.solve("warm").iterations < full / 2
    assert engine.solve("cold").iterations > full / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.set_costs([0, 2], [1.0, 2.0]), "outside 0..1"),
        (lambda e: e.set_costs([-1], [1.0]), "outside 0..1"),
        (lambda e: e.set_costs([True, False], [1.0, 2.0]), "whole numbers"),
        (lambda e: e.set_costs([0.0], [1.0]), "whole numbers"),
        (lambda e: e.set_costs([0, 1], [1.0, 2.0, 3.0]), "3 values given for 2"),
        (lambda e: e.set_costs([0, 0], [1.0, 2.0]), "twice"),
        (lambda e: e.set_row_bounds([3], 0, 1), "outside 0..2"),
        (lambda e: e.set_row_bounds([1, 1], 0, 1), "twice"),
        (lambda e: e.set_column_bounds([1, 1], 0, 1), "twice"),
        (lambda e: e.add_columns([1.0], 0, 1, [[0, 3]], [[1.0, 1.0]]), "outside 0..2"),
        (lambda e: e.add_columns([1.0], 0, 1, [[0, 0]], [[1.0, 1.0]]), "twice"),
        (lambda e: e.add_columns([1.0, 2.0], 0, 1, [[0]], [[1.0]]), "2 costs"),
        (lambda e: e.set_solution([1.0, 1.0]), "integer columns"),
        (lambda e: e.solve("hot"), "'warm' or 'cold'"),
        (lambda e: e.solve(time_limit=-1.0), "time_limit"),
        (lambda e: e.solve(node_limit=1.5), "mip_max_nodes"),
        (lambda e: e.write_model("model.txt"), "model.txt"),
    ],
)
def test_wrong_request_is_refused_and_changes_nothing(change, message):
    engine = Engine(maximise_three_rows())
    with pytest.raises(SolverError, match=message):
        change(engine)
    assert engine.counters.updates == 0
    result = engine.solve()
    assert result.objective == pytest.approx(36)
    check_optimal_lp(engine.program, result)


def test_changes_of_nothing_are_allowed():
    engine = Engine(maximise_three_rows())
    engine.set_costs([], [])
    engine.set_row_bounds([], [], [])
    assert engine.add_columns([], [], [], [], []).size == 0
    assert engine.solve().objective == pytest.approx(36)


def test_limits_given_once_do_not_stick():
    engine = Engine(knapsack(), options={"mip_rel_gap": 0.0})
    engine.solve(mip_gap=0.9, mip_gap_abs=7.0, node_limit=1, time_limit=5.0, cutoff=1.0)
    engine.solve()
    for name, value in [
        ("mip_rel_gap", 0.0), ("mip_abs_gap", 1e-6), ("mip_max_nodes", 2**31 - 1),
        ("time_limit", np.inf), ("objective_bound", np.inf),
    ]:  # fmt: skip
        assert engine._highs.getOptionValue(name)[1] == value


def test_default_limits_are_those_of_highs():
    from models.solver.engine import LIMITS

    highs = Engine(knapsack())._highs
    assert {name: highs.getOptionValue(name)[1] for name in LIMITS} == LIMITS


def brute_force(program):
    points = itertools.product(
        *(np.arange(low, high + 1) for low, high in zip(program.lower, program.upper, strict=True))
    )
    best = max if program.maximise else min
    return best(
        program.objective(x) for x in map(np.array, points) if program.violation(x)[0] <= 1e-9
    )


def random_mip(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    sense = pyo.maximize if seed % 2 else pyo.minimize
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6), domain=pyo.Integers, bounds=(0, 2))
    costs, weights = rng.integers(3, 20, 6), rng.integers(2, 9, (2, 6))
    load = [sum(int(w) * m.x[j] for j, w in enumerate(row)) for row in weights]
    need = int(weights.sum(axis=1).min())
    m.c = pyo.ConstraintList()
    for expression in load:
        m.c.add(expression <= need if seed % 2 else expression >= need)
    constant = int(rng.integers(-60, 60))
    m.o = pyo.Objective(
        expr=sum(int(c) * m.x[j] for j, c in enumerate(costs)) + constant, sense=sense
    )
    return m


@pytest.mark.parametrize("seed", range(8))
def test_cutoff_is_honest(seed):
    engine = Engine(random_mip(seed))
    sign = -1 if engine.program.maximise else 1
    best = brute_force(engine.program)
    assert engine.solve(mip_gap=0.0).objective == pytest.approx(best)
    for start, worse in itertools.product(["warm", "cold"], [0.5, 7.5, -0.5, -7.5]):
        result = engine.solve(start, mip_gap=0.0, cutoff=best + sign * worse)
        assert sign * result.bound <= sign * best + 1e-6
        if worse > 0:
            assert result.status is Status.OPTIMAL
            assert result.objective == pytest.approx(best)
            assert result.bound == pytest.approx(best)
        else:
            assert result.status is Status.OBJECTIVE_BOUND
            assert result.bound == pytest.approx(best + sign * worse)


@pytest.mark.parametrize("sign", [1, -1], ids=["maximise", "minimise"])
def test_cutoff_cuts(sign):
    rng = np.random.Generator(np.random.PCG64(1))
    weights, values = rng.integers(5, 60, (8, 40)), rng.integers(10, 100, 40)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40), domain=pyo.Binary)
    m.c = pyo.Constraint(
        range(8), rule=lambda m, i: sum(int(weights[i, j]) * m.x[j] for j in m.x) <= 400
    )
    m.o = pyo.Objective(
        expr=sign * sum(int(values[j]) * m.x[j] for j in m.x) + 50,
        sense=pyo.maximize if sign > 0 else pyo.minimize,
    )
    engine = Engine(m)
    free = engine.solve("cold", mip_gap=0.0)
    cut = engine.solve("cold", mip_gap=0.0, cutoff=free.objective + sign * 1000)
    assert cut.status is Status.OBJECTIVE_BOUND
    assert cut.nodes <= 1 < free.nodes
    assert cut.iterations < free.iterations


def test_cutoff_is_ignored_by_an_lp():
    result = Engine(maximise_three_rows()).solve(cutoff=1000.0)
    assert (result.status, result.bound) == (Status.OPTIMAL, pytest.approx(36))


@pytest.mark.parametrize("point", [[1.0, 1.0, 0.0], {0: 1.0, 1: 1.0, 2: 0.0}, {0: 1}])
def test_start_point_is_used(point):
    quiet = {"mip_heuristic_effort": 0.0, "presolve": "off"}
    assert not Engine(knapsack(), options=quiet).solve(node_limit=0).has_solution
    engine = Engine(knapsack(), options=quiet)
    engine.set_solution(point)
    result = engine.solve(node_limit=0)
    assert result.status is Status.NODE_LIMIT
    assert result.objective >= (160 if len(point) == 3 else 60)
    assert result.bound >= 220


def test_start_point_must_be_numbers():
    with pytest.raises(SolverError, match=r"start value of x\[1\] is nan"):
        Engine(knapsack()).set_solution([0.0, np.nan, 0.0])


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
def test_written_model_has_the_same_optimum(tmp_path, suffix):
    m = random_mip(3)
    m.tricky = pyo.Var(["a b", "a,b", "e1", 'q"'], bounds=(0, 1))
    m.limit = pyo.Constraint(["<", "<="], rule=lambda m, k: sum(m.tricky.values()) <= 2)
    engine = Engine(m)
    engine.add_columns([1.0], 0, 1, [[0]], [[2.0]], names=["extra column"])
    path = tmp_path / f"model{suffix}"
    engine.write_model(path)
    assert list(tmp_path.iterdir()) == [path]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    names = set(highs.getLp().col_names_)
    assert {"n_x_0", "n_tricky_e1", "n_extra_column"} <= names
    highs.run()
    assert highs.getInfo().objective_function_value == pytest.approx(engine.solve().objective)


def test_failed_writing_leaves_the_old_file(tmp_path):
    engine = Engine(knapsack())
    path = tmp_path / "missing" / "model.lp"
    with pytest.raises(SolverError, match="write"):
        engine.write_model(path)
    old = tmp_path / "model.lp"
    engine.write_model(old)
    assert old.read_text().count("n_x_0") >= 2


def test_load_into_refuses_what_it_cannot_vouch_for():
    m = maximise_three_rows()
    engine = Engine(m)
    result = engine.solve()
    with pytest.raises(SolverError, match="another Pyomo model"):
        result.load_into(maximise_three_rows())
    engine.add_columns([100.0], 0, 1, [[0]], [[1.0]])
    with pytest.raises(SolverError, match="columns that the Pyomo model does not have"):
        engine.solve().load_into(m)
    engine.set_row_bounds([0], 100, np.inf)
    with pytest.raises(SolverError, match="infeasible"):
        engine.solve().load_into(m)
    assert m.x.value is None
    result.load_into(m)
    assert m.x.value == pytest.approx(2)


def test_value_reads_one_or_many():
    m = knapsack()
    engine = Engine(m)
    result = engine.solve()
    assert result.value(1) == 1.0
    np.testing.assert_array_equal(result.value(engine.columns(m.x)), [0, 1, 1])
    with pytest.raises(SolverError, match="time limit"):
        engine.solve("cold", time_limit=0.0).value(0)


def test_disagreement_of_two_results():
    compiled = compile_model(maximise_three_rows())  # maximises

    def result(status, objective=np.nan, bound=np.inf):
        point = None if np.isnan(objective) else np.zeros(2)
        return Result(status, objective, bound, point, compiled=compiled)

    exact = result(Status.OPTIMAL, 10.0, 10.0)
    near = result(Status.OPTIMAL, 9.99, 10.0)
    stopped = result(Status.TIME_LIMIT, 5.0, 12.0)
    none = result(Status.INFEASIBLE)
    for pair in [(exact, near), (exact, stopped), (near, stopped), (none, none)]:
        assert disagreement(*pair) is None
        assert disagreement(*reversed(pair)) is None
    better = result(Status.OPTIMAL, 10.1, 10.1)
    for pair in [(exact, better), (exact, none), (near, better)]:
        assert disagreement(*pair)
        assert disagreement(*reversed(pair))


def test_gap():
    assert Result(Status.OPTIMAL, 100.0, 101.0).gap == pytest.approx(0.01)
    assert Result(Status.OPTIMAL, 0.0, 0.0).gap == 0
    assert Result(Status.TIME_LIMIT, 5.0, np.inf).gap == np.inf
    assert Result(Status.INFEASIBLE).gap == np.inf


def test_result_survives_pickling():
    result = solve_model(knapsack())
    twin = pickle.loads(pickle.dumps(result))
    assert twin.objective == pytest.approx(220)
    twin.load_into(twin.compiled.model)
    assert twin.compiled.model.x[1].value == 1


def test_infeasible_start_point_does_no_harm():
    engine = Engine(knapsack())
    engine.set_solution([1.0, 1.0, 1.0])
    assert engine.solve().objective == pytest.approx(220)
