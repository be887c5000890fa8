"""The nine traps of Pyomo and HiGHS, and a tenth, one section each, named after the trap."""

import logging
import multiprocessing
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pyomo.environ as pyo
import pytest

from models.solver import Engine, Result, SolverError, Status, compile_model, relation, solve_model
from models.solver.reading import clean_point
from tests.models.solver.kit import (
    PROBLEMS,
    knapsack,
    maximise_three_rows,
    minimise_with_constant,
)


def packing(columns, rows, seed, domain):
    rng = np.random.Generator(np.random.PCG64(seed))
    values = rng.integers(10, 100, columns)
    weights = rng.integers(5, 60, (rows, columns))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(columns), domain=domain, bounds=(0, 1))
    m.c = pyo.Constraint(
        range(rows),
        rule=lambda m, i: (
            sum(int(weights[i, j]) * m.x[j] for j in m.x) <= int(weights[i].sum()) // 3
        ),
    )
    m.o = pyo.Objective(expr=sum(int(values[j]) * m.x[j] for j in m.x), sense=pyo.maximize)
    return m


def run_python(code):
    """Run code in a new interpreter, with a limit, because one trap is a hang."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def solve_knapsack(_=None):
    return solve_model(knapsack()).objective


# 1. The run clock never resets, and options stick.


def test_1_time_limit_of_an_lp_is_not_cumulative():
    engine = Engine(packing(150, 40, 1, pyo.Reals))
    budget = 0.5
    for _ in range(1000):
        assert engine.solve("cold", time_limit=budget).status is Status.OPTIMAL
        if engine._highs.getRunTime() > 1.2 * budget:
            break
    else:
        pytest.fail("the solves were too short to use up the budget")


def test_1_time_limit_of_a_mip_does_not_grow_with_the_clock():
    engine = Engine(packing(120, 30, 1, pyo.Binary))
    first = engine.solve("cold", time_limit=1.2, mip_gap=0.0)
    second = engine.solve("cold", time_limit=0.1, mip_gap=0.0)
    assert first.status is second.status is Status.TIME_LIMIT
    assert second.seconds < 0.8  # 1.3 if the limit were put on top of the clock


def test_1_time_limit_in_the_options_is_for_each_solve():
    engine = Engine(packing(150, 40, 1, pyo.Reals), options={"time_limit": 0.5})
    while engine._highs.getRunTime() < 0.6:
        assert engine.solve("cold").status is Status.OPTIMAL


def test_1_limits_do_not_stick():
    engine = Engine(knapsack(), options={"presolve": "off", "mip_heuristic_effort": 0.0})
    assert engine.solve("cold", node_limit=0).status is Status.NODE_LIMIT
    assert engine.solve("cold").status is Status.OPTIMAL
    assert engine.solve("cold", time_limit=0.0).status is Status.TIME_LIMIT
    assert engine.solve("cold").status is Status.OPTIMAL


# 2. HiGHS raises nothing: a NaN bound is refused silently, a NaN cost accepted.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.set_costs([0, 1], [1.0, np.nan]), "cost of y is nan"),
        (lambda e: e.set_costs([0], np.inf), "cost of x is inf"),
        (lambda e: e.set_costs([0], -1e20), r"cost of x is -1e\+20"),
        (lambda e: e.set_objective_constant(np.nan), "constant of the objective is nan"),
        (lambda e: e.set_row_bounds([2, 1], [0, np.nan], 1), "bounds of b are nan and 1.0"),
        (lambda e: e.set_row_bounds([2], -np.inf, np.nan), "bounds of c are -inf and nan"),
        (lambda e: e.set_row_bounds([2], np.inf, np.inf), "bounds of c are inf and inf"),
        (lambda e: e.set_column_bounds([1], np.nan, 2), "bounds of y are nan and 2"),
        (lambda e: e.set_column_bounds([1], -np.inf, -np.inf), "bounds of y are -inf and -inf"),
        (lambda e: e.add_columns([np.nan], 0, 1, [[0]], [[1]], names=["p"]), "cost of p is nan"),
        (lambda e: e.add_columns([1.0], np.nan, 1, [[0]], [[1]]), "bounds of column 2 are nan"),
        (
            lambda e: e.add_columns([1.0], 0, 1, [[0, 2]], [[1, np.nan]], names=["p"]),
            r"coefficient is nan \(p in c\)",
        ),
        (lambda e: e.set_option("no_such_option", 1), "no_such_option"),
        (lambda e: e.set_option("presolve", "perhaps"), "presolve"),
        (lambda e: e.set_option("mip_rel_gap", np.nan), "mip_rel_gap"),
        (lambda e: e.solve(time_limit=np.nan), "time_limit"),
    ],
)
def test_2_refused_data_is_named_and_changes_nothing(change, message):
    engine = Engine(maximise_three_rows())
    with pytest.raises(SolverError, match=message):
        change(engine)
    assert engine.solve(verify=True).objective == pytest.approx(36)


def test_2_infinite_bounds_are_bounds():
    engine = Engine(maximise_three_rows())
    engine.set_row_bounds([1, 2], -np.inf, np.inf)
    engine.set_column_bounds([0, 1], [-np.inf, 0], [np.inf, 7])
    assert engine.solve(verify=True).objective == pytest.approx(3 * 4 + 5 * 7)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda m: m.add_component("bad", pyo.Constraint(expr=np.nan * m.x <= 1)), "x in bad"),
        (lambda m: m.add_component("bad", pyo.Constraint(expr=m.x <= np.nan)), "bounds of bad"),
        (lambda m: m.add_component("bad", pyo.Constraint(expr=m.x >= np.inf)), "bounds of bad"),
        (lambda m: m.y.setlb(np.nan), r"'y' .* non-finite"),
        (lambda m: m.o.set_value(np.inf * m.y), "cost of y"),
        (lambda m: m.a.set_value(1e15 * m.y <= 1), r"1e\+15 \(y in a\)"),
        (lambda m: m.o.set_value(m.y + np.nan), "constant"),
    ],
)
def test_2_model_with_such_data_is_refused(spoil, message):
    m = maximise_three_rows()
    spoil(m)
    with pytest.raises(SolverError, match=message):
        compile_model(m)


# 3. An infeasible or stopped solve still hands out numbers.


def infeasible(domain):
    m = maximise_three_rows()
    m.x.domain = domain
    m.more = pyo.Constraint(expr=m.x + m.y >= 100)
    return m


def unbounded():
    m = maximise_three_rows()
    m.b.deactivate()
    m.c.deactivate()
    return m


@pytest.mark.parametrize("options", [{}, {"presolve": "off"}])
@pytest.mark.parametrize(
    ("build", "limits", "expected"),
    [
        (lambda: infeasible(pyo.Reals), {}, "infeasible"),
        (lambda: infeasible(pyo.Integers), {}, "infeasible"),
        (unbounded, {}, "unbounded"),
        (lambda: packing(60, 12, 1, pyo.Reals), {"time_limit": 0.0}, "time limit"),
        (lambda: packing(60, 12, 1, pyo.Binary), {"time_limit": 0.0}, "time limit"),
    ],
)
def test_3_no_solution_is_a_defined_value(build, limits, expected, options):
    engine = Engine(build(), options=options)
    result = engine.solve(**limits)
    assert result.status == expected
    assert engine._highs.getSolution().col_value  # these numbers are the trap
    if limits and result.has_solution:  # HiGHS may stop at a point that is feasible, such as 0
        assert engine.program.violation(result.primal)[0] <= 1e-6
        return
    assert np.isnan(result.objective)
    assert result.bound == np.inf  # nothing is proved when maximising
    assert result.gap == np.inf
    assert result.primal is result.dual is result.reduced_costs is None
    with pytest.raises(SolverError):
        result.value(0)


def test_3_stopped_lp_does_not_return_an_infeasible_point():
    m = minimise_with_constant()  # at 0 both rows are violated
    engine = Engine(m, options={"presolve": "off", "simplex_iteration_limit": 0})
    for limits in ({}, {"time_limit": 0.0}):
        result = engine.solve("cold", **limits)
        assert result.status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT)
        assert not result.has_solution
        assert result.bound == -np.inf


def test_3_feasible_after_infeasible_and_back():
    engine = Engine(maximise_three_rows())
    for _ in range(2):
        engine.set_column_bounds([0], 5, 6)
        result = engine.solve()
        assert (result.status, result.has_solution) == (Status.INFEASIBLE, False)
        engine.set_column_bounds([0], 6, 5)  # crossed
        assert engine.solve().status is Status.INFEASIBLE
        engine.set_column_bounds([0], 0, np.inf)
        assert engine.solve().objective == pytest.approx(36)


# 4. The number of threads belongs to the process.


def test_4_second_number_of_threads_is_refused():
    solve_knapsack()
    with pytest.raises(SolverError, match="already runs with threads=1"):
        Engine(knapsack(), threads=2)
    with pytest.raises(SolverError, match="already runs with threads=1"):
        Engine(knapsack()).set_option("threads", 2)
    for wrong in (0, -1, 1.0, True):
        with pytest.raises(SolverError, match="threads"):
            Engine(knapsack(), threads=wrong)
    assert solve_knapsack() == pytest.approx(220)


def test_4_other_code_with_another_number_is_reported():
    done = run_python(
        """
        import highspy
        from tests.models.solver.kit import knapsack
        from models.solver import SolverError, solve_model
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 2)
        highs.addVariable(0, 1, 1.0)
        highs.run()
        try:
            solve_model(knapsack())
        except SolverError as error:
            print(error)
        """
    )
    assert "another number of threads" in done.stdout, done.stderr


def test_4_forked_child_is_refused_and_does_not_hang():
    done = run_python(
        """
        import os
        from tests.models.solver.kit import knapsack
        from models.solver import SolverError, solve_model
        solve_model(knapsack(), threads=2)
        if os.fork() == 0:
            try:
                solve_model(knapsack(), threads=2)
            except SolverError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
        """
    )
    assert "'spawn'" in done.stdout, done.stderr


def test_4_spawned_workers_solve():
    solve_knapsack()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(solve_knapsack).get(timeout=60) == pytest.approx(220)


def test_4_python_threads_with_an_engine_each():
    found = []
    workers = [
        threading.Thread(target=lambda: found.append(solve_knapsack()), daemon=True)
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert found == pytest.approx([220] * 4)


# 5. A warm start is not always better, and sometimes ends worse.


@pytest.mark.parametrize("seed", range(3))
def test_5_warm_and_cold_agree_on_a_drifting_program(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    engine = Engine(packing(40, 15, seed, pyo.Reals))
    columns = np.arange(40)
    for _ in range(10):
        engine.set_costs(columns, engine.program.costs * rng.uniform(0.8, 1.2, 40))
        warm = engine.solve("warm", verify=True)
        assert engine.solve("cold").objective == pytest.approx(warm.objective)


def test_5_audit_sees_a_solve_that_ends_elsewhere():
    engine = Engine(maximise_three_rows())
    engine._highs.changeColCost(0, 30.0)  # what HiGHS holds is not what we believe
    with pytest.raises(SolverError, match="a fresh solve of the same model disagrees"):
        engine.solve(verify=True)
    engine = Engine(maximise_three_rows())
    engine._highs.changeRowBounds(0, 50.0, 60.0)
    with pytest.raises(SolverError, match="'infeasible' against 'optimal'"):
        engine.solve(verify=True)


def test_5_audit_leaves_the_basis_alone():
    engine = Engine(packing(40, 15, 1, pyo.Reals))
    engine.solve()
    engine.cold_check()
    assert engine.solve("warm").iterations == 0
    assert (engine.counters.solves, engine.counters.copies) == (2, 1)


# 6. The sign of a dual, and MIPs that have none.


def nudged(engine, row, step):
    lower, upper = engine.program.row_lower[row], engine.program.row_upper[row]
    engine.set_row_bounds([row], lower + step, upper + step)
    value = engine.solve().objective
    engine.set_row_bounds([row], lower, upper)
    return value


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_6_dual_is_the_change_of_the_objective_per_unit_of_rhs(problem):
    engine = Engine(problem.build())
    result = engine.solve()
    if problem.integer:
        assert result.dual is None
        assert result.reduced_costs is None
        return
    for row, dual in enumerate(result.dual):
        slope = (nudged(engine, row, 0.01) - nudged(engine, row, -0.01)) / 0.02
        assert slope == pytest.approx(dual, abs=1e-6)


def test_6_duals_of_a_mip_with_its_integers_fixed():
    m = pyo.ConcreteModel()
    m.flow, m.open = pyo.Var(bounds=(0, None)), pyo.Var(domain=pyo.Binary)
    m.capacity = pyo.Constraint(expr=m.flow - 8 * m.open <= 0)
    m.demand = pyo.Constraint(expr=m.flow <= 6)
    m.o = pyo.Objective(expr=2 * m.flow - 5 * m.open + 1, sense=pyo.maximize)
    engine = Engine(m)
    result = engine.solve()
    assert (result.objective, result.dual) == (pytest.approx(8), None)
    fixed = engine.fixed_integer_duals(result)
    assert fixed.objective == pytest.approx(result.objective)
    np.testing.assert_allclose(fixed.dual, [0, 2], atol=1e-9)
    np.testing.assert_allclose(fixed.reduced_costs, [0, -5], atol=1e-9)
    assert engine.solve().objective == pytest.approx(8)  # still a MIP
    assert engine.is_mip
    engine.set_column_bounds([0], 7, 9)
    with pytest.raises(SolverError, match="infeasible"):
        engine.fixed_integer_duals(engine.solve())


# 7. "Optimal" means within the gap, and integers come back as 0.9999999.


@pytest.mark.parametrize("seed", range(4))
def test_7_gap_and_bound_are_honest(seed):
    m = packing(30, 8, seed, pyo.Binary)
    best = solve_model(m, mip_gap=0.0)
    assert best.objective == pytest.approx(best.bound)
    loose = solve_model(m, mip_gap=0.5)
    assert loose.status is Status.OPTIMAL
    assert loose.objective <= best.objective + 1e-6 <= loose.bound + 2e-6
    assert loose.gap == pytest.approx((loose.bound - loose.objective) / loose.objective)
    assert loose.gap <= 0.5


def test_7_default_gap_can_hide_a_better_solution():
    """Two choices closer than the default gap: only the bound tells, so compare with mip_gap=0."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], domain=pyo.Binary)
    m.one = pyo.Constraint(expr=m.x[0] + m.x[1] <= 1)
    m.o = pyo.Objective(expr=100000 * m.x[0] + 100001 * m.x[1], sense=pyo.maximize)
    rough, exact = solve_model(m), solve_model(m, mip_gap=0.0, mip_gap_abs=0.0)
    assert rough.objective <= exact.objective == 100001
    assert rough.bound >= 100001


