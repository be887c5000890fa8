"""The task behind the policy figures, and how instances are changed along an axis."""

import math

import pytest

from algorithms.training import POLICIES, run
from experiments.training.instances import changed_instance, draw_instance
from experiments.training.points import COMPARED, ENGINE_OF_ROWS, METRICS, point, points
from experiments.training.policy_task import REASONS, task, training_times

SMALL = {"jobs": 6, "slots": 6, "machines": 3}


def test_compared_policies_exist():
    assert set(COMPARED) <= set(POLICIES)


@pytest.mark.parametrize("policy", COMPARED)
def test_rows_agree_with_the_run(policy):
    parameters = point(policy, **SMALL)
    row = task(parameters, 3)
    instance = draw_instance(parameters, 3).instance
    options = {"engine": ENGINE_OF_ROWS} if policy == "pdors" else {}
    schedule = run(instance, policy, seed=3, **options).solution
    assert row["utility"] == schedule.objective
    assert row["completed"] == sum(job.reason is None for job in schedule.jobs)
    rejected = sum(row[f"rejected_{reason.replace('-', '_')}"] for reason in REASONS)
    assert row["completed"] + rejected + row["impossible"] == SMALL["jobs"]
    assert row["unfinished_share"] == 1 - row["completed"] / row["possible"]
    assert set(METRICS) <= set(row)


def test_unfinished_jobs_count_the_horizon():
    instance = draw_instance(point("fifo", **SMALL), 0).instance
    schedule = run(instance, "fifo", seed=0).solution
    times = training_times(instance, schedule)
    assert len(times) == len(instance.possible_jobs)
    for i, value in zip(instance.possible_jobs, times, strict=True):
        completion = schedule.jobs[i].completion
        assert value == (6 if completion is None else completion - instance.jobs[i].arrival)
    assert 6 in times


def test_without_jobs_nothing_is_defined():
    row = task(point("drf", jobs=0, slots=3, machines=1), 0)
    assert row["utility"] == row["completed"] == 0
    assert math.isnan(row["median_time"])
    assert math.isnan(row["unfinished_share"])


def test_all_policies_of_a_seed_meet_the_same_jobs():
    drawn = [draw_instance(point(policy, **SMALL), 5).instance for policy in COMPARED]
    assert all(instance == drawn[0] for instance in drawn)


def test_factors_change_what_they_say_and_nothing_else():
    instance = draw_instance(point("drf", **SMALL), 0).instance
    assert changed_instance(instance, {}) is instance
    faster = changed_instance(instance, {"internal_factor": 3.0})
    both = changed_instance(instance, {"bandwidth_factor": 0.5})
    larger = changed_instance(instance, {"capacity_factor": 2.0})
    for before, a, b in zip(instance.jobs, faster.jobs, both.jobs, strict=True):
        assert a.bandwidth_internal == 3 * before.bandwidth_internal
        assert a.bandwidth_external == before.bandwidth_external
        assert b.bandwidth_internal == before.bandwidth_internal / 2
        assert b.bandwidth_external == before.bandwidth_external / 2
        assert a.rate_internal > before.rate_internal
    assert faster.machines == instance.machines
    assert larger.jobs == instance.jobs
    assert (larger.capacity == 2 * instance.capacity).all()


def test_options_reach_the_policy():
    few = task(point("pdors", **SMALL, set_levels=2), 0)
    many = task(point("pdors", **SMALL), 0)
    assert few["lps_solved"] < many["lps_solved"]


def test_long_horizons_get_few_levels_for_pdors_only():
    settings = [{"jobs": 5, "slots": slots, "machines": 3} for slots in (20, 80)]
    found = {(p["policy"], p["slots"]): p.get("set_levels") for p in points(COMPARED, settings)}
    assert found.pop(("pdors", 80)) == 20
    assert set(found.values()) == {None}


@pytest.mark.slow
def test_a_basis_that_highs_gives_up_is_forgotten() -> None:
    """HiGHS 1.16 answered a warm slot program of this run with an error and no status."""
    row = task(
        {
            "jobs": 30,
            "slots": 20,
            "machines": 20,
            "preset": "calibrated",
            "mix": "default",
            "locality": 10.0,
            "policy": "pdors",
            "set_levels": 5,
        },
        4,
    )
    assert row["utility"] > 0
