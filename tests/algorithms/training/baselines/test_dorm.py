"""Dorm: its program against enumeration, and the two limits that bind."""

import itertools
import math

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.baselines.dorm import DormParameters
from algorithms.training.baselines.dorm_plan import FAIR, DormPlan
from algorithms.training.placement import Cluster
from models.files import InputError
from models.solver import Status, solve_model
from models.training import TrainingInstance
from models.training.dorm_program import build_dorm_program
from models.training.generator import generate
from tests.algorithms.training.kit import cluster, explanation_of, unit_job, workers_by_slot

# The only resource is the one that jobs need: R = 1 in the fairness limit ceil(2 R theta1).
EXACT = {"gap": 0.0}


def gpu_only(*jobs, gpus=(6.0,), slots=8):
    both = cluster(*jobs, machines=[{"gpu": gpu} for gpu in gpus], slots=slots)
    return TrainingInstance(slots=slots, resources=("gpu",), machines=both.machines, jobs=both.jobs)


def two_sizes():
    """On 11 GPUs DRF gives one worker of 4 and two of 3; two of 4 and one of 3 use all."""
    return gpu_only(
        unit_job("four", worker={"gpu": 4}, worker_slots=20),
        unit_job("three", worker={"gpu": 3}, worker_slots=20),
        gpus=(11.0,),
        slots=40,
    )


def test_utilisation_is_maximised_where_fairness_allows():
    outcome = run(two_sizes(), "dorm", **EXACT)
    assert workers_by_slot(outcome, "four")[0] == 2
    assert workers_by_slot(outcome, "three")[0] == 1
    event = outcome.log.events[0]
    assert event.utilisation == pytest.approx(1)
    assert event.fairness_loss == pytest.approx(7 / 11)
    assert event.fairness_limit == 1


def test_fairness_limit_binds():
    outcome = run(two_sizes(), "dorm", fairness=0.0, **EXACT)
    assert workers_by_slot(outcome, "four")[0] == 1
    assert workers_by_slot(outcome, "three")[0] == 2
    event = outcome.log.events[0]
    assert event.utilisation == pytest.approx(10 / 11)
    assert event.fairness_loss == pytest.approx(0, abs=1e-9)


def a_then_b():
    """A takes all 6 GPUs in slot 0; B arrives in slot 1, C (small) in slot 2."""
    return gpu_only(
        unit_job("a", batch=6, worker_slots=30),
        unit_job("b", batch=6, worker_slots=6, arrival=1),
        unit_job("c", batch=1, worker_slots=1, arrival=2),
        slots=20,
    )


def test_adjustment_limit_binds():
    outcome = run(a_then_b(), "dorm", adjustment=0.0, **EXACT)
    assert workers_by_slot(outcome, "a") == dict.fromkeys(range(5), 6)  # nobody changes it
    assert [event.adjustment_limit for event in outcome.log.events] == [0] * 4
    assert all(event.changed == 0 for event in outcome.log.events[:3])
    assert "given no workers" in explanation_of(outcome, "b")


def test_adjustment_limit_that_nothing_satisfies_is_relaxed_and_recorded():
    """A may not change, but with no fairness loss at all it must."""
    outcome = run(a_then_b(), "dorm", adjustment=0.0, fairness=0.0, **EXACT)
    assert workers_by_slot(outcome, "a")[0] == 6
    assert (workers_by_slot(outcome, "a")[1], workers_by_slot(outcome, "b")[1]) == (3, 3)
    relaxed = [event.slot for event in outcome.log.events if event.relaxed]
    assert relaxed[0] == 1
    assert outcome.counters["adjustment_relaxed"] == len(relaxed)
    assert outcome.log.events[1].changed == 1


def test_without_arrival_or_finish_nothing_changes():
    outcome = run(a_then_b(), "dorm", **EXACT)
    events = {event.slot for event in outcome.log.events}
    finishes = {entry.completion + 1 for entry in outcome.log.decisions}
    assert events <= {0, 1, 2} | finishes
    for job in outcome.solution.jobs:
        places = {}
        for item in job.allocation:
            places.setdefault(item.slot, set()).add((item.machine, item.workers, item.ps))
        for slot in range(1, 20):
            if slot not in events and slot - 1 in places and slot in places:
                assert places[slot] == places[slot - 1]


def test_unchanged_jobs_stay_where_they_are():
    instance = generate(jobs=20, slots=12, machines=4, seed=1).instance
    outcome = run(instance, "dorm")
    kept = 0
    for job in outcome.solution.jobs:
        places = {}
        for item in job.allocation:
            places.setdefault(item.slot, set()).add((item.machine, item.workers, item.ps))
        for slot, now in places.items():
            then = places.get(slot - 1)
            if then and sum(w for _, w, _ in then) == sum(w for _, w, _ in now):
                kept += then == now
    assert kept > 20
    for event in outcome.log.events:
        assert event.fairness_loss <= event.fairness_limit + 1e-6
        assert event.relaxed or event.status == FAIR or event.changed <= event.adjustment_limit


