"""When the two ways to solve slot programs lead to the same run, and when they need not.

Machines with equal prices are exchangeable, so on an empty cluster every slot program has many
optimal vertices. Curves and HiGHS agree on the value and choose different ones, the rounding
draws for other machines, and two runs with one seed part. Where each machine has been used
differently the optima are unique, and so are the decisions.
"""

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.pdors.curve_answers import CurveCluster
from algorithms.training.pdors.dynamic_program import default_levels
from algorithms.training.pdors.engine_answers import EngineCluster
from algorithms.training.pdors.pdors import PdorsParameters, _decide
from algorithms.training.pdors.prices import PriceFunction, price_bounds
from models.training.generator import generate

JOBS, SLOTS, MACHINES = 10, 8, 6


def clusters(instance):
    prices = PriceFunction(price_bounds(instance), instance.capacity)
    return CurveCluster(instance, prices), EngineCluster(instance, prices, "warm")


def use_unevenly(instance, pair):
    """Give the first job other numbers of workers and PSs on every machine, alike in all slots."""
    rows = [
        (slot, machine, machine // 2 + 1, (machine + 1) // 2)
        for slot in range(SLOTS)
        for machine in range(MACHINES)
    ]
    for cluster in pair:
        cluster.allocate(0, rows)


def vertices(answers, k):
    """Workers and PSs on all machines behind each feasible cover of slot k."""
    optima, which = answers.relaxed(k)
    table = {}
    for q in np.flatnonzero(np.isfinite(answers.external_cost[k])):
        own = slice(optima.start[which[q]], optima.start[which[q] + 1])
        full = np.zeros((2, MACHINES))
        full[:, optima.machine[own]] = optima.workers[own], optima.ps[own]
        table[int(q)] = full
    return table


def compare_answers(instance, i, pair):
    """Compare values; returns how many of the optimal vertices are the same, and how many not."""
    job = instance.jobs[i]
    levels = default_levels(SLOTS - job.arrival)
    samples = job.workload * np.arange(1, levels + 1) / levels
    one, two = (cluster.answers(i, samples) for cluster in pair)
    assert np.array_equal(np.isfinite(one.external_cost), np.isfinite(two.external_cost))
    finite = np.isfinite(one.external_cost)
    # HiGHS is asked at a scale at which its tolerance of 1e-9 may be 1e-6 of the optimum.
    assert one.external_cost[finite] == pytest.approx(two.external_cost[finite], abs=2e-6)
    same = [
        np.abs(vertex - vertices(two, k)[q]).max() <= 1e-6
        for k in range(len(finite))
        for q, vertex in vertices(one, k).items()
    ]
    return sum(same), len(same) - sum(same)


@pytest.mark.parametrize("seed", range(6))
def test_unique_optima_give_the_same_decisions(seed):
    instance = generate(jobs=JOBS, slots=SLOTS, machines=MACHINES, seed=seed).instance
    pair = clusters(instance)
    use_unevenly(instance, pair)
    parameters = PdorsParameters()
    compared = 0
    for i in sorted(range(1, JOBS), key=lambda i: instance.jobs[i].arrival):
        same, different = compare_answers(instance, i, pair)
        assert different == 0
        compared += same
        (one, rows), (two, others) = (
            _decide(instance, parameters, seed, i, cluster) for cluster in pair
        )
        assert one.reason == two.reason
        assert one.completion == two.completion
        assert one.payoff == pytest.approx(two.payoff, rel=1e-9)
        assert one.rounding_attempts == two.rounding_attempts
        assert sorted(map(tuple, rows)) == sorted(map(tuple, others))
    assert compared > 100


def test_on_an_empty_cluster_the_values_are_equal_but_not_the_vertices():
    instance = generate(jobs=3, slots=SLOTS, machines=MACHINES, seed=1).instance
    _, different = compare_answers(instance, 0, clusters(instance))
    assert different > 0


def test_runs_that_part_do_so_by_their_draws():
    """The first job's payoff is the same; what differs is which equal machines it gets."""
    instance = generate(jobs=12, slots=SLOTS, machines=MACHINES, seed=2).instance
    logs = [run(instance, engine=engine, seed=0).log for engine in ("curves", "highs")]
    first = [next(d for d in log.decisions if d.payoff > 0) for log in logs]
    assert first[0].job == first[1].job
    assert first[0].payoff == pytest.approx(first[1].payoff, rel=1e-9)