def test_7_integers_are_rounded_and_bounds_kept():
    program = compile_model(knapsack()).program
    point = clean_point(np.array([0.9999999, 1e-7, 1.0000004]), program)
    np.testing.assert_array_equal(point, [1, 0, 1])
    assert clean_point(np.array([0.999, 0.0, 1.0]), program) is None
    assert clean_point(np.array([0.0, 0.0, 1.1]), program) is None


def test_7_loaded_integers_are_python_integers():
    m = knapsack()
    solve_model(m).load_into(m)
    assert [type(m.x[i].value) for i in m.x] == [int] * 3
    assert [m.x[i].value for i in m.x] == [0, 1, 1]


def big_m():
    """A switch of 5e-7 would allow 0.5; rounded to 0 it allows nothing."""
    m = pyo.ConcreteModel()
    m.flow, m.switch = pyo.Var(bounds=(0, 10)), pyo.Var(domain=pyo.Binary)
    m.link = pyo.Constraint(expr=m.flow <= 1e6 * m.switch)
    m.o = pyo.Objective(expr=m.flow - 100 * m.switch, sense=pyo.maximize)
    return m


def test_7_rounding_is_checked_against_every_row():
    program = compile_model(big_m()).program
    point = clean_point(np.array([0.5, 5e-7]), program)
    np.testing.assert_array_equal(point, [0.5, 0])
    assert program.violation(point) == (0.5, 0)


