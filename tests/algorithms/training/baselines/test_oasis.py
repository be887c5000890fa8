"""OASiS: separate machines, prices per side, and its search held against enumeration."""

import itertools
import math

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.baselines.oasis_prices import Offers, ps_side, worker_side
from models.training.generator import generate
from tests.algorithms.training.kit import cluster, explanation_of, flat, unit_job

TWO_MACHINES = [{"gpu": 6.0, "cpu": 6.0}] * 2
PS_ON_CPU = {"ps": {"cpu": 1}}


@pytest.mark.parametrize("machines", [2, 3, 8])
def test_workers_and_ps_are_never_on_one_machine(machines):
    instance = generate(jobs=15, slots=12, machines=machines, seed=machines).instance
    outcome = run(instance, "oasis")
    hosts = {f"{m.name}" for m in instance.machines[: (machines + 1) // 2]}
    items = [item for job in outcome.solution.jobs for item in job.allocation]
    assert items
    for item in items:
        assert (item.ps == 0) if item.machine in hosts else (item.workers == 0)


def test_one_machine_rejects_every_job():
    instance = cluster(unit_job("a"), unit_job("b", arrival=2))
    outcome = run(instance, "oasis")
    assert [job.reason for job in outcome.solution.jobs] == ["capacity", "capacity"]
    assert explanation_of(outcome, "a") == (
        "one machine cannot host workers and parameter servers apart"
    )


def test_bounds_of_a_single_job_by_hand():
    """T = 8, 10 worker-slots, 5 PS-slots; a worker needs 1 GPU and 3 CPUs, a PS 2 CPUs."""
    job = unit_job(worker={"gpu": 1, "cpu": 3}, ps={"cpu": 2})
    instance = cluster(job, machines=TWO_MACHINES)
    shortest, longest = job.utility.value(1), job.utility.value(7)  # 5 workers: 2 slots
    workers = worker_side(instance).prices.bounds
    assert np.exp(workers.log_highest) == pytest.approx([shortest / 1, shortest / 3])
    inverse_mu = 10 * 4 / (8 * 12)
    assert math.exp(workers.log_lowest) == pytest.approx(longest / (10 * 4) * inverse_mu / 2)
    ps = ps_side(instance).prices.bounds
    assert math.exp(ps.log_highest[1]) == pytest.approx(shortest / 2)
    inverse_mu = 5 * 2 / (8 * 12)
    assert math.exp(ps.log_lowest) == pytest.approx(longest / (5 * 2) * inverse_mu / 2)
    assert ps.log_highest[0] == ps.log_lowest  # no PS needs a GPU


@pytest.mark.parametrize("seed", range(10))
def test_cheapest_units_equal_enumeration(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    room = rng.integers(1, 4, 3)
    log_price = np.sort(rng.uniform(-300, 5, 3))
    offers = Offers(np.array([4, 2, 7]), room, log_price)
    price_of = dict(zip((4, 2, 7), log_price, strict=True))
    counts = np.arange(1, int(room.sum()) + 3)
    costs = offers.log_costs(counts)
    for count, cost in zip(counts, costs, strict=True):
        ways = [
            np.logaddexp.reduce([math.log(k) + p for k, p in zip(way, log_price, strict=True) if k])
            for way in itertools.product(*(range(r + 1) for r in room))
            if sum(way) == count
        ]
        assert cost == pytest.approx(min(ways, default=math.inf), rel=1e-12)
        if ways:
            bought = dict(offers.buy(int(count)))
            assert sum(bought.values()) == count
            spent = [math.log(number) + price_of[m] for m, number in bought.items()]
            assert np.logaddexp.reduce(spent) == pytest.approx(cost, rel=1e-12)


def greatest_payoff_by_enumeration(instance, i, used_workers, used_ps):
    """Over all numbers of workers per slot, one machine on each side; at their prices."""
    job = instance.jobs[i]
    sides = (worker_side(instance), ps_side(instance))
    prices = [
        np.exp(side.prices.log_prices(used[:, None]))[:, 0]
        for side, used in zip(sides, (used_workers, used_ps), strict=True)
    ]
    alpha, beta = instance.worker_demand[i], instance.ps_demand[i]
    best = 0.0
    for counts in itertools.product(range(job.batch + 1), repeat=instance.slots):
        if sum(counts) * 100 < job.workload:
            continue
        cost = 0.0
        for slot, workers in enumerate(counts):
            ps = math.ceil(workers / job.workers_per_ps)
            if np.any(used_workers[slot] + workers * alpha > instance.capacity[0]) or np.any(
                used_ps[slot] + ps * beta > instance.capacity[1]
            ):
                cost = math.inf
                break
            cost += float(prices[0][slot] @ alpha) * workers + float(prices[1][slot] @ beta) * ps
        last = max(slot for slot, workers in enumerate(counts) if workers)
        best = max(best, job.utility.value(last) - cost)
    return best


@pytest.mark.parametrize("priority", [0.2, 3.0, 50.0])
def test_first_and_second_job_get_their_best_schedule(priority):
    """Levels of one worker-slot: the search is exact."""
    utility = unit_job().utility.model_copy(update={"priority": priority})
    instance = cluster(
        unit_job("a", worker_slots=9, **PS_ON_CPU),
        unit_job("b", worker_slots=9, batch=4, utility=utility, **PS_ON_CPU),
        machines=TWO_MACHINES,
        slots=4,
    )
    outcome = run(instance, "oasis", levels=9)
    used_workers, used_ps = np.zeros((4, 2)), np.zeros((4, 2))
    for i, entry in enumerate(outcome.log.decisions):
        expected = greatest_payoff_by_enumeration(instance, i, used_workers, used_ps)
        assert entry.payoff == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert (entry.reason is None) == (expected > 0)
        for slot, machine, workers, ps in outcome.log.placements.get(i, ()):
            used = used_workers if machine == 0 else used_ps
            used[slot] += workers * instance.worker_demand[i] + ps * instance.ps_demand[i]


def test_payoff_is_utility_minus_cost():
    instance = generate(jobs=12, slots=10, machines=6, seed=2).instance
    outcome = run(instance, "oasis")
    admitted = [entry for entry in outcome.log.decisions if entry.reason is None]
    assert admitted
    for entry in admitted:
        utility = outcome.solution.jobs[entry.job].utility
        assert entry.payoff == pytest.approx(utility - math.exp(entry.log_cost), rel=1e-9)


def test_rejection_by_price_and_by_capacity():
    """The rich job takes 40 of 48 worker-slots; what is left is too dear for the poor one."""
    rich = unit_job("rich", worker_slots=40, batch=6, utility=flat(1000), **PS_ON_CPU)
    poor = unit_job("poor", worker_slots=4, utility=flat(1e-3), **PS_ON_CPU)
    equal = rich.model_copy(update={"name": "equal"})
    outcome = run(cluster(rich, poor, equal, machines=TWO_MACHINES), "oasis")
    assert [job.reason for job in outcome.solution.jobs] == [None, "price", "capacity"]
    assert explanation_of(outcome, "poor").startswith("no schedule is worth its cost")
    assert outcome.log.decisions[1].log_cost > math.log(1e-3)
    assert outcome.log.decisions[2].log_cost == math.inf


def test_job_that_only_fits_beside_its_ps_is_rejected():
    """Only the first machine has GPUs and only it has room for a PS."""
    machines = [{"gpu": 6.0, "cpu": 6.0}, {"gpu": 6.0}]
    outcome = run(cluster(unit_job(**PS_ON_CPU), machines=machines), "oasis")
    assert outcome.solution.jobs[0].reason == "capacity"
    assert explanation_of(outcome, "j") == (
        "no room for its workload in time (machines for workers: 1, for parameter servers: 1)"
    )
    assert run(cluster(unit_job(**PS_ON_CPU), machines=machines), "drf").solution.objective > 0


def test_slots_that_were_dearer_count_as_waiting():
    jobs = [unit_job(f"j{i}", worker_slots=10, utility=flat(), **PS_ON_CPU) for i in range(4)]
    outcome = run(cluster(*jobs, machines=TWO_MACHINES), "oasis")
    waits = [entry for entry in outcome.log.decisions if entry.waiting_slots]
    assert waits
    assert all(entry.status == "delayed" for entry in waits if entry.reason is None)
    assert "other slots were cheaper" in waits[0].explanation
