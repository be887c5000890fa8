"""Optimus: its marginal gains by hand and against enumeration, and its compact placement."""

import itertools

import pytest

from algorithms.training import run
from tests.algorithms.training.kit import cluster, explanation_of, unit_job, workers_by_slot


def first_slot(instance):
    outcome = run(instance, "optimus")
    return [workers_by_slot(outcome, job.name).get(0, 0) for job in instance.jobs]


def test_workers_go_where_they_shorten_training_the_most():
    """Remaining slots a: 8, 4, 2.67, 2; b: 4, 2, 1.33. The gains a 4, b 2, a 1.33 come first."""
    jobs = [unit_job("a", worker_slots=8), unit_job("b", worker_slots=4)]
    counts = {gpus: first_slot(cluster(*jobs, machines=[{"gpu": gpus}])) for gpus in range(2, 7)}
    assert counts == {2: [1, 1], 3: [2, 1], 4: [2, 2], 5: [3, 2], 6: [3, 3]}


def test_gain_counts_per_dominant_share_of_what_it_takes():
    """With three times the demand a's first gain of 4 is worth 1.33, less than b's 2."""
    jobs = [unit_job("a", worker_slots=8, worker={"gpu": 3}), unit_job("b", worker_slots=4)]
    assert first_slot(cluster(*jobs, machines=[{"gpu": 7.0}])) == [1, 4]
    assert first_slot(cluster(*jobs, machines=[{"gpu": 8.0}])) == [2, 2]
    assert first_slot(cluster(*jobs, machines=[{"gpu": 5.0}])) == [1, 2]


def test_ps_that_a_worker_requires_is_part_of_the_bundle():
    """The second worker of a brings a PS of 2 CPUs: gain 4 per 3 CPUs, against b's 2 per 1."""
    jobs = [
        unit_job("a", worker_slots=8, worker={"cpu": 1}, ps={"cpu": 2}, workers_per_ps=1.0),
        unit_job("b", worker_slots=4, worker={"cpu": 1}),
    ]
    assert first_slot(cluster(*jobs, machines=[{"cpu": 5.0}])) == [1, 2]


def test_every_job_gets_a_first_worker_the_soonest_done_first():
    jobs = [unit_job(f"j{w}", worker_slots=w) for w in (9, 3, 6)]
    assert first_slot(cluster(*jobs, machines=[{"gpu": 2.0}])) == [0, 1, 1]
    outcome = run(cluster(*jobs, machines=[{"gpu": 2.0}], slots=20), "optimus")
    assert "workers did more for other jobs" in explanation_of(outcome, "j9")


def test_nothing_is_gained_below_one_slot():
    jobs = [unit_job("a", worker_slots=2), unit_job("b", worker_slots=3)]
    assert first_slot(cluster(*jobs, machines=[{"gpu": 20.0}])) == [2, 3]


def least_total_time(worker_slots, gpus, batch):
    times = []
    for counts in itertools.product(range(1, batch + 1), repeat=len(worker_slots)):
        if sum(counts) <= gpus:
            times.append(sum(max(w / n, 1.0) for w, n in zip(worker_slots, counts, strict=True)))
    return min(times)


@pytest.mark.parametrize("gpus", range(3, 16))
@pytest.mark.parametrize("worker_slots", [(10, 4, 7), (2, 3, 30), (5, 5, 5)])
def test_with_equal_demands_the_plan_has_the_least_total_remaining_time(worker_slots, gpus):
    jobs = [unit_job(f"j{i}", worker_slots=w) for i, w in enumerate(worker_slots)]
    counts = first_slot(cluster(*jobs, machines=[{"gpu": float(gpus)}], slots=40))
    time = sum(max(w / n, 1.0) for w, n in zip(worker_slots, counts, strict=True))
    assert time == pytest.approx(least_total_time(worker_slots, gpus, 5))


def machines_of(outcome, name, slot=0):
    job = next(job for job in outcome.solution.jobs if job.name == name)
    return {item.machine: (item.workers, item.ps) for item in job.allocation if item.slot == slot}


def test_small_jobs_are_placed_first_and_on_one_machine():
    """The large job would fit m0 alone; the small one comes first and takes the tighter m1."""
    machines = [{"gpu": 4.0, "cpu": 4.0}, {"gpu": 2.0, "cpu": 4.0}]
    jobs = [
        unit_job("large", worker_slots=4, workers_per_ps=9.0, ps={"cpu": 1}),
        unit_job("small", worker_slots=2, workers_per_ps=9.0, ps={"cpu": 1}),
    ]
    outcome = run(cluster(*jobs, machines=machines), "optimus")
    assert machines_of(outcome, "small") == {"m1": (2, 1)}
    assert machines_of(outcome, "large") == {"m0": (4, 1)}


def test_plan_is_at_the_external_rate_and_the_placement_at_the_true_one():
    """External 50 samples a worker, internal 100: planned two slots of work take one."""
    job = unit_job(
        worker_slots=4,
        batch=4,
        sample_time=0.005,
        gradient=0.01,
        bandwidth_internal=2.0,
        bandwidth_external=2 / 3,
    )
    assert job.rate_internal == pytest.approx(1 / 0.01)
    assert job.rate_external == pytest.approx(1 / 0.02)
    outcome = run(cluster(job, machines=[{"gpu": 4.0, "cpu": 4.0}]), "optimus")
    assert workers_by_slot(outcome, "j") == {0: 4}
    assert outcome.solution.jobs[0].completion == 0


def test_planned_workers_without_a_place_are_dropped_and_counted():
    """The pool of 6 GPUs holds three workers of 2 GPUs, the machines of 3 one each."""
    jobs = [unit_job(f"j{i}", worker={"gpu": 2}, worker_slots=1) for i in range(3)]
    outcome = run(cluster(*jobs, machines=[{"gpu": 3.0}] * 2, slots=1), "optimus")
    assert [entry.status for entry in outcome.log.decisions] == [
        "completed",
        "completed",
        "not-selected",
    ]
    assert outcome.counters["workers_dropped"] == 1
    assert explanation_of(outcome, "j2") == (
        "never started: waited 1 slot (its planned workers found no place)"
    )