@pytest.mark.parametrize("presolve", ["on", "off"])
def test_7_rounded_point_of_a_big_m_model_is_good_or_flagged(presolve, caplog):
    m = big_m()
    result = solve_model(m, options={"presolve": presolve})
    if result.violation > 1e-6:
        assert "violates link" in caplog.text
        with pytest.raises(SolverError, match="violates link"):
            result.load_into(m)
    else:
        assert result.objective == pytest.approx(0)


def test_7_point_that_violates_a_row_is_not_loaded():
    m = big_m()
    compiled = compile_model(m)
    bad = Result(
        Status.OPTIMAL,
        0.5,
        0.5,
        np.array([0.5, 0.0]),
        violation=0.5,
        worst_row=0,
        compiled=compiled,
    )
    with pytest.raises(SolverError, match=r"violates link by 0\.5"):
        bad.load_into(m)
    assert m.flow.value is None


# 8. sum() over nothing is a plain number; coefficients far apart.


@pytest.mark.parametrize("wanted", [0, 1])
def test_8_empty_sum(wanted):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], bounds=(0, 3))
    groups = {"both": [1, 2], "none": []}
    m.c = pyo.Constraint(
        list(groups), rule=lambda m, k: relation(sum(m.x[i] for i in groups[k]) >= wanted)
    )
    m.o = pyo.Objective(expr=sum(m.x[i] for i in groups["both"]))
    result = solve_model(m)
    assert result.status is (Status.INFEASIBLE if wanted else Status.OPTIMAL)
    assert ("none" in m.c) == bool(wanted)
    assert relation(np.bool_(True)) is pyo.Constraint.Skip


