"""The slot frontier and the search for a plan: every count can be placed, and nothing gets lost."""

import numpy as np
import pytest

from algorithms.training.plus.kernels import (
    FIXED_DRAWS,
    best_payoff,
    find_frontier,
    improve_plan,
    most_colocated,
    place_choice,
    ps_needed,
    take_out,
)
from algorithms.training.plus.plan_arrays import JobNumbers, empty_plan, slot_choice
from tests.algorithms.training.test_machine_packing import enumerated_most


def random_jobs(rng, n, slots):
    return JobNumbers(
        np.stack([rng.integers(1, 4, n), rng.integers(0, 3, n)], axis=1).astype(float),
        np.stack([rng.integers(0, 2, n), rng.integers(1, 4, n)], axis=1).astype(float),
        rng.choice([0.5, 1.0, 1.7, 3.0], n),
        rng.integers(1, 7, n),
        np.full(n, 10.0),
        rng.choice([3.0, 6.0, 10.0], n),
        rng.integers(10, 90, n).astype(float),
        np.sort(rng.random((n, slots)) * 50, axis=1)[:, ::-1].copy(),
        np.full(n, slots - 1),
        np.zeros(n, dtype=bool),
        np.zeros(n, dtype=np.int64),
    )


def use_of(jobs, plan):
    return np.einsum("nkh,nr->khr", plan.workers, jobs.worker) + np.einsum(
        "nkh,nr->khr", plan.ps, jobs.ps
    )


@pytest.mark.parametrize("rule", [0, 1])
@pytest.mark.parametrize("seed", range(12))
def test_every_count_up_to_the_frontier_can_be_placed(seed, rule):
    rng = np.random.Generator(np.random.PCG64(seed))
    jobs = random_jobs(rng, 1, 1)
    machines = int(rng.integers(1, 4))
    free = rng.integers(0, 9, (1, machines, 2)) * 1.0
    worker, ps, gamma, batch = jobs.worker[0], jobs.ps[0], jobs.gamma[0], int(jobs.batch[0])
    choice = slot_choice(1, machines)
    find_frontier(jobs, 0, free, 0, choice)
    most_internal = max(most_colocated(worker, ps, gamma, room, batch) for room in free[0])
    assert choice.internal[0] == most_internal
    assert choice.external[0] <= enumerated_most(worker, ps, gamma, free[0], batch)
    if choice.external[0]:
        samples = choice.external[0] * jobs.rate_external[0]
        assert samples > most_internal * jobs.rate_internal[0]
    for spread, most in ((False, choice.internal[0]), (True, choice.external[0])):
        for count in range(1, most + 1):
            choice.workers[0], choice.spread[0] = count, spread
            left = free.copy()
            workers, servers = (np.zeros((1, machines), dtype=np.int64) for _ in range(2))
            place_choice(jobs, 0, left, choice, rule, workers, servers)
            assert workers.sum() == count
            assert servers.sum() == ps_needed(count, gamma)
            assert spread or np.count_nonzero(workers + servers) == 1
            assert min(workers.min(), servers.min()) >= 0
            assert left.min() >= -1e-9
            take_out(jobs, 0, left, workers, servers)
            assert np.allclose(left, free)
            assert not workers.any()
            assert not servers.any()


def improved(jobs, plan, capacity, price, seed, rounds=30, external=True):
    n, slots, machines = plan.workers.shape
    free = np.repeat(capacity[None], slots, axis=0) - use_of(jobs, plan)
    draws = np.random.Generator(np.random.PCG64(seed)).random((rounds, FIXED_DRAWS + n + slots))
    choice = slot_choice(slots, machines)
    improve_plan(jobs, plan, free, price, external, 0, 100, draws, choice)


@pytest.mark.parametrize("external", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_a_plan_fits_and_is_never_made_worse(seed, external):
    rng = np.random.Generator(np.random.PCG64(seed))
    n, slots, machines = 8, 5, 3
    jobs = random_jobs(rng, n, slots)
    capacity = rng.integers(3, 9, (machines, 2)) * 1.0
    price = rng.random((slots, 2)) * 0.3
    plan = empty_plan(n, slots, machines)
    improved(jobs, plan, capacity, price, seed, rounds=1, external=external)
    first = plan.payoff.sum()
    assert first > 0
    for i in np.flatnonzero(plan.completion >= 0)[:2]:
        jobs.required[i] = True
        jobs.deadline[i] = plan.completion[i]
    value = first
    for again in range(3):
        improved(jobs, plan, capacity, price, [seed, again], external=external)
        assert plan.payoff.sum() >= value - 1e-9
        value = plan.payoff.sum()
        assert (use_of(jobs, plan) <= capacity + 1e-9).all()
        for i in range(n):
            check_job(jobs, i, plan, price, external)
    assert (plan.completion[jobs.required] >= 0).all()
    assert (plan.completion <= jobs.deadline).all()


def check_job(jobs, i, plan, price, external):
    workers, servers = plan.workers[i], plan.ps[i]
    if plan.completion[i] < 0:
        assert not workers.any()
        assert not servers.any()
        assert plan.payoff[i] == 0
        return
    total = workers.sum(axis=1)
    assert np.flatnonzero(total).max() == plan.completion[i]
    assert (total <= jobs.batch[i]).all()
    assert all(s >= ps_needed(w, jobs.gamma[i]) for w, s in zip(total, servers.sum(1), strict=True))
    places = np.count_nonzero(workers + servers, axis=1)
    assert external or places.max() <= 1
    rates = np.where(places == 1, jobs.rate_internal[i], jobs.rate_external[i])
    assert (total * rates).sum() >= jobs.remaining[i] * (1 - 1e-9)
    use = workers.sum(1)[:, None] * jobs.worker[i] + servers.sum(1)[:, None] * jobs.ps[i]
    payoff = jobs.utility[i, plan.completion[i]] - (use * price).sum()
    assert plan.payoff[i] == pytest.approx(payoff)
    assert payoff > 0 or jobs.required[i]


def test_an_impossible_promise_changes_nothing():
    rng = np.random.Generator(np.random.PCG64(3))
    jobs = random_jobs(rng, 3, 4)
    jobs.remaining[1] = 1e6
    jobs.required[1] = True
    plan = empty_plan(3, 4, 2)
    improved(jobs, plan, np.full((2, 2), 8.0), np.zeros((4, 2)), 0)
    assert not plan.workers.any()


def test_best_payoff_of_one_job():
    jobs = random_jobs(np.random.Generator(np.random.PCG64(0)), 1, 3)
    free = np.full((3, 2, 2), 9.0)
    payoff, completion = best_payoff(jobs, 0, free, np.zeros((3, 2)), 100)
    assert payoff == jobs.utility[0, completion]
    assert best_payoff(jobs, 0, np.zeros((3, 2, 2)), np.zeros((3, 2)), 100) == (0.0, -1)
