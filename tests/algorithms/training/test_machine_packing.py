"""Counts on machines against the plain code of the models, and against enumeration."""

import itertools

import numpy as np
import pytest

from algorithms.training.plus.kernels import most_beside, most_colocated, ps_needed, spread
from models.training.throughput import most_colocated_workers
from tests.algorithms.training.kit import unit_job


def enumerated_most(worker, ps, gamma, free, at_most):
    """Most workers over all machines, by trying every count of workers and PSs on each."""
    per_machine = []
    for room in free:
        pairs = [
            (w, s)
            for w in range(at_most + 1)
            for s in range(at_most + 2)
            if np.all(w * worker + s * ps <= room + 1e-9)
        ]
        # Only the most PSs beside each number of workers matter.
        per_machine.append([max(p for p in pairs if p[0] == w) for w in {w for w, _ in pairs}])
    best = 0
    for combination in itertools.product(*per_machine):
        workers = sum(w for w, _ in combination)
        servers = sum(s for _, s in combination)
        served = max((w for w in range(workers + 1) if ps_needed(w, gamma) <= servers), default=0)
        best = max(best, min(workers, served, at_most))
    return best


def spread_of(worker, ps, gamma, free, at_most):
    colocated = np.array([most_colocated(worker, ps, gamma, room, at_most) for room in free])
    workers_on = np.full(len(free), 7)
    ps_on = np.full(len(free), 7)
    total = spread(worker, ps, gamma, free, at_most, colocated, workers_on, ps_on)
    return total, workers_on, ps_on


def test_by_hand():
    worker, ps = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    assert ps_needed(5, 2.0) == 3
    assert most_beside(worker, ps, 0, np.array([5.0, 1.0]), 9) == 5
    assert most_beside(worker, ps, 1, np.array([5.0, 1.0]), 9) == -1
    # Two PSs fit and serve four workers, although five would fit.
    assert most_colocated(worker, ps, 2.0, np.array([5.0, 5.0]), 9) == 4
    # GPUs are on one machine, CPUs on the other: nothing is internal, four workers are external.
    free = np.array([[5.0, 0.0], [0.0, 5.0]])
    total, workers_on, ps_on = spread_of(worker, ps, 2.0, free, 9)
    assert (total, workers_on.tolist(), ps_on.tolist()) == (4, [4, 0], [0, 2])


def test_machines_that_hold_little_are_used_first():
    worker, ps = np.array([1.0]), np.array([0.0])
    free = np.array([[6.0], [2.0], [4.0]])
    total, workers_on, _ = spread_of(worker, ps, 10.0, free, 5)
    assert total == 5
    assert workers_on.tolist() == [0, 2, 3]


def test_no_more_ps_than_needed():
    worker, ps = np.array([2.0]), np.array([1.0])
    # Each machine holds one worker with its PS; together they need only one.
    total, workers_on, ps_on = spread_of(worker, ps, 2.0, np.array([[3.0], [3.0]]), 2)
    assert (total, workers_on.sum(), ps_on.sum()) == (2, 2, 1)


@pytest.mark.parametrize("seed", range(30))
def test_colocated_equals_the_models_count(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(20):
        gamma = float(rng.choice([0.3, 1.0, 1.7, 4.0, 50.0]))
        batch = int(rng.integers(1, 12))
        job = unit_job(workers_per_ps=gamma, batch=batch)
        worker, ps = rng.integers(0, 4, 2) * 1.0, rng.integers(0, 4, 2) * 0.7
        room = rng.integers(0, 20, 2) * 1.0
        expected = most_colocated_workers(job, worker, ps, room)
        assert most_colocated(worker, ps, gamma, room, batch) == expected


@pytest.mark.parametrize("seed", range(20))
def test_spread_fits_and_is_never_more_than_possible(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    missed = 0
    for _ in range(10):
        gamma = float(rng.choice([0.5, 1.0, 1.7, 3.0]))
        worker = np.array([rng.integers(1, 4), rng.integers(0, 3)], dtype=float)
        ps = np.array([rng.integers(0, 2), rng.integers(1, 4)], dtype=float)
        free = rng.integers(0, 8, (int(rng.integers(1, 4)), 2)) * 1.0
        most = enumerated_most(worker, ps, gamma, free, 6)
        total, workers_on, ps_on = spread_of(worker, ps, gamma, free, 6)
        assert workers_on.sum() == total <= most
        assert ps_on.sum() == ps_needed(total, gamma)
        use = workers_on[:, None] * worker + ps_on[:, None] * ps
        assert (use <= free + 1e-9).all()
        assert (workers_on >= 0).all()
        assert (ps_on >= 0).all()
        missed += most - total
    assert missed <= 6  # of up to 60: greedy, not exact
