"""The exact search for a job's nodes, against trying all assignments."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.dispatch import pack_job, packing
from models.dispatch.packing import pack_units
from models.dispatch.scaling import scale_down, scale_up
from tests.dispatch_factories import make_instance, make_job, make_node


def brute_force(demand: np.ndarray, free: np.ndarray) -> bool:
    for nodes in itertools.product(range(len(free)), repeat=len(demand)):
        left = free.copy()
        np.subtract.at(left, list(nodes), demand)
        if (left >= -1e-9).all():
            return True
    return False


def check(demand: np.ndarray, free: np.ndarray) -> None:
    found = pack_units(demand, free)
    assert (found is not None) == brute_force(demand, free)
    if found is not None:
        used = np.zeros_like(free)
        np.add.at(used, found, demand)
        assert (used <= free + 1e-8).all()


amounts = st.integers(0, 6)
pairs = st.tuples(amounts, amounts)


@settings(max_examples=300, deadline=None)
@given(st.lists(pairs, min_size=1, max_size=5), st.lists(pairs, min_size=1, max_size=4))
def test_the_search_agrees_with_trying_everything(
    units: list[tuple[int, int]], nodes: list[tuple[int, int]]
) -> None:
    check(np.array(units) / 10, np.array(nodes) / 10)


def test_cp_sat_takes_over_and_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_STEPS", 0)
    monkeypatch.setattr(packing, "_best_fit", lambda *_: None)
    rng = np.random.default_rng(1)
    for _ in range(40):
        check(rng.integers(0, 5, (4, 2)) / 10, rng.integers(0, 8, (3, 2)) / 10)


def test_best_fit_misses_a_packing_that_the_search_finds() -> None:
    units, free = np.array([[4.0], [3], [3], [2], [2], [2]]), np.array([[8.0], [8.0]])
    limit, order = free * (1 + 1e-9), [0, 1, 2, 3, 4, 5]
    assert packing._best_fit(units, limit, order) is None
    assert sorted(pack_units(units, free) or []) == [0, 0, 0, 1, 1, 1]


def test_many_equal_units_are_no_work() -> None:
    free = np.full((120, 1), 2.0)
    assert pack_units(np.ones((240, 1)), free) is not None
    assert pack_units(np.full((121, 1), 1.5), free) is None


def test_what_is_impossible_says_why() -> None:
    jobs = [
        make_job("fits", (16, 16)),
        make_job("unit", (17,)),
        make_job("together", (9, 9, 9), power=0.0),
        make_job("power", (1,), power=401.0),
        make_job("at the cap", (1,), power=400.0),
    ]
    instance = make_instance(jobs, [make_node("x"), make_node("y")], power_cap=600.0)
    why = instance.why_impossible
    assert why[0] is None
    assert why[4] is None
    assert why[1] == "unit 0 (17 cores) fits no node"
    assert why[2] == "its units do not fit together"
    assert why[3] == "draws 401 W, but the idle system leaves 400 W below the cap"
    assert sorted(pack_job(instance, 0) or []) == [0, 1]
    assert pack_job(instance, 2) is None


def test_scaling_is_exact_for_decimals_and_safe_for_others() -> None:
    assert scale_up([0.1, 0.25, 3]) == ([10, 25, 300], 100)
    assert scale_up([1 / 3])[0] == [333334]
    assert scale_down(1 / 3, 10**6) == 333333
    assert scale_down(np.inf, 10) == 2**53
    assert scale_up([1e3]) == ([1000], 1)
