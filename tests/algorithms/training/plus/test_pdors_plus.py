"""pdors-plus: audits, no look-ahead, promises, and what its parts do, on instances by hand."""

import dataclasses

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.plus.pdors_plus import PlusOutcome
from models.files import to_json
from models.training import SigmoidUtility, TrainingInstance, audit
from models.training.generator import generate
from tests.algorithms.training.kit import (
    cluster,
    explanation_of,
    flat,
    unit_job,
    workers_by_slot,
)
from tests.algorithms.training.test_policies import SPECIAL, TWO, check, check_log

VARIANTS = [
    {},
    {"prices": "none"},
    {"prices": "paper"},
    {"replan": "never"},
    {"replan": "never", "prices": "paper", "external": False, "placement": "first", "levels": 5},
    {"promise": "finish"},
    {"promise": "none"},
    {"levels": 3, "rounds": 5},
]


def shape(seed):
    return generate(
        jobs=15,
        slots=8 + 2 * (seed % 4),
        machines=1 + 2 * (seed % 5),
        preset="paper" if seed % 3 == 2 else "calibrated",
        scales=(0.5, 1.0, 1.5) if seed % 2 else (1.0,),
        seed=seed,
    ).instance


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_random_instances_pass_the_audit(seed, options):
    instance = shape(seed)
    outcome = run(instance, "pdors-plus", seed=seed, **{"rounds": 40, **options})
    check(instance, outcome)
    check_log(instance, outcome)
    assert outcome.counters["promises_broken"] == 0 or options.get("promise") in ("finish", "none")


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(name, options):
    outcome = run(SPECIAL[name], "pdors-plus", **options)
    check(SPECIAL[name], outcome)
    if SPECIAL[name].possible_jobs:
        check_log(SPECIAL[name], outcome)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_same_seed_same_bytes(options):
    instance = shape(3)
    first, second = (run(instance, "pdors-plus", seed=4, **options) for _ in range(2))
    assert to_json(first.solution) == to_json(second.solution)
    assert first.log.decisions == second.log.decisions
    assert first.counters == second.counters


def later_changed(instance, slot, rng):
    """The same instance, but from `slot` on other jobs arrive, and in the file all are shuffled."""
    kept = [job for job in instance.jobs if job.arrival < slot]
    other = [
        job.model_copy(update={"name": f"other{i}", "arrival": int(rng.integers(slot, 10))})
        for i, job in enumerate(generate(jobs=12, slots=10, machines=6, seed=77).instance.jobs)
    ]
    jobs = [*kept]
    for job in other:
        jobs.insert(int(rng.integers(len(jobs) + 1)), job)
    return TrainingInstance(
        slots=instance.slots,
        resources=instance.resources,
        machines=instance.machines,
        jobs=tuple(jobs),
    )


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("slot", [4, 6, 8])
def test_nothing_of_the_future_is_used(slot, options):
    """What is executed before a slot does not depend on jobs that arrive from it on."""
    instance = generate(jobs=20, slots=10, machines=6, seed=8).instance
    changed = later_changed(instance, slot, np.random.Generator(np.random.PCG64(slot)))

    def executed(which):
        outcome = run(which, "pdors-plus", seed=5, **{"rounds": 30, **options})
        return {
            job.name: early
            for job in outcome.solution.jobs
            if (early := [item for item in job.allocation if item.slot < slot])
        }

    before = executed(instance)
    assert before or slot == 4
    assert executed(changed) == before


def test_a_lone_job_starts_at_once_and_ends_as_early_as_it_can():
    instance = cluster(unit_job(worker_slots=9))
    outcome = run(instance, "pdors-plus")
    assert outcome.solution.jobs[0].completion == 1
    assert outcome.log.decisions[0].promised == 1
    assert explanation_of(outcome, "j").startswith("completed in slot 1; planned for slot 1")


def test_it_spreads_a_job_that_one_machine_is_too_slow_for():
    hurry = SigmoidUtility(kind="sigmoid", priority=10, decay=5.0, target=0.5)
    job = unit_job(worker_slots=5, worker={"gpu": 2}, utility=hurry)
    spread = run(cluster(job, machines=TWO), "pdors-plus")
    single = run(cluster(job, machines=TWO), "pdors-plus", external=False)
    assert (spread.solution.jobs[0].completion, single.solution.jobs[0].completion) == (0, 1)


