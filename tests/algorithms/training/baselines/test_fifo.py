"""FIFO by hand: gangs, blocking at the head, and sizes that no cluster can refuse for ever."""

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.baselines.fifo import FifoParameters
from models.files import InputError
from models.training import audit
from models.training.generator import generate
from tests.algorithms.training.kit import cluster, explanation_of, unit_job, workers_by_slot

# Draws from 1 to a billion exceed every batch here, so that the batch is the gang.
BATCH_IS_GANG = {"most_workers": 10**9}


def three_jobs():
    """On 6 GPUs: a takes 4 of them for two slots, b needs 3, c needs 1 for one slot."""
    return cluster(
        unit_job("a", batch=4, worker_slots=8),
        unit_job("b", batch=3, worker_slots=3),
        unit_job("c", batch=1, worker_slots=1),
    )


def test_first_waiting_job_blocks_those_behind_it():
    outcome = run(three_jobs(), "fifo", **BATCH_IS_GANG)
    assert workers_by_slot(outcome, "a") == {0: 4, 1: 4}
    assert workers_by_slot(outcome, "b") == {2: 3}
    assert workers_by_slot(outcome, "c") == {2: 1}  # two GPUs were free all along
    assert explanation_of(outcome, "a") == "completed in slot 1"
    assert explanation_of(outcome, "b") == (
        "completed in slot 2; waited 2 slots "
        "(no room for 3 workers and their parameter servers at once)"
    )
    assert explanation_of(outcome, "c") == "completed in slot 2; waited 2 slots (behind b)"
    assert [entry.status for entry in outcome.log.decisions] == ["completed", "delayed", "delayed"]
    assert [entry.waiting_slots for entry in outcome.log.decisions] == [0, 2, 2]


def test_without_strictness_others_pass():
    outcome = run(three_jobs(), "fifo", strict=False, **BATCH_IS_GANG)
    assert workers_by_slot(outcome, "b") == {2: 3}
    assert workers_by_slot(outcome, "c") == {0: 1}


def test_order_is_by_arrival_then_by_file():
    arrivals = {"a": 1, "b": 0, "c": 0}
    jobs = [unit_job(n, batch=6, worker_slots=6, arrival=a) for n, a in arrivals.items()]
    outcome = run(cluster(*jobs), "fifo", **BATCH_IS_GANG)
    assert [workers_by_slot(outcome, name) for name in "abc"] == [{2: 6}, {0: 6}, {1: 6}]


def test_gang_keeps_its_number_and_its_machines_until_done():
    instance = generate(jobs=15, slots=12, machines=4, seed=5).instance
    outcome = run(instance, "fifo", seed=3)
    running = 0
    for job in outcome.solution.jobs:
        by_slot = {}
        for item in job.allocation:
            by_slot.setdefault(item.slot, set()).add((item.machine, item.workers, item.ps))
        if not by_slot:
            continue
        running += 1
        first = min(by_slot)
        last = instance.slots - 1 if job.completion is None else job.completion
        assert sorted(by_slot) == list(range(first, last + 1))
        assert all(places == by_slot[first] for places in by_slot.values())
    assert running > 3


def test_numbers_are_drawn_per_job_from_the_seed():
    jobs = [unit_job(f"j{i}", batch=100, worker_slots=200) for i in range(4)]
    instance = cluster(*jobs, machines=[{"gpu": 1000.0}])
    for seed in (0, 7):
        outcome = run(instance, "fifo", seed=seed)
        for i, job in enumerate(instance.jobs):
            stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, i])))
            assert workers_by_slot(outcome, job.name)[0] == stream.integers(1, 31)


def test_gang_is_at_most_the_batch_and_what_fits_the_empty_cluster():
    instance = cluster(
        unit_job("batch", batch=2, worker_slots=2),
        unit_job("room", batch=50, worker_slots=6),
        machines=[{"gpu": 6.0}],
    )
    outcome = run(instance, "fifo", **BATCH_IS_GANG)
    assert workers_by_slot(outcome, "batch") == {0: 2}
    assert workers_by_slot(outcome, "room") == {1: 6}
    assert outcome.counters["gangs_lowered"] == 2


def test_gang_that_round_robin_cannot_place_is_lowered():
    """Six workers fit with two PSs, each PS filling a machine, but round-robin gets to three."""
    job = unit_job(batch=6, workers_per_ps=3.0, worker={"cpu": 1}, ps={"cpu": 3}, worker_slots=6)
    instance = cluster(job, machines=[{"cpu": 3.0}] * 4)
    assert instance.reach[0].external_workers == 6
    outcome = run(instance, "fifo", **BATCH_IS_GANG)
    assert workers_by_slot(outcome, "j") == {0: 3, 1: 3}


def test_empty_cluster_takes_every_gang_wherever_the_pointer_stands():
    """After the first job the pointer is at m3; from there the second gang finds no place."""
    machines = [{"cpu": 1.0}, {"cpu": 3.0}, {"cpu": 1.0}, {"cpu": 3.0}]
    instance = cluster(
        unit_job("first", batch=2, worker={"cpu": 1}, worker_slots=2),
        unit_job(
            "second", batch=2, workers_per_ps=1.0, worker={"cpu": 1}, ps={"cpu": 3}, arrival=1
        ),
        machines=machines,
    )
    outcome = run(instance, "fifo", **BATCH_IS_GANG)
    assert workers_by_slot(outcome, "first") == {0: 2}
    assert workers_by_slot(outcome, "second") == dict.fromkeys(range(1, 6), 2)


def test_job_that_holds_its_machines_to_the_horizon_is_unfinished():
    jobs = [unit_job("slow", batch=6, worker_slots=40), unit_job("next", worker_slots=5)]
    instance = cluster(*jobs, slots=8)
    draws = [int(np.random.Generator(np.random.PCG64([s, 0])).integers(1, 31)) for s in range(99)]
    seed = draws.index(4)  # four workers in 8 slots do 32 of 40 worker-slots
    outcome = run(instance, "fifo", seed=seed)
    slow, waiting = outcome.log.decisions
    assert (slow.reason, slow.slots_run, slow.waiting_slots) == ("unfinished", 8, 0)
    assert slow.samples == pytest.approx(3200)
    assert slow.explanation == "80% of the samples in 8 slots from slot 0"
    assert waiting.name == "next"
    assert audit(instance, outcome.solution).feasible


def test_parameters():
    assert FifoParameters.from_options({"strict": "false"}) == FifoParameters(strict=False)
    with pytest.raises(InputError, match="most_workers"):
        FifoParameters.from_options({"most_workers": "0"})
