"""Randomized rounding against the enumeration of every outcome with its probability."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from algorithms.training.pdors.rounding import (
    gain_favouring_cover,
    gain_favouring_packing,
    round_slot,
)
from models.training import Job, SigmoidUtility


def make_job(batch=6, gamma=1.5):
    return Job(
        name="j",
        arrival=0,
        epochs=1,
        samples=100,
        batch=batch,
        gradient=1.0,
        sample_time=0.1,
        workers_per_ps=gamma,
        bandwidth_internal=2.0,
        bandwidth_external=1.0,
        worker={"a": 1.0},
        ps={"a": 1.0},
        utility=SigmoidUtility(kind="sigmoid", priority=1, decay=0, target=0),
    )


def outcomes(values):
    """All roundings of a vector with their probabilities, by the definition (eqs. 22, 23)."""
    parts = []
    for value in values:
        low = math.floor(value)
        options = [(low, 1 - (value - low))]
        if value > low:
            options.append((low + 1, value - low))
        parts.append(options)
    for combination in itertools.product(*parts):
        yield np.array([c[0] for c in combination]), math.prod(c[1] for c in combination)


def feasible(job, workers, ps, cover, worker_demand, ps_demand, free):
    use = np.outer(workers, worker_demand) + np.outer(ps, ps_demand)
    return (
        cover <= workers.sum() <= job.batch
        and ps.sum() >= math.ceil(workers.sum() / job.workers_per_ps - 1e-9)
        and bool(np.all(use <= free + 1e-9))
    )


def random_case(seed):
    rng = np.random.default_rng(seed)
    job = make_job(batch=int(rng.integers(2, 7)), gamma=float(rng.uniform(0.5, 3)))
    machines = int(rng.integers(1, 4))
    workers = np.round(rng.uniform(0, 2.5, machines), 1)
    ps = np.round(rng.uniform(0, 2.5, machines), 1)
    demands = rng.integers(0, 3, (2, 2)).astype(float)
    free = rng.uniform(2, 12, (machines, 2))
    cover = int(rng.integers(1, 5))
    prices = rng.exponential(size=(2, machines))
    return job, workers, ps, demands, free, cover, prices, rng


def run(case, draws=10, attempts=5000):
    job, workers, ps, demands, free, cover, prices, rng = case
    return round_slot(
        job,
        workers,
        ps,
        worker_cover=cover,
        worker_demand=demands[0],
        ps_demand=demands[1],
        free_capacity=free,
        log_cost=lambda w, s: math.log(max(float(prices[0] @ w + prices[1] @ s), 1e-300)),
        rng=rng,
        feasible_draws=draws,
        max_attempts=attempts,
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_cheapest_feasible_outcome_is_found_with_enough_draws(seed):
    case = random_case(seed)
    job, workers, ps, demands, free, cover, prices, _ = case
    costs = [
        float(prices[0] @ w + prices[1] @ s)
        for (w, p), (s, q) in itertools.product(outcomes(workers), outcomes(ps))
        if p * q > 0 and feasible(job, w, s, cover, demands[0], demands[1], free)
    ]
    found = run(case, draws=4000, attempts=200_000)
    if not costs:
        assert found.workers is None
        assert found.log_cost == math.inf
    else:
        assert feasible(job, found.workers, found.ps, cover, demands[0], demands[1], free)
        assert math.exp(found.log_cost) == pytest.approx(min(costs), rel=1e-9)


def test_share_of_feasible_draws_is_the_probability():
    tested = 0
    for seed in range(200):
        case = random_case(seed)
        job, workers, ps, demands, free, cover, _, _ = case
        probability = sum(
            p * q
            for (w, p), (s, q) in itertools.product(outcomes(workers), outcomes(ps))
            if feasible(job, w, s, cover, demands[0], demands[1], free)
        )
        if not 0.02 < probability < 0.98:
            continue
        found = run(case, draws=10**6, attempts=3000)
        assert found.attempts == 3000
        # 1e-6 per case: a fair draw fails here once in ten thousand runs of the whole loop.
        interval = binomtest(found.feasible, found.attempts).proportion_ci(1 - 1e-6, "exact")
        assert interval.low <= probability <= interval.high
        tested += 1
    assert tested > 20


def test_stops_after_the_asked_number_of_feasible_draws():
    case = list(random_case(0))
    case[1], case[2] = np.array([1.0]), np.array([1.0])
    case[0], case[4], case[5] = make_job(), np.full((1, 2), 100.0), 1
    case[6] = np.ones((2, 1))
    found = run(case, draws=7)
    assert (found.feasible, found.attempts) == (7, 7)


def test_nothing_is_drawn_where_no_outcome_is_feasible():
    case = list(random_case(0))
    case[0], case[1], case[2] = make_job(), np.array([0.5]), np.array([1.0])
    case[4], case[5], case[6] = np.full((1, 2), 100.0), 2, np.ones((2, 1))
    found = run(case)
    assert (found.workers, found.attempts) == (None, 0)


def test_same_generator_state_gives_the_same_draw():
    first, second = run(random_case(11)), run(random_case(11))
    assert first.attempts == second.attempts
    assert first.log_cost == second.log_cost


def test_almost_whole_numbers_are_whole():
    case = list(random_case(0))
    case[0], case[1], case[2] = make_job(), np.array([1.9999999]), np.array([2.0000001])
    case[3], case[4] = np.ones((2, 2)), np.full((1, 2), 4.0)
    case[5], case[6] = 2, np.ones((2, 1))
    found = run(case, draws=50)
    assert found.workers.tolist() == [2]
    assert found.ps.tolist() == [2]
    assert found.attempts == 50


def test_gains_solve_the_equations_that_define_them():
    """Lemma 1: exp(-eps^2 G W_b / 3) = delta / 3r with eps = 1/G - 1; Lemma 2 alike."""
    for rows, width, delta in [(401, 15.0, 0.1), (9, 40.0, 0.5), (2, 3.0, 1.0)]:
        gain = gain_favouring_packing(rows, width, delta)
        assert 0 < gain <= 1
        excess = 1 / gain - 1
        assert excess**2 * gain * width / 3 == pytest.approx(math.log(3 * rows / delta))
        gain = gain_favouring_cover(rows, width, delta)
        assert gain > 1
        shortfall = 1 - 1 / gain
        assert shortfall**2 * gain * width / 2 == pytest.approx(math.log(3 * rows / delta))
    assert gain_favouring_packing(401, 15.0, 0.1) == pytest.approx(0.28, abs=0.05)