def test_8_empty_objective_and_constraints_of_constants():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(1, 3))
    m.p = pyo.Param(initialize=2, mutable=True)
    m.c = pyo.Constraint(expr=m.p <= 3)
    m.o = pyo.Objective(expr=sum(m.x for _ in []))
    engine = Engine(m)
    assert engine.solve().objective == 0
    with pytest.raises(KeyError, match="c has no row"):
        engine.rows(m.c)
    m.p.set_value(4)
    assert solve_model(m).status is Status.INFEASIBLE


@pytest.mark.parametrize(("large", "warns"), [(1e8, False), (1.1e8, True)])
def test_8_coefficients_far_apart(large, warns, caplog):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 1)), pyo.Var(bounds=(0, 1))
    m.c = pyo.Constraint(expr=m.x + large * m.y <= 3)
    m.o = pyo.Objective(expr=m.x)
    compile_model(m)
    assert ("1e8 apart" in caplog.text) == warns
    if warns:
        assert "1 (x in c) and 1.1e+08 (y in c)" in caplog.text


def test_8_coefficient_that_highs_takes_for_zero(caplog):
    m = maximise_three_rows()
    m.tiny = pyo.Constraint(expr=1e-10 * m.x <= 1)
    compile_model(m)
    assert "for zero: 1e-10 (x in tiny)" in caplog.text


