"""DMLRS, R-DMLRS, its dual and the pooled relaxation on instances worked out by hand."""

import pyomo.environ as pyo
import pytest

from algorithms.training.exact.list_scheduling import FreeCapacity
from models.solver import solve_model
from models.training import SigmoidUtility, audit, build_schedule
from models.training.dmlrs import build_dmlrs, model_size
from models.training.dual import build_dual
from models.training.fit import fit_of, machine_classes
from models.training.generator import generate
from models.training.point import decode, encode, finished
from models.training.pooled import build_pooled
from models.training.r_dmlrs import JobPlan, build_r_dmlrs, plans_of, resource_use, selected
from tests.training_factories import make_instance, make_job, random_tiny

EXACT = {"mip_gap": 1e-9, "mip_gap_abs": 1e-9}
ALWAYS = SigmoidUtility(kind="sigmoid", priority=2.0, decay=0.0, target=0.0)  # u = 1


def test_fit_counts_what_one_machine_holds() -> None:
    """6 CPUs; a worker takes 1, a PS 1.5, one PS for two workers: three workers and two PSs."""
    job = make_job(batch=8, workers_per_ps=2.0, ps={"cpu": 1.5})
    fit = fit_of(make_instance(job, capacities=({"cpu": 6.0}, {"cpu": 1.0})))
    assert fit.internal_workers.tolist() == [[3, 0]]
    assert fit.internal_ps.tolist() == [[2, 0]]
    assert fit.external_workers.tolist() == [[6, 1]]
    assert fit.external_ps.tolist() == [[4, 0]]


def test_equal_machines_are_grouped() -> None:
    instance = make_instance(capacities=({"cpu": 1.0}, {"cpu": 2.0}, {"cpu": 1.0}))
    assert machine_classes(instance.capacity) == [[0, 2], [1]]


def test_compact_model_has_variables_only_where_something_can_run() -> None:
    """j0 arrives in slot 1 and needs 2 slots; j1 is impossible; m1 holds nothing."""
    jobs = [make_job("j0", arrival=1), make_job("j1", samples=100)]
    instance = make_instance(*jobs, slots=4, capacities=({"cpu": 4.0}, {"cpu": 0.0}))
    model = build_dmlrs(instance)
    assert set(model.completes) == {(0, 2), (0, 3)}
    assert set(model.internal) == {(0, 0, 1), (0, 0, 2), (0, 0, 3)}
    assert set(model.external_workers) == set(model.internal)
    assert model_size(instance) == 6


def test_last_slot_leaves_out_jobs_and_slots() -> None:
    instance = make_instance(make_job("j0"), make_job("j1"), slots=4)
    model = build_dmlrs(instance, last_slot={1: 2})
    assert set(model.completes) == {(1, 1), (1, 2)}
    assert max(t for _, _, t in model.internal) == 2


def test_free_capacity_replaces_the_machines_own() -> None:
    """Slots 0 and 1 are taken, so the job completes in slot 3."""
    instance = make_instance(make_job(), slots=4)
    left = instance.capacity[None].repeat(4, axis=0)
    left[:2] = 0.0
    model = build_dmlrs(instance, left=left, break_symmetry=False)
    solve_model(model, **EXACT).load_into(model)
    places = decode(model, instance)[0]
    assert sorted({slot for slot, *_ in places}) == [2, 3]
    with pytest.raises(ValueError, match="equal machines"):
        build_dmlrs(instance, left=left)


def test_objective_is_scaled() -> None:
    instance = make_instance(make_job(utility=ALWAYS))
    assert solve_model(build_dmlrs(instance, scale=4.0)).objective == pytest.approx(0.25)
    assert solve_model(build_pooled(instance, scale=4.0)).objective == pytest.approx(0.25)


def test_decode_drops_idle_and_surplus_ps() -> None:
    """Four PSs where two are needed, one of them on a machine of its own; PSs without workers."""
    instance = make_instance(make_job(), slots=3, capacities=({"cpu": 6.0}, {"cpu": 6.0}))
    model = build_dmlrs(instance)
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(0)
    for t in (0, 1):
        model.external_workers[0, 0, t].set_value(1.9999999)
        model.external_ps[0, 0, t].set_value(3)
        model.external_ps[0, 1, t].set_value(1)
    model.external_ps[0, 1, 2].set_value(1)
    assert decode(model, instance) == {0: [(0, 0, 2, 2), (1, 0, 2, 2)]}


@pytest.mark.parametrize("seed", range(10))
def test_encode_gives_a_solution_of_every_row_with_the_same_placements(seed: int) -> None:
    """Also of the rows that order equal machines, whatever the names in the schedule."""
    instance = generate(6, 6, 3, seed=seed).instance
    free = FreeCapacity(instance)
    for i in instance.possible_jobs:
        places = free.find(i, instance.slots - 1, "large")
        if places is not None:
            free.put(i, places)
    turned = {i: [(t, 2 - h, w, s) for t, h, w, s in places] for i, places in free.placed.items()}
    model = build_dmlrs(instance)
    encode(model, instance, turned)
    for row in model.component_data_objects(pyo.Constraint):
        assert row.slack() >= -1e-6, row.name
    found = decode(model, instance)
    assert set(found) == set(turned)
    assert pyo.value(model.total_utility) == pytest.approx(
        build_schedule(instance, "same", turned).objective
    )
    assert audit(instance, build_schedule(instance, "same", found)).feasible