def test_planned_workers_without_a_place_are_dropped_and_counted():
    """The pool of 6 GPUs holds three workers of 2 GPUs, the machines of 3 one each."""
    jobs = [unit_job(f"j{i}", worker={"gpu": 2}, worker_slots=2) for i in range(2)]
    outcome = run(gpu_only(*jobs, gpus=(3.0, 3.0)), "dorm", **EXACT)
    assert outcome.log.events[0].workers_dropped == 1
    assert outcome.counters["workers_dropped"] >= 1
    assert sum(workers_by_slot(outcome, job.name).get(0, 0) for job in jobs) == 2


def test_no_solution_within_the_node_limit_gives_fair_numbers(monkeypatch):
    """A solve that is stopped early is a defined outcome: fair numbers, and a word in the log."""
    from algorithms.training.baselines import dorm_plan

    def stopped(model, **limits):
        found = solve_model(model, **limits)
        return type(found)(status=Status.NODE_LIMIT, compiled=found.compiled)

    monkeypatch.setattr(dorm_plan, "solve_model", stopped)
    outcome = run(two_sizes(), "dorm")
    assert workers_by_slot(outcome, "four")[0] == 1
    assert workers_by_slot(outcome, "three")[0] == 2
    assert outcome.log.events[0].status == FAIR
    assert outcome.counters["fair_instead"] == len(outcome.log.events)


def best_by_enumeration(plan_input):
    """Greatest utilisation over all numbers of workers; None if none is feasible."""
    shares, ps_shares, gamma, most, dominant, fair, limit, before, changes = plan_input
    best = None
    for counts in itertools.product(*(range(m + 1) for m in most)):
        ps = [math.ceil(n / g - 1e-9) for n, g in zip(counts, gamma, strict=True)]
        use = np.array(counts)[:, None] * shares + np.array(ps)[:, None] * ps_shares
        loss = np.abs(use[np.arange(len(use)), dominant] - fair).sum()
        changed = sum(counts[i] != n for i, n in before.items())
        feasible = np.all(use.sum(axis=0) <= 1 + 1e-9) and loss <= limit + 1e-9
        if feasible and (changes is None or changed <= changes):
            best = max(use.sum(), -1.0 if best is None else best)
    return best


@pytest.mark.parametrize("seed", range(25))
def test_program_equals_enumeration(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    jobs = 3
    shares = rng.uniform(0, 0.3, (jobs, 2))
    ps_shares = rng.uniform(0, 0.2, (jobs, 2))
    gamma = rng.uniform(0.7, 4, jobs)
    most = rng.integers(1, 6, jobs).tolist()
    dominant = rng.integers(0, 2, jobs)
    fair = rng.uniform(0, 0.4, jobs)
    limit = float(rng.uniform(0.1, 1.0))
    before = {0: int(rng.integers(0, most[0] + 1)), 2: int(rng.integers(0, most[2] + 1))}
    changes = [None, 0, 1][seed % 3]
    inputs = (shares, ps_shares, gamma, most, dominant, fair, limit, before, changes)
    result = solve_model(
        build_dorm_program(
            worker_share=shares,
            ps_share=ps_shares,
            workers_per_ps=gamma,
            most_workers=most,
            most_ps=[math.ceil(m / g - 1e-9) for m, g in zip(most, gamma, strict=True)],
            dominant=dominant,
            fair_share=fair,
            fairness_limit=limit,
            before=before,
            adjustment_limit=changes,
        ),
        mip_gap=0.0,
    )
    expected = best_by_enumeration(inputs)
    if expected is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.objective == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_fair_numbers_satisfy_every_row_but_the_adjustments(seed):
    """So a plan without the adjustment limit always exists, also with theta1 = 0."""
    instance = generate(jobs=12, slots=12, machines=3, seed=seed).instance
    pool = Cluster(instance, instance.capacity.sum(axis=0, keepdims=True))
    jobs = list(instance.possible_jobs)
    limits = {"fairness": 0.0, "gap": 0.05, "node_limit": 1000}
    plan = DormPlan(pool, jobs, dict.fromkeys(jobs, 0), adjustment=0.0, **limits)
    assert plan.relaxed
    assert plan.status == Status.OPTIMAL
    assert plan.fairness_loss == pytest.approx(0, abs=1e-5)
    assert plan.numbers == {i: pool.worker_count[i] for i in jobs}


def test_jobs_without_demand_have_all_they_may_have():
    outcome = run(gpu_only(unit_job("free", worker={}), unit_job("paid", worker_slots=20)), "dorm")
    assert workers_by_slot(outcome, "free") == {0: 5, 1: 5}
    assert workers_by_slot(outcome, "paid")[0] == 5


def test_parameters():
    with pytest.raises(InputError, match="fairness"):
        DormParameters.from_options({"fairness": "1.5"})
    assert DormParameters.from_options({"gap": "0", "node_limit": "0"}).node_limit == 0