def test_8_added_columns_far_apart(caplog):
    engine = Engine(maximise_three_rows())
    engine.add_columns([1.0], 0, 1, [[0, 1]], [[1e-3, 1e6]], names=["p"])
    assert "0.001 (p in a) and 1e+06 (p in b)" in caplog.text


# 9. Nothing is printed unless asked for.

SOLVES = """
import logging, sys
from tests.models.solver.kit import knapsack, maximise_three_rows
from models.solver import Engine, solve_model
{prepare}
for build in (knapsack, maximise_three_rows):
    engine = Engine(build(){log})
    engine.solve(verify=True)
    engine.set_row_bounds([0], 1000, 2000)
    engine.solve()
"""


def test_9_silent_by_default():
    done = run_python(SOLVES.format(prepare="", log=""))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_9_asked_for_it_still_prints_nothing_but_logs():
    prepare = "logging.basicConfig(level=logging.INFO, stream=sys.stderr)"
    done = run_python(SOLVES.format(prepare=prepare, log=", log=True"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "INFO:models.solver.highs:" in done.stderr
    assert "MIP" in done.stderr
    quiet = run_python(SOLVES.format(prepare=prepare, log=""))
    assert "models.solver" not in quiet.stderr


def test_9_log_lines_reach_logging(caplog, capfd):
    caplog.set_level(logging.INFO, logger="models.solver.highs")
    Engine(maximise_three_rows(), log=True).solve()
    assert "Optimal" in caplog.text
    assert capfd.readouterr() == ("", "")


# 10. A MIP drops every node that is not better by 1e-6, absolute, and calls the rest optimal.


@pytest.mark.parametrize("seed", range(4))
def test_10_what_is_small_beside_the_largest_cost_counts_too(seed):
    """One item is worth 1, the others 1e-8 to 1e-7."""
    rng = np.random.Generator(np.random.PCG64(seed))
    items = 12
    values = rng.integers(10, 100, items) * 1e-9
    values[0] = 1.0
    weights = rng.integers(5, 60, (3, items))
    limits = weights.sum(axis=1) // 3
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(items), domain=pyo.Binary)
    m.c = pyo.Constraint(
        range(3),
        rule=lambda m, r: sum(int(weights[r, i]) * m.x[i] for i in m.x) <= int(limits[r]),
    )
    m.o = pyo.Objective(expr=sum(float(values[i]) * m.x[i] for i in m.x), sense=pyo.maximize)
    choices = np.array([[b >> i & 1 for i in range(items)] for b in range(2**items)])
    best = (choices @ values)[(choices @ weights.T <= limits).all(axis=1)].max()
    result = solve_model(m, mip_gap=1e-12, mip_gap_abs=0.0)
    assert abs(result.objective - best) < 1e-12
    assert abs(result.bound - best) < 1e-12