def test_encode_leaves_out_what_the_model_leaves_out() -> None:
    instance = make_instance(make_job(), make_job("j1"), slots=4)
    model = build_dmlrs(instance, last_slot={0: 1})
    encode(model, instance, {0: [(2, 0, 2, 2), (3, 0, 2, 2)], 1: [(0, 0, 2, 2), (1, 0, 2, 2)]})
    assert decode(model, instance) == {}


def test_decode_leaves_out_what_is_not_finished() -> None:
    instance = make_instance(make_job())
    model = build_dmlrs(instance)
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(0)
    model.internal_workers[0, 0, 0].set_value(2)
    model.internal_ps[0, 0, 0].set_value(2)
    assert decode(model, instance) == {}
    assert not finished(instance.jobs[0], [(0, 0, 2, 2)])


def test_fractional_capacity_is_rounded_to_what_whole_demands_use() -> None:
    """Demands of 2 in a capacity of 5: the linear relaxation already knows of two workers."""
    job = make_job(batch=3, worker={"cpu": 2.0}, ps={}, epochs=1, samples=3)
    instance = make_instance(job, slots=1, capacities=({"cpu": 5.0},))
    assert not instance.reach[0].possible
    instance = make_instance(job, slots=2, capacities=({"cpu": 5.0},))
    row = build_dmlrs(instance).capacity[0, 0, 0]
    assert pyo.value(row.upper) == pytest.approx(1.0)
    assert "0.5*internal_workers" in str(row.body)


def plan(job: int, completion: int, *places: tuple[int, int, int, int]) -> JobPlan:
    return JobPlan(job, completion, places)


def two_halves() -> tuple[object, list[JobPlan]]:
    """Two jobs of utility 1 that each need three quarters of the only machine in slot 0."""
    jobs = [make_job(n, epochs=1, batch=3, samples=3, ps={}, utility=ALWAYS) for n in ("a", "b")]
    instance = make_instance(*jobs, slots=1)
    return instance, [plan(0, 0, (0, 0, 3, 3)), plan(1, 0, (0, 0, 3, 3))]


def test_r_dmlrs_by_hand() -> None:
    instance, plans = two_halves()
    assert resource_use(instance, plans[0]) == {(0, 0, 0): 3.0}
    integer = build_r_dmlrs(instance, plans)
    result = solve_model(integer, **EXACT)
    assert result.objective == pytest.approx(1.0)
    result.load_into(integer)
    chosen = selected(integer, plans)
    assert len(chosen) == 1
    assert plans_of(chosen)[0] in plans
    assert audit(instance, build_schedule(instance, "r-dmlrs", chosen)).feasible


def test_linear_relaxation_and_dual_by_hand() -> None:
    """Together the two jobs want 6 of 4 CPUs, so 4/3 jobs; a CPU is worth a third of a job."""
    instance, plans = two_halves()
    relaxed = solve_model(build_r_dmlrs(instance, plans, relaxed=True))
    assert relaxed.objective == pytest.approx(4 / 3)
    dual = build_dual(instance, plans)
    result = solve_model(dual)
    assert result.objective == pytest.approx(4 / 3)
    result.load_into(dual)
    assert dual.price[0, 0, 0].value == pytest.approx(1 / 3)
    assert [dual.payoff[i].value for i in (0, 1)] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_models_without_plans_are_worth_nothing() -> None:
    instance = make_instance(make_job())
    assert solve_model(build_r_dmlrs(instance, [])).objective == 0
    assert solve_model(build_dual(instance, [])).objective == 0


def test_dual_prices_are_the_duals_of_the_relaxation() -> None:
    """One plan per job: the dual has one solution, and the solver's duals are it."""
    instance, plans = two_halves()
    primal = build_r_dmlrs(instance, plans[:1], relaxed=True)
    result = solve_model(primal)
    rows = result.compiled.rows(primal.schedule_selection)
    dual = build_dual(instance, plans[:1])
    solved = solve_model(dual)
    solved.load_into(dual)
    assert dual.payoff[0].value == pytest.approx(1.0)
    assert result.dual[rows] == pytest.approx([1.0])


def test_pooled_relaxation_ignores_where_machines_end() -> None:
    """Workers of 3 CPUs on machines of 4: pooled, two machines hold 8/3 of them, really 2."""
    jobs = [
        make_job(n, epochs=1, samples=1, batch=1, worker={"cpu": 3.0}, ps={}, utility=ALWAYS)
        for n in "abc"
    ]
    instance = make_instance(*jobs, slots=1, capacities=({"cpu": 4.5}, {"cpu": 4.5}))
    assert solve_model(build_pooled(instance), **EXACT).bound == pytest.approx(3.0)
    assert solve_model(build_dmlrs(instance), **EXACT).objective == pytest.approx(2.0)


def test_whole_workers_strengthen_the_pooled_relaxation() -> None:
    """Two jobs of one worker and one PS per three workers: whole PSs do not fit twice."""
    jobs = [
        make_job(n, epochs=1, samples=1, batch=1, workers_per_ps=3.0, utility=ALWAYS) for n in "ab"
    ]
    instance = make_instance(*jobs, slots=1, capacities=({"cpu": 3.0},))
    assert solve_model(build_pooled(instance), **EXACT).bound == pytest.approx(2.0)
    whole = build_pooled(instance, whole_workers=True)
    assert solve_model(whole, **EXACT).bound == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(30, 50))
def test_relaxations_bound_the_compact_model(seed: int) -> None:
    instance = random_tiny(seed)
    exact = solve_model(build_dmlrs(instance), **EXACT).objective
    for whole in (False, True):
        bound = solve_model(build_pooled(instance, whole_workers=whole), **EXACT).bound
        assert bound >= exact * (1 - 1e-6)
