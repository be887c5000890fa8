"""Prices learnt from the jobs seen."""

import numpy as np
import pytest

from algorithms.training.pdors.prices import price_bounds
from algorithms.training.plus.past_prices import (
    DOUBT,
    PARTS,
    clearing_level,
    paper_prices,
    past_prices,
    prices_ahead,
)
from tests.algorithms.training.kit import cluster, flat, unit_job


def test_clearing_level_is_the_worth_of_the_first_job_that_does_not_fit():
    work, worth = np.array([2.0, 1.0, 4.0]), np.array([6.0, 5.0, 4.0])  # 3, 5 and 1 per work
    assert clearing_level(work, worth, 0.5) == 5
    assert clearing_level(work, worth, 1.0) == 3
    assert clearing_level(work, worth, 2.9) == 3
    assert clearing_level(work, worth, 3.0) == 1
    assert clearing_level(work, worth, 7.0) == 0
    assert clearing_level(np.zeros(2), np.ones(2), 1.0) == 0


def test_by_hand():
    # Each job needs 12 worker-slots of one of 6 GPUs: two slots of the cluster, and is worth 5.
    jobs = [unit_job(f"j{i}", worker_slots=12, utility=flat()) for i in range(3)]
    instance = cluster(*jobs)
    level, price = past_prices(instance, [0, 1, 2], 4)
    # Supplies of 1 to 4 slots of the cluster, and three jobs of two: all are exceeded.
    assert level == pytest.approx(2.5 * 3 / (3 + DOUBT))
    assert price.tolist() == pytest.approx([level / 6, 0.0])
    # One job in four slots: supplies below two slots are exceeded, the others are not.
    exceeded = sum(4 * part < 2 for part in PARTS)
    level, _ = past_prices(instance, [0], 4)
    assert level == pytest.approx(2.5 * exceeded / len(PARTS) / (1 + DOUBT))


def test_more_contention_higher_prices():
    jobs = [unit_job(f"j{i}", worker_slots=10 + i) for i in range(8)]
    instance = cluster(*jobs)
    levels = [past_prices(instance, list(range(8)), slots)[0] for slots in (1, 4, 16, 256)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > levels[-1] == 0


def test_only_jobs_seen_are_looked_at():
    first, second = unit_job("a"), unit_job("b", worker_slots=1, utility=flat(1000.0))
    alone, both = cluster(first), cluster(first, second)
    for prices in (past_prices(alone, [0], 1), past_prices(both, [0], 1)):
        assert prices[0] == past_prices(alone, [0], 1)[0]
    used = np.ones((3, 2))
    assert (paper_prices(both, [0], used) == paper_prices(alone, [0], used)).all()


def test_nobody_seen_or_no_demand():
    instance = cluster(unit_job(worker={}))
    assert past_prices(instance, [], 3)[0] == 0
    assert past_prices(instance, [0], 3)[0] == 0
    assert not paper_prices(instance, [], np.ones((2, 2))).any()


def test_the_present_slot_is_free_of_charge():
    ahead = prices_ahead(np.array([6.0, 3.0]), 5)
    assert ahead[0].tolist() == [0, 0]
    assert (np.diff(ahead, axis=0) >= 0).all()
    assert ahead[-1].tolist() == [6, 3]


def test_paper_prices_are_equation_12():
    instance = cluster(unit_job("a"), unit_job("b", worker_slots=3))
    bounds = price_bounds(instance)
    price = paper_prices(instance, [0, 1], np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 6.0]]))
    gpu = np.log(price[:, 0])
    assert gpu[0] == pytest.approx(bounds.log_lowest)
    assert gpu[2] == pytest.approx(bounds.log_highest[0])
    assert gpu[1] == pytest.approx((gpu[0] + gpu[2]) / 2)
