"""Three ways to the offline optimum agree on tiny instances: all schedules, R-DMLRS, compact."""

import pytest

from algorithms.training.exact.brute_force import brute_force
from algorithms.training.exact.enumeration import enumerate_plans
from algorithms.training.exact.optimum import optimum
from models.solver import solve_model
from models.training import TrainingInstance, audit, build_schedule
from models.training.dmlrs import build_dmlrs
from models.training.dual import build_dual
from models.training.point import decode
from models.training.pooled import build_pooled
from models.training.r_dmlrs import build_r_dmlrs, selected
from tests.training_factories import random_tiny

EXACT = {"mip_gap": 1e-9, "mip_gap_abs": 1e-9}


def check_all_ways(instance: TrainingInstance) -> None:
    expected = brute_force(instance)
    exactly = pytest.approx(expected, rel=1e-6, abs=1e-9)
    plans = enumerate_plans(instance)

    integer = build_r_dmlrs(instance, plans)
    result = solve_model(integer, **EXACT)
    result.load_into(integer)
    schedule = build_schedule(instance, "r-dmlrs", selected(integer, plans))
    assert audit(instance, schedule).feasible
    assert schedule.objective == exactly

    relaxed = solve_model(build_r_dmlrs(instance, plans, relaxed=True))
    dual = solve_model(build_dual(instance, plans))
    assert relaxed.objective >= expected * (1 - 1e-6)
    assert dual.objective == pytest.approx(relaxed.objective, rel=1e-6, abs=1e-9)

    for options in ({}, {"break_symmetry": False}, {"strengthen": False}):
        compact = build_dmlrs(instance, **options)
        result = solve_model(compact, **EXACT)
        result.load_into(compact)
        schedule = build_schedule(instance, "compact", decode(compact, instance))
        assert audit(instance, schedule).feasible
        assert schedule.objective == exactly

    pooled = solve_model(build_pooled(instance), **EXACT)
    whole = solve_model(build_pooled(instance, whole_workers=True), **EXACT)
    assert pooled.bound >= whole.bound * (1 - 1e-6)
    assert whole.bound >= expected * (1 - 1e-6)

    found = optimum(instance, time_limit=20.0)
    assert audit(instance, found.schedule).feasible
    assert found.status == "optimal"
    assert found.lower == found.schedule.objective == exactly
    assert found.upper == exactly


@pytest.mark.parametrize("seed", range(20))
def test_three_ways_agree(seed: int) -> None:
    check_all_ways(random_tiny(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 300))
def test_three_ways_agree_on_many(seed: int) -> None:
    check_all_ways(random_tiny(seed))


@pytest.mark.parametrize("seed", range(20))
def test_cut_off_at_any_moment_the_interval_holds_the_optimum(seed: int) -> None:
    """A relaxation cut off by the limit may have chosen nothing, which forbids nothing."""
    instance = random_tiny(seed)
    exactly = optimum(instance, time_limit=20.0).lower
    for seconds in (0.01, 0.02, 0.04, 0.08, 0.16):
        found = optimum(instance, time_limit=seconds)
        assert found.lower <= exactly * (1 + 1e-9)
        assert found.upper >= exactly * (1 - 1e-9)


def test_tiny_instances_are_contended_often_enough() -> None:
    """Otherwise the comparison above would hardly test anything."""
    contended = 0
    for seed in range(20):
        instance = random_tiny(seed)
        alone = sum(
            instance.jobs[i].utility.value((instance.reach[i].slots_needed or 0) - 1)
            for i in instance.possible_jobs
        )
        contended += optimum(instance, time_limit=20.0).upper < alone * (1 - 1e-6)
    assert contended >= 5
