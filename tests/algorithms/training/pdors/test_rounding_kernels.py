"""The compiled rounding makes the draws, and the decisions, of the plain one."""

import math

import numpy as np
import pytest

from algorithms.training.pdors.rounding import SlotOptima, round_optima, round_slot
from algorithms.training.pdors.rounding_chances import (
    EXCLUDED,
    HOPELESS,
    POSSIBLE,
    chance_of,
)
from tests.algorithms.training.pdors.plain_rounding import (
    fitting_table,
    plain_round_slot,
    split,
    totals_can_do,
)
from tests.algorithms.training.pdors.test_rounding import make_job


def random_case(seed):
    """Optima of up to 9 machines, on many of which only one more unit fits, or none."""
    rng = np.random.default_rng([seed, 5])
    machines = int(rng.integers(1, 10))
    gamma = float(rng.choice([0.5, 1.0, 1.7, 3.0]))
    share = rng.choice([0.0, 0.5, 1.0])  # of entries that are whole
    workers = rng.uniform(0, 3, machines)
    ps = rng.uniform(0, 2, machines)
    workers = np.where(rng.random(machines) < share, np.floor(workers), workers)
    ps = np.where(rng.random(machines) < share, np.floor(ps), ps)
    demands = rng.integers(0, 3, (2, 2)).astype(float)
    use = workers[:, None] * demands[0] + ps[:, None] * demands[1]
    free = use + rng.choice([0.0, 0.4, 1.0, 3.0], (machines, 2))
    total = float(workers.sum())
    cover = max(int(np.floor(total)) + int(rng.integers(-1, 2)), 1)
    job = make_job(batch=max(cover + int(rng.integers(-1, 3)), 1), gamma=gamma)
    prices = rng.exponential(size=(2, machines))
    return job, workers, ps, cover, demands, free, prices


def arguments(case, rng, draws, attempts):
    job, workers, ps, cover, demands, free, prices = case
    return (job, workers, ps), {
        "worker_cover": cover,
        "worker_demand": demands[0],
        "ps_demand": demands[1],
        "free_capacity": free,
        "log_cost": lambda w, s: math.log(max(float(prices[0] @ w + prices[1] @ s), 1e-300)),
        "rng": rng,
        "feasible_draws": draws,
        "max_attempts": attempts,
    }


def enumerated(case):
    """Whether some outcome is feasible, by all of them, machine by machine."""
    job, workers, ps, cover, demands, free, _ = case
    used = np.flatnonzero((workers > 1e-6) | (ps > 1e-6))
    low_workers, up_workers = split(workers[used])
    low_ps, up_ps = split(ps[used])
    fitting = fitting_table(demands[0], demands[1], free[used], low_workers, low_ps)
    totals = {(int(low_workers.sum()), int(low_ps.sum()))}
    for h in range(len(used)):
        totals = {
            (w + i, s + j)
            for w, s in totals
            for i in range(2 if up_workers[h] > 0 else 1)
            for j in range(2 if up_ps[h] > 0 else 1)
            if fitting[i, j, h]
        }
    found = any(cover <= w <= job.batch and s >= job.ps_for(w) for w, s in totals)
    plain = totals_can_do(job, cover, fitting, low_workers, up_workers, low_ps, up_ps)
    up = np.column_stack([up_workers, up_ps])
    low = np.column_stack([low_workers, low_ps])
    table = np.ascontiguousarray(np.moveaxis(fitting, 2, 0))
    chance = chance_of(low, up, table, cover, job.batch, job.workers_per_ps)
    return found, plain, chance


def test_an_outcome_is_possible_exactly_if_one_is_found_by_enumeration():
    seen = []
    for seed in range(1500):
        found, plain, chance = enumerated(random_case(seed))
        assert chance == (POSSIBLE if found else EXCLUDED if plain else HOPELESS)
        seen.append(chance)
    assert min(seen.count(chance) for chance in (HOPELESS, EXCLUDED, POSSIBLE)) > 15


def test_draws_costs_and_the_rest_of_the_stream_are_those_of_the_plain_rounding():
    outcomes = []
    for seed in range(250):
        case = random_case(seed)
        fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        draws, attempts = [(10, 400), (3, 45), (40, 1500), (1, 1)][seed % 4]
        positional, named = arguments(case, fast, draws, attempts)
        one = round_slot(*positional, **named)
        positional, named = arguments(case, plain, draws, attempts)
        two = plain_round_slot(*positional, **named)
        assert fast.random() == plain.random()  # as much of the stream is used
        assert (one.log_cost, one.feasible) == (two.log_cost, two.feasible)
        assert one.attempts == two.attempts or (one.attempts == 0 and not enumerated(case)[0])
        outcomes.append((one.attempts > 0, one.feasible > 0))
        if one.workers is not None:
            assert np.array_equal(one.workers, two.workers)
            assert np.array_equal(one.ps, two.ps)
    assert min(outcomes.count(kind) for kind in [(False, False), (True, False), (True, True)]) > 15


def test_many_optima_in_one_call_are_rounded_one_after_the_other():
    cases = [random_case(seed) for seed in range(40)]
    job, *_, demands, _, _ = cases[0]
    start = np.cumsum([0] + [len(case[1]) for case in cases])
    optima = SlotOptima(
        start,
        np.concatenate([np.arange(len(case[1])) for case in cases]),
        np.arange(start[-1]),
        np.concatenate([case[1] for case in cases]),
        np.concatenate([case[2] for case in cases]),
        np.concatenate([case[5] for case in cases]),
    )
    cover = np.array([min(case[3], job.batch) for case in cases])
    which = np.array([*range(40), 3, 3])
    together = np.random.default_rng(1)
    rounded = round_optima(
        job,
        optima,
        which,
        gain=np.full(42, 0.9),
        worker_cover=cover[which],
        worker_demand=demands[0],
        ps_demand=demands[1],
        rng=together,
        feasible_draws=4,
        max_attempts=100,
    )
    alone = np.random.default_rng(1)
    for n, k in enumerate(which):
        _, workers, ps, _, _, free, _ = cases[k]
        one = round_slot(
            job,
            0.9 * workers,
            0.9 * ps,
            worker_cover=int(cover[k]),
            worker_demand=demands[0],
            ps_demand=demands[1],
            free_capacity=free,
            log_cost=lambda w, s: float(w.sum() + s.sum()),
            rng=alone,
            feasible_draws=4,
            max_attempts=100,
        )
        assert (rounded.attempts[n], rounded.feasible[n]) == (one.attempts, one.feasible)
        totals = [
            rounded.workers[a:b].sum() + rounded.ps[a:b].sum()
            for a, b, c in zip(rounded.start[:-1], rounded.start[1:], rounded.case, strict=True)
            if c == n
        ]
        assert min(totals, default=math.inf) == one.log_cost
    assert together.random() == alone.random()


def test_other_generators_are_refused():
    case = random_case(0)
    positional, named = arguments(case, np.random.Generator(np.random.MT19937(0)), 1, 1)
    with pytest.raises(TypeError, match="MT19937"):
        round_slot(*positional, **named)
