"""DRF: the classic example of its authors, and progressive filling against a plain loop."""

import math

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.baselines.drf import fill_fairly
from algorithms.training.placement import Cluster
from models.training import Machine, TrainingInstance
from models.training.generator import generate
from tests.algorithms.training.kit import cluster, explanation_of, unit_job, workers_by_slot


def test_classic_example():
    """9 CPUs, 18 GB; a task of A needs (1, 4), one of B (3, 1): A gets 3, B gets 2."""
    jobs = [
        unit_job("A", worker={"cpu": 1, "memory": 4}, batch=99, worker_slots=60),
        unit_job("B", worker={"cpu": 3, "memory": 1}, batch=99, worker_slots=60),
    ]
    instance = TrainingInstance(
        slots=30,
        resources=("cpu", "memory"),
        machines=(Machine(name="m0", capacity={"cpu": 9, "memory": 18}),),
        jobs=tuple(jobs),
    )
    outcome = run(instance, "drf")
    for slot in range(20):
        assert workers_by_slot(outcome, "A")[slot] == 3
        assert workers_by_slot(outcome, "B")[slot] == 2
    filled = Cluster(instance)
    fill_fairly(filled, [0, 1])
    assert filled.share(0) == pytest.approx(2 / 3)  # of memory
    assert filled.share(1) == pytest.approx(2 / 3)  # of CPU


def test_dominant_shares_count_parameter_servers():
    """A PS per worker doubles what A needs: half as many workers make the shares equal."""
    jobs = [
        unit_job("A", worker={"cpu": 1}, ps={"cpu": 1}, workers_per_ps=1.0, batch=99),
        unit_job("B", worker={"cpu": 1}, batch=99),
    ]
    filled = Cluster(cluster(*jobs, machines=[{"cpu": 12.0}]))
    fill_fairly(filled, [0, 1])
    assert filled.worker_count == [3, 6]
    assert filled.share(0) == filled.share(1) == pytest.approx(0.5)


def test_job_that_no_longer_fits_is_skipped_and_others_go_on():
    jobs = [unit_job("wide", worker={"gpu": 4}, worker_slots=5), unit_job("slim", batch=9)]
    outcome = run(cluster(*jobs, machines=[{"gpu": 7.0}]), "drf")
    assert workers_by_slot(outcome, "wide")[0] == 1
    assert workers_by_slot(outcome, "slim")[0] == 3


def test_ties_go_to_the_earlier_arrival_then_to_the_first_in_the_file():
    jobs = [
        unit_job("late", arrival=1, worker_slots=20),
        unit_job("first", worker_slots=20),
        unit_job("second", worker_slots=20),
    ]
    outcome = run(cluster(*jobs, machines=[{"gpu": 4.0}], slots=30), "drf")
    assert [workers_by_slot(outcome, n).get(0) for n in ("late", "first", "second")] == [None, 2, 2]
    assert [workers_by_slot(outcome, n)[1] for n in ("late", "first", "second")] == [1, 2, 1]


def test_shares_are_dealt_anew_when_a_job_finishes():
    jobs = [unit_job("short", worker_slots=3), unit_job("long", worker_slots=13)]
    outcome = run(cluster(*jobs, machines=[{"gpu": 6.0}]), "drf")
    assert workers_by_slot(outcome, "short") == {0: 3}
    assert workers_by_slot(outcome, "long") == {0: 3, 1: 5, 2: 5}  # the batch is 5


def test_waiting_is_explained():
    jobs = [unit_job(f"j{i}", worker_slots=1, batch=1) for i in range(3)]
    outcome = run(cluster(*jobs, machines=[{"gpu": 2.0}]), "drf")
    assert workers_by_slot(outcome, "j2") == {1: 1}
    assert explanation_of(outcome, "j2") == (
        "completed in slot 1; waited 1 slot (no room left for a worker and its parameter servers)"
    )


def plain_filling(instance):
    """Progressive filling on one machine, written down once more and without a queue."""
    capacity = [instance.machines[0].capacity[r] for r in instance.resources]
    use = [0.0] * len(capacity)
    counts = [0] * instance.number_of_jobs
    open_jobs = set(range(instance.number_of_jobs))

    def need(i, workers):
        job = instance.jobs[i]
        ps = math.ceil(workers / job.workers_per_ps - 1e-9)
        return [
            workers * job.worker.get(r, 0.0) + ps * job.ps.get(r, 0.0) for r in instance.resources
        ]

    while open_jobs:
        share = {
            i: round(max(n / c for n, c in zip(need(i, counts[i]), capacity, strict=True)), 9)
            for i in open_jobs
        }
        i = min(open_jobs, key=lambda j: (share[j], j))
        extra = [
            new - old for new, old in zip(need(i, counts[i] + 1), need(i, counts[i]), strict=True)
        ]
        if counts[i] == instance.jobs[i].batch or any(
            u + e > c + 1e-6 for u, e, c in zip(use, extra, capacity, strict=True)
        ):
            open_jobs.remove(i)
            continue
        counts[i] += 1
        use = [u + e for u, e in zip(use, extra, strict=True)]
    return counts


@pytest.mark.parametrize("seed", range(10))
def test_filling_equals_a_plain_loop(seed):
    instance = generate(jobs=12, slots=20, machines=1, seed=seed).instance
    filled = Cluster(instance)
    fill_fairly(filled, range(instance.number_of_jobs))
    assert filled.worker_count == plain_filling(instance)


@pytest.mark.parametrize("seed", range(5))
def test_no_room_is_left_for_a_job_that_wants_more(seed):
    instance = generate(jobs=10, slots=15, machines=5, seed=seed).instance
    filled = Cluster(instance)
    fill_fairly(filled, instance.possible_jobs)
    for i in instance.possible_jobs:
        assert filled.ps_count[i] == instance.jobs[i].ps_for(filled.worker_count[i])
        assert not filled.add_bundle(i)
    use = filled.workers.T @ instance.worker_demand + filled.ps.T @ instance.ps_demand
    assert np.all(use <= instance.capacity * (1 + 1e-6))
