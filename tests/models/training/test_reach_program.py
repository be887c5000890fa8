"""w_ext by a MILP where tables would be too long: the same number."""

import numpy as np
import pytest

from models.training import throughput
from models.training.reach_program import most_workers_by_program
from models.training.throughput import job_reach
from tests.training_factories import make_job


def random_case(seed: int) -> tuple:
    rng = np.random.Generator(np.random.PCG64(seed))
    job = make_job(
        batch=int(rng.choice([5, 40, 1000])),
        workers_per_ps=float(rng.choice([0.3, 1.0, 1.7, 4.0, 50.0, 200.0])),
    )
    machines, resources = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    capacity = np.round(rng.uniform(0, 9, (machines, resources)), 2)
    worker = np.round(rng.uniform(0.05, 2, resources) * (rng.random(resources) < 0.8), 2)
    ps = np.round(rng.uniform(0.05, 2, resources) * (rng.random(resources) < 0.8), 2)
    worker[0] = max(worker[0], 0.05)
    return job, worker, ps, capacity


@pytest.mark.parametrize("seed", range(60))
def test_program_and_tables_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    job, worker, ps, capacity = random_case(seed)
    tables = job_reach(1, capacity, job, worker, ps)
    monkeypatch.setattr(throughput, "LARGEST_TABLES", -1)
    assert job_reach(1, capacity, job, worker, ps) == tables


def test_millions_of_workers() -> None:
    """On two machines 4 and 2 million workers fit, and each PS, of 1.7 workers, takes as much."""
    job = make_job(batch=10**9, workers_per_ps=1.7)
    capacity = np.array([[4.0], [2.0]])
    reach = job_reach(1, capacity, job, np.array([1e-6]), np.array([1e-6]))
    # w + s = 6e6 units, w = 1.7 s.
    assert reach.external_workers == int(6e6 * 1.7 / 2.7)


def test_what_the_solver_refuses_leaves_the_upper_limit() -> None:
    job = make_job(batch=9 * 10**15, workers_per_ps=5e15)
    worker, ps = np.array([1.0]), np.array([1.0])
    assert most_workers_by_program(job, worker, ps, np.array([[9.0]]), 9) == 9


def test_workers_of_several_machines_together_may_need_a_ps_that_none_needs_alone() -> None:
    """ceil(1 / 1.5e9 - 1e-9) = 0, but for 2 workers it is 1 (D2), and no PS fits."""
    job = make_job(batch=2, workers_per_ps=1.5e9)
    capacity = np.array([[1.0], [1.0]])
    reach = job_reach(1, capacity, job, np.array([1.0]), np.array([9.0]))
    assert (reach.internal_workers, reach.external_workers) == (1, 1)
