"""The dynamic program over worker-slots against enumeration."""

import itertools

import numpy as np
import pytest

from algorithms.training.plus.kernels import choose_workers, ps_needed
from algorithms.training.plus.plan_arrays import JobNumbers, slot_choice


def job_numbers(slots, **changes):
    """One job that needs a GPU per worker and a CPU per PS."""
    values = {
        "worker": np.array([[1.0, 0.0]]),
        "ps": np.array([[0.0, 1.0]]),
        "gamma": np.array([2.0]),
        "batch": np.array([9]),
        "rate_internal": np.array([10.0]),
        "rate_external": np.array([4.0]),
        "remaining": np.array([100.0]),
        "utility": 50.0 - np.arange(slots)[None, :] * 3.0,
        "deadline": np.array([slots - 1]),
        "required": np.array([False]),
        "arrival": np.array([0]),
    }
    return JobNumbers(**{**values, **changes})


def choose(jobs, internal, external, price, levels=1000, bias=None):
    slots = len(internal)
    choice = slot_choice(slots, 1)
    choice.internal[:] = internal
    choice.external[:] = external
    bias = np.zeros(slots) if bias is None else np.array(bias)
    result = choose_workers(jobs, 0, np.array(price), bias, slots - 1, levels, choice)
    return *result, choice


def done(jobs, choice):
    rates = np.where(choice.spread, jobs.rate_external[0], jobs.rate_internal[0])
    return float(choice.workers @ rates)


def enumerated(jobs, internal, external, price):
    """Greatest payoff over all numbers of workers in either mode."""
    options = [
        [(0, 0.0)]
        + [(w, jobs.rate_internal[0]) for w in range(1, n + 1)]
        + [(w, jobs.rate_external[0]) for w in range(1, e + 1)]
        for n, e in zip(internal, external, strict=True)
    ]
    best = -np.inf
    for plan in itertools.product(*options):
        if sum(w * rate for w, rate in plan) < jobs.remaining[0] * (1 - 1e-9):
            continue
        cost = sum(
            price[k][0] * w + price[k][1] * ps_needed(w, jobs.gamma[0])
            for k, (w, _) in enumerate(plan)
        )
        last = max(k for k, (w, _) in enumerate(plan) if w)
        best = max(best, jobs.utility[0, last] - cost)
    return best


def test_without_prices_the_earliest_completion():
    jobs = job_numbers(4)
    payoff, completion, choice = choose(jobs, [4, 4, 4, 4], [0, 0, 0, 0], np.zeros((4, 2)))
    assert (payoff, completion) == (44.0, 2)
    assert choice.workers.tolist() in ([4, 4, 2, 0], [4, 2, 4, 0], [2, 4, 4, 0], [3, 4, 3, 0])
    assert choice.workers.sum() == 10


def test_bias_decides_between_equal_prices():
    jobs = job_numbers(4, utility=np.full((1, 4), 50.0))
    early = choose(jobs, [5] * 4, [0] * 4, np.zeros((4, 2)), bias=[0, 0.3, 0.6, 0.9])[2]
    late = choose(jobs, [5] * 4, [0] * 4, np.zeros((4, 2)), bias=[0.9, 0.6, 0.3, 0])[2]
    assert early.workers.tolist() == [5, 5, 0, 0]
    assert late.workers.tolist() == [0, 0, 5, 5]


def test_a_dear_slot_is_avoided_if_the_delay_costs_less():
    price = np.array([[0, 0], [9, 0], [0, 0]], dtype=float)
    jobs = job_numbers(3)
    payoff, completion, choice = choose(jobs, [5, 5, 5], [0, 0, 0], price)
    assert (payoff, completion, choice.workers.tolist()) == (44.0, 2, [5, 0, 5])
    hurry = job_numbers(3, utility=np.array([[200.0, 190.0, 1.0]]))
    payoff, completion, choice = choose(hurry, [5, 5, 5], [0, 0, 0], price)
    assert (payoff, completion, choice.workers.tolist()) == (145.0, 1, [5, 5, 0])


def test_spread_workers_when_one_machine_is_too_slow():
    jobs = job_numbers(1, remaining=np.array([30.0]))
    payoff, completion, choice = choose(jobs, [2], [9], np.array([[1.0, 0.5]]))
    # 20 samples on one machine are too few; eight workers at 4 samples are enough.
    assert (completion, choice.workers.tolist(), choice.spread.tolist()) == (0, [8], [True])
    assert payoff == 50.0 - 8 * 1.0 - 4 * 0.5


def test_no_room():
    payoff, completion, choice = choose(job_numbers(2), [4, 4], [0, 0], np.zeros((2, 2)))
    assert (payoff, completion, choice.workers.sum()) == (0.0, -1, 0)


@pytest.mark.parametrize("seed", range(25))
def test_exact_where_all_slots_are_internal(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    slots = 4
    internal = rng.integers(0, 5, slots).tolist()
    price = rng.choice([0.0, 0.5, 1.0, 3.0, 7.0], (slots, 2))
    jobs = job_numbers(
        slots,
        remaining=np.array([float(rng.integers(1, 101))]),
        gamma=np.array([float(rng.choice([0.7, 1.0, 2.5]))]),
    )
    expected = enumerated(jobs, internal, [0] * slots, price)
    payoff, completion, choice = choose(jobs, internal, [0] * slots, price)
    assert (completion >= 0) == (expected > -np.inf)
    if completion >= 0:
        assert payoff == pytest.approx(expected)
        assert done(jobs, choice) >= jobs.remaining[0] * (1 - 1e-9)


@pytest.mark.parametrize("levels", [1000, 7, 3, 1])
@pytest.mark.parametrize("seed", range(10))
def test_coverage_is_never_overstated(seed, levels):
    rng = np.random.Generator(np.random.PCG64(seed))
    slots = 3
    internal = rng.integers(0, 4, slots)
    external = rng.integers(internal, 7) * rng.integers(0, 2, slots)
    external = np.where(4 * external > 10 * internal, external, 0)
    price = rng.choice([0.0, 0.5, 3.0], (slots, 2))
    jobs = job_numbers(slots, remaining=np.array([float(rng.integers(1, 70))]))
    payoff, completion, choice = choose(jobs, internal, external, price, levels)
    best = enumerated(jobs, internal.tolist(), external.tolist(), price)
    if completion < 0:
        assert payoff == 0
        return
    assert done(jobs, choice) >= jobs.remaining[0] * (1 - 1e-9)
    assert (choice.workers <= np.where(choice.spread, external, internal)).all()
    assert choice.workers[completion] > 0
    assert choice.workers[completion + 1 :].sum() == 0
    assert payoff <= best + 1e-9
