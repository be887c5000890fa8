"""What the proof leaves open: payoffs on the empty cluster, and what U^r does not block."""

import math

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.pdors.prices import price_bounds
from algorithms.training.theory.certificate import greatest_payoff
from algorithms.training.theory.proof_gaps import payoff_on_empty_cluster, unblocked
from experiments.training.counterexamples import no_draw, worker_only
from tests.training_factories import random_tiny


def test_a_worker_on_a_full_machine_and_its_ps_elsewhere():
    online = run(worker_only(), "pdors")
    assert [d.reason for d in online.log.decisions] == [None, "capacity"]
    bounds = online.log.prices.bounds
    cost = math.exp(float(bounds.log_highest[0])) + math.exp(bounds.log_lowest)
    found = payoff_on_empty_cluster(online.log.instance, 1, online.log.log_prices())
    assert found == pytest.approx(10.0 - cost)
    assert found > 0


def test_a_job_that_no_draw_placed():
    online = run(no_draw(), "pdors")
    found = payoff_on_empty_cluster(online.log.instance, 0, online.log.log_prices())
    low = math.exp(online.log.prices.bounds.log_lowest)
    assert found == pytest.approx(10.0 - 3 * low)


@pytest.mark.parametrize("seed", range(15))
def test_never_above_the_proved_upper_bound(seed):
    instance = random_tiny(seed)
    log_prices = run(instance, "pdors", seed=seed).log.log_prices()
    for i in instance.possible_jobs:
        lower = payoff_on_empty_cluster(instance, i, log_prices)
        assert 0 <= lower <= greatest_payoff(instance, i, log_prices) + 1e-9


def test_prices_of_nothing_leave_the_utility():
    instance = worker_only()
    free = np.full((1, 2, 1), -np.inf)
    assert payoff_on_empty_cluster(instance, 0, free) == pytest.approx(10.0)


def test_what_is_not_blocked_by_hand():
    instance = worker_only()  # U = 10 / 2: a worker or a PS alone costs half
    found = unblocked(instance, price_bounds(instance))
    assert (found.worker_pairs, found.workers) == (2, 2)
    assert (found.ps_pairs, found.ps) == (2, 2)
    instance = no_draw()  # its PSs need nothing: a worker costs all that the job is worth
    found = unblocked(instance, price_bounds(instance))
    assert (found.worker_pairs, found.workers, found.ps_pairs, found.ps) == (1, 0, 0, 0)
