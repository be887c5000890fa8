"""CP-SAT, MILP and brute force agree; bounds hold; optima come with a proof."""

import numpy as np
import pytest

from algorithms.dispatch.exact.brute_force import brute_force
from algorithms.dispatch.exact.first_fit import first_fit
from algorithms.dispatch.exact.optimum import lower_bound, optimum
from algorithms.policy import NoSolution
from models.dispatch import audit, build_schedule, weighted_queue_time
from models.dispatch.cp_sat import solve_cp_sat
from models.dispatch.generator import generate
from models.dispatch.node_exact import build_node_exact
from models.dispatch.relaxed import build_relaxed
from models.dispatch.time_indexed import build_time_indexed
from models.solver import Status, solve_model
from tests.dispatch_factories import make_instance, make_job, make_node, random_instance


def check_agreement(seed: int) -> None:
    instance = random_instance(seed, jobs=2 + seed % 4, nodes=1 + seed % 3, longest=4, submits=3)
    best = brute_force(instance)
    assert audit(instance, best).violations == ()

    exact = build_node_exact(instance)
    answer = solve_cp_sat(exact.relaxed.model, exact.variables)
    assert answer.status == "optimal"
    assert answer.objective is not None
    assert answer.values is not None
    assert answer.objective * exact.relaxed.unit == pytest.approx(best.objective, abs=1e-9)
    found = build_schedule(instance, "cp-sat", *exact.read(instance, answer.values))
    assert audit(instance, found).violations == ()

    milp = solve_model(build_time_indexed(instance, node_exact=True))
    assert milp.status == Status.OPTIMAL
    assert milp.objective == pytest.approx(best.objective, abs=1e-6)

    relaxed = build_relaxed(instance)
    pooled = solve_cp_sat(relaxed.model, relaxed.start)
    assert pooled.objective is not None
    pooled_milp = solve_model(build_time_indexed(instance))
    assert pooled_milp.objective == pytest.approx(pooled.objective * relaxed.unit, abs=1e-6)
    assert pooled_milp.objective <= best.objective + 1e-6
    for slot in (1, 2, 3):
        for last_start in (0, 3, 20):
            assert lower_bound(instance, last_start, slot=slot) <= best.objective + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_three_ways_to_the_optimum_agree(seed: int) -> None:
    check_agreement(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 200))
def test_three_ways_to_the_optimum_agree_on_more(seed: int) -> None:
    check_agreement(seed)


@pytest.mark.parametrize("seed", range(10))
def test_optimum_is_the_optimum(seed: int) -> None:
    instance = random_instance(1000 + seed, jobs=4)
    found = optimum(instance, time_limit=20)
    assert found.status == "optimal"
    assert found.lower == found.upper == found.schedule.objective
    assert found.upper == pytest.approx(brute_force(instance).objective, abs=1e-9)
    assert audit(instance, found.schedule).feasible


def test_an_interval_holds_what_is_known() -> None:
    instance = generate(4, 12, seed=2).instance
    found = optimum(instance, time_limit=4)
    assert 0 < found.lower <= found.upper
    assert audit(instance, found.schedule).feasible
    better = optimum(instance, time_limit=1, start=found.schedule)
    assert better.upper <= found.upper


def test_no_jobs_one_job_and_no_solution() -> None:
    assert optimum(make_instance()).status == "optimal"
    alone = optimum(make_instance([make_job("a", (99,)), make_job("b", submit=5)]))
    assert (alone.status, alone.upper) == ("optimal", 0.0)
    with pytest.raises(NoSolution, match="above the cap"):
        optimum(make_instance([make_job()], power_cap=1.0))


def test_the_first_schedule_places_what_only_an_exact_search_can() -> None:
    units = (2, 2, 2, 3, 3, 4)
    instance = make_instance(
        [make_job("a", units), make_job("b", (8,))], [make_node("x", 8), make_node("y", 8)]
    )
    start, nodes = first_fit(instance)
    schedule = build_schedule(instance, "first-fit", start, nodes)
    assert audit(instance, schedule).feasible
    for seed in range(30):
        instance = random_instance(seed, jobs=8, nodes=3)
        start, nodes = first_fit(instance)
        schedule = build_schedule(instance, "first-fit", start, nodes)
        assert audit(instance, schedule).feasible
        assert schedule.objective == weighted_queue_time(instance, start)


def test_hints_conflict_sets_and_tightening() -> None:
    instance = make_instance([make_job(name, (4,)) for name in "abc"])
    free = build_relaxed(instance)
    assert solve_cp_sat(free.model, free.start).objective == 0
    apart = build_relaxed(instance, conflict_sets=[(0, 1, 2), (1,)])
    assert solve_cp_sat(apart.model, apart.start).objective == 60  # two side by side
    tight = build_relaxed(instance, conflict_sets=[(0, 1), (0, 2), (1, 2)], at_most=180.0)
    tight.hint([0, 60, 120])
    tight.hint([120, 60, 0])
    result = solve_cp_sat(tight.model, tight.start, deterministic_limit=1.0)
    assert result.objective == 180
    none = build_relaxed(instance, conflict_sets=[(0, 1), (0, 2), (1, 2)], at_most=179.0)
    assert solve_cp_sat(none.model, none.start).status == "infeasible"
    assert np.array_equal(none.jobs, [0, 1, 2])