def test_the_tightest_machine_leaves_the_other_whole():
    machines = [{"gpu": 6.0}, {"gpu": 2.0}]
    jobs = (
        unit_job("small", worker_slots=2, batch=2, utility=flat(90.0)),
        # 537 samples on one machine, 486 on two, and 500 are needed.
        unit_job("big", worker_slots=5, batch=6, gradient=0.0035, utility=flat(1.0)),
    )
    tight = run(cluster(*jobs, machines=machines, slots=1), "pdors-plus", rounds=0)
    first = run(
        cluster(*jobs, machines=machines, slots=1), "pdors-plus", rounds=0, placement="first"
    )
    assert [job.completion for job in tight.solution.jobs] == [0, 0]
    assert [job.completion for job in first.solution.jobs] == [0, None]


def preempted(**options):
    """A long job of little worth has begun when a job arrives that is worth much, at once."""
    hurry = SigmoidUtility(kind="sigmoid", priority=100, decay=5.0, target=0.5)
    jobs = (
        unit_job("long", worker_slots=30, utility=flat(2.0)),
        unit_job("urgent", worker_slots=5, arrival=2, utility=hurry),
    )
    return run(cluster(*jobs, machines=[{"gpu": 5.0}], slots=6), "pdors-plus", **options)


def test_a_promise_is_kept():
    kept = preempted(prices="none")
    # "long" was to end in the last slot, and needs all slots for that.
    assert workers_by_slot(kept, "long") == dict.fromkeys(range(6), 5)
    assert kept.solution.jobs[1].reason == "not-selected"
    assert "no room in time" in explanation_of(kept, "urgent")
    given_up = preempted(prices="none", promise="none")
    assert given_up.solution.jobs[0].reason == "unfinished"
    assert given_up.solution.jobs[1].completion == 2
    assert given_up.counters["promises_broken"] == 1


@pytest.mark.parametrize("seed", range(6))
def test_promises_hold_on_random_instances(seed):
    instance = generate(jobs=25, slots=12, machines=3, seed=seed).instance
    outcome = run(instance, "pdors-plus", seed=seed, rounds=60)
    assert outcome.counters["promises_broken"] == 0
    started = [entry for entry in outcome.log.decisions if entry.first_slot is not None]
    assert started
    for entry in started:
        assert isinstance(entry, PlusOutcome)
        assert entry.completion is not None
        assert entry.completion <= entry.promised
    finish = run(instance, "pdors-plus", seed=seed, rounds=60, promise="finish")
    assert all(job.completion is not None or not job.allocation for job in finish.solution.jobs)


def test_prices_keep_room_for_better_jobs_like_those_seen():
    """Small jobs of great worth come every slot; a large one of little worth is not taken on."""
    hurry = SigmoidUtility(kind="sigmoid", priority=100, decay=5.0, target=0.5)
    small = [unit_job(f"s{t}", worker_slots=5, arrival=t, utility=hurry) for t in range(8)]
    large = unit_job("large", worker_slots=20, arrival=3, utility=flat(4.0))
    instance = cluster(*small, large, machines=[{"gpu": 5.0}])
    priced = run(instance, "pdors-plus")
    assert [job.completion for job in priced.solution.jobs] == [*range(8), None]
    assert "price" in explanation_of(priced, "large") or "room" in explanation_of(priced, "large")
    assert priced.log.price_levels[3] > 0


def test_a_job_is_decided_once_if_nothing_is_planned_anew():
    instance = shape(4)
    outcome = run(instance, "pdors-plus", replan="never")
    for entry in outcome.log.decisions:
        if entry.completion is not None:
            assert entry.completion == entry.promised
    # A job turned away never runs, although there may be room later.
    assert outcome.counters["rounds"] <= instance.slots


def test_planning_anew_is_better_on_average():
    values = {"slot": 0.0, "never": 0.0}
    for seed in range(4):
        instance = generate(jobs=25, slots=10, machines=5, seed=seed).instance
        for replan in values:
            values[replan] += run(instance, "pdors-plus", replan=replan).solution.objective
    assert values["slot"] > values["never"]


def test_log_fields_are_plain_numbers():
    outcome = run(shape(1), "pdors-plus")
    for entry in outcome.log.decisions:
        values = dataclasses.asdict(entry)
        assert all(
            value is None or isinstance(value, (int, float, str)) for value in values.values()
        )
        assert not any(isinstance(value, np.generic) for value in values.values())
    assert len(outcome.log.price_levels) == shape(1).slots


@pytest.mark.slow
@pytest.mark.parametrize("machines", [20, 50, 100])
def test_full_size_passes_the_audit(machines):
    """I = 50, T = 20 on 20 seeds."""
    for seed in range(20):
        instance = generate(jobs=50, slots=20, machines=machines, seed=seed).instance
        outcome = run(instance, "pdors-plus", seed=seed)
        check(instance, outcome)
        check_log(instance, outcome)
        assert audit(instance, outcome.solution).feasible
