"""The offline optimum: by hand, its properties, its limits, and instances at the edge."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from algorithms.training.exact.optimum import Optimum, optimum
from models.files import InputError
from models.training import (
    Job,
    SigmoidUtility,
    TrainingInstance,
    TrainingSchedule,
    audit,
    build_schedule,
)
from models.training.generator import generate
from tests.training_factories import make_instance, make_job, random_tiny


def solved(instance: TrainingInstance, **options: Any) -> Optimum:
    """The optimum, with what holds for every answer checked."""
    found = optimum(instance, **({"time_limit": 20.0} | options))
    assert audit(instance, found.schedule).feasible
    assert found.lower == found.schedule.objective
    assert found.lower <= found.upper
    closed = found.upper - found.lower <= 1e-6 * found.upper
    assert found.status == ("optimal" if closed else "bounded")
    return found


def proved(instance: TrainingInstance) -> float:
    found = solved(instance)
    assert found.status == "optimal"
    return found.lower


def test_two_jobs_share_one_machine_by_hand() -> None:
    """Each needs two slots of the whole machine; the one that loses more by waiting goes first."""
    utility = {"kind": "sigmoid", "decay": 1.0, "target": 2.0}
    low = make_job("low", utility=SigmoidUtility(priority=10.0, **utility))
    high = make_job("high", utility=SigmoidUtility(priority=30.0, **utility))
    instance = make_instance(low, high, slots=4)
    best = 30 / (1 + math.exp(-1)) + 10 / (1 + math.exp(1))
    found = solved(instance)
    assert found.status == "optimal"
    assert found.lower == pytest.approx(best, rel=1e-12)
    completions = {job.name: job.completion for job in found.schedule.jobs}
    assert completions == {"high": 1, "low": 3}


def test_room_for_only_one_by_hand() -> None:
    jobs = [
        make_job(name, utility=SigmoidUtility(kind="sigmoid", priority=p, decay=0.0, target=0.0))
        for name, p in (("a", 3.0), ("b", 8.0), ("c", 5.0))
    ]
    found = solved(make_instance(*jobs, slots=2))
    assert found.status == "optimal"
    assert found.upper == pytest.approx(4.0, rel=1e-6)
    assert [job.reason for job in found.schedule.jobs] == ["not-selected", None, "not-selected"]


def test_external_workers_reach_what_no_machine_alone_can() -> None:
    """One machine holds one worker with its PS; two together hold two: one slot instead of two."""
    job = make_job(samples=1, batch=2, workers_per_ps=1.0, gradient=0.0)
    together = make_instance(job, slots=2, capacities=({"cpu": 2.0}, {"cpu": 2.0}))
    found = solved(together)
    assert found.status == "optimal"
    assert found.schedule.jobs[0].completion == 0
    assert {item.machine for item in found.schedule.jobs[0].allocation} == {"m0", "m1"}


EDGES: dict[str, tuple[Sequence[Job], dict[str, Any], float | None]] = {
    "no jobs": ([], {}, 0.0),
    "all impossible": ([make_job(samples=1000)], {}, 0.0),
    "one slot": ([make_job(samples=1)], {"slots": 1}, None),
    "late arrival": ([make_job(samples=1, arrival=2)], {}, None),
    "one worker at most": ([make_job(batch=1, samples=1)], {}, None),
    "gamma not whole": ([make_job(workers_per_ps=math.sqrt(2)), make_job("j1")], {}, None),
    "many PSs per worker": ([make_job(workers_per_ps=0.3, batch=1, samples=1)], {}, 0.0),
    "no demand": ([make_job(worker={}, ps={})], {"capacities": ({},)}, None),
    "no demand, huge batch": (
        [make_job(worker={}, ps={}, batch=2**40, samples=2**40)],
        {"capacities": ({}, {})},
        None,
    ),
    "no demand for PSs": ([make_job(ps={})], {}, None),
    "no capacity": ([make_job()], {"capacities": ({}, {"cpu": 0.0})}, 0.0),
    "machines with and without": ([make_job()], {"capacities": ({}, {"cpu": 4.0})}, None),
    "utility underflows to zero": (
        [make_job(utility=SigmoidUtility(kind="sigmoid", priority=1.0, decay=1e4, target=0.0))],
        {},
        0.0,
    ),
    "tiny demand": ([make_job(worker={"cpu": 1e-12}, ps={"cpu": 1e-12})], {}, None),
    "large demand": (
        [make_job(worker={"cpu": 1e12}, ps={"cpu": 1e12})],
        {"capacities": ({"cpu": 4e12},)},
        None,
    ),
}


@pytest.mark.parametrize("name", list(EDGES))
def test_edges(name: str) -> None:
    jobs, options, expected = EDGES[name]
    value = proved(make_instance(*jobs, **options))
    if expected is None:
        assert value > 0
    else:
        assert value == expected


def test_utilities_apart_by_hundreds_of_orders_of_magnitude() -> None:
    """The small ones do not disturb the proof, and are still earned where there is room."""
    steep = SigmoidUtility(kind="sigmoid", priority=1.0, decay=300.0, target=0.0)
    jobs = [make_job("big", samples=1), *(make_job(f"s{k}", utility=steep) for k in range(2))]
    found = solved(make_instance(*jobs, slots=4))
    assert found.status == "optimal"
    assert sum(job.completion is not None for job in found.schedule.jobs) == 2


def test_a_whole_instance_of_tiny_utilities_is_proved_relative_to_itself() -> None:
    jobs = [
        make_job(
            f"j{k}", utility=SigmoidUtility(kind="sigmoid", priority=p, decay=100.0, target=0.0)
        )
        for k, p in enumerate((1.0, 2.0, 4.0))
    ]
    value = proved(make_instance(*jobs, slots=3))
    assert value == pytest.approx(4.0 * math.exp(-100), rel=1e-6)


def changed(instance: TrainingInstance, **fields: Any) -> TrainingInstance:
    return instance.model_copy(update=fields)


@pytest.mark.parametrize("seed", range(12))
def test_properties_of_the_optimum(seed: int) -> None:
    instance = random_tiny(seed)
    value = proved(instance)
    same = pytest.approx(value, rel=1e-6, abs=1e-12)

    turned = changed(instance, machines=instance.machines[::-1], jobs=instance.jobs[::-1])
    assert proved(turned) == same

    scaled = tuple(
        job.model_copy(
            update={
                "utility": job.utility.model_copy(update={"priority": job.utility.priority * 8})
            }
        )
        for job in instance.jobs
    )
    assert proved(changed(instance, jobs=scaled)) == pytest.approx(8 * value, rel=1e-6, abs=1e-12)

    larger = tuple(
        machine.model_copy(update={"capacity": {r: c * 1.5 for r, c in machine.capacity.items()}})
        for machine in instance.machines
    )
    assert proved(changed(instance, machines=larger)) >= value * (1 - 1e-6)
    assert proved(changed(instance, slots=instance.slots + 1)) >= value * (1 - 1e-6)
    assert proved(changed(instance, jobs=instance.jobs[1:])) <= value * (1 + 1e-6)


def test_same_seed_same_schedule() -> None:
    instance = random_tiny(3)
    assert optimum(instance, seed=5).schedule == optimum(instance, seed=5).schedule


def test_starts_from_a_given_schedule() -> None:
    """With no time at all the answer is the given schedule (and what fits beside it)."""
    instance = make_instance(make_job("a"), make_job("b"), slots=4)
    start = build_schedule(instance, "mine", {1: [(0, 0, 2, 2), (1, 0, 2, 2)]})
    found = solved(instance, start=start, time_limit=0.0)
    assert found.schedule.jobs[1].allocation == start.jobs[1].allocation
    assert found.lower >= start.objective > 0
    assert "given schedule" in found.log[0]


def test_a_start_that_fails_the_audit_is_not_used() -> None:
    instance = make_instance(make_job("a"), slots=2)
    wrong = build_schedule(instance, "mine", {0: [(0, 0, 50, 50)]})
    found = solved(instance, start=wrong)
    assert found.status == "optimal"
    assert found.schedule.jobs[0].completion == 1
    assert "fails the audit" in found.log[0]


def test_a_start_of_another_instance_is_an_error() -> None:
    start: TrainingSchedule = build_schedule(make_instance(make_job("x")), "mine", {})
    with pytest.raises(InputError, match=r"not a job of the instance.*x"):
        optimum(make_instance(make_job("a")), start=start)


@pytest.mark.parametrize("size", [(8, 10, 5), (50, 20, 100)])
def test_no_time_gives_a_valid_interval(size: tuple[int, int, int]) -> None:
    jobs, slots, machines = size
    instance = generate(jobs, slots, machines, seed=0).instance
    found = solved(instance, time_limit=0.01)
    assert math.isfinite(found.upper)


def test_progress_reports_a_shrinking_interval() -> None:
    seen: list[tuple[float, float, float]] = []
    instance = generate(6, 6, 2, seed=1).instance
    found = optimum(instance, time_limit=5.0, progress=lambda *state: seen.append(state))
    assert seen
    lowers, uppers = [state[0] for state in seen], [state[1] for state in seen]
    assert lowers == sorted(lowers)
    assert uppers == sorted(uppers, reverse=True)
    assert seen[-1][0] <= found.lower
    assert seen[-1][1] >= found.upper


@pytest.mark.slow
@pytest.mark.parametrize("size", [(8, 10, 5), (50, 20, 20), (50, 20, 100)])
def test_short_of_time_the_answer_is_an_interval(size: tuple[int, int, int]) -> None:
    jobs, slots, machines = size
    instance = generate(jobs, slots, machines, seed=0).instance
    found = solved(instance, time_limit=8.0)
    assert 0 < found.lower <= found.upper
    alone = sum(
        instance.jobs[i].utility.value(instance.reach[i].slots_needed - 1)
        for i in instance.possible_jobs
    )
    assert found.upper <= alone * (1 + 1e-9)
