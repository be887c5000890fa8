"""What the multiserver figures are made of: the run slot by slot, prices, failures of the loop."""

import itertools

import numpy as np
import pytest

from algorithms.multiserver import run
from algorithms.multiserver.projection import project
from experiments.multiserver.heat_maps import averaged
from experiments.multiserver.instances import draw_instance
from experiments.multiserver.outcomes import compare_task
from experiments.multiserver.prices import dual_prices
from experiments.multiserver.projection import count_calls
from experiments.multiserver.projection_note import note, smallest
from experiments.multiserver.trajectory import trajectory
from models.multiserver.allocation import allocation_table
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout


@pytest.mark.parametrize("form", ["sum", "channel"])
def test_the_run_slot_by_slot_is_the_compiled_one(form: str) -> None:
    instance = generate(5, 4, 3, degree=3, gain="mixed", form=form, slots=40, seed=2)
    layout = edge_layout(instance)
    solution = run(instance, "oga", history=True).solution
    slots = list(trajectory(instance))
    assert [slot.reward for slot in slots] == pytest.approx(solution.rewards, rel=1e-9)
    for slot, entries in zip(slots, solution.history, strict=True):
        np.testing.assert_allclose(
            slot.allocation, allocation_table(instance, layout, entries), atol=1e-9
        )


def test_prices_of_the_run() -> None:
    """Where a capacity has a price it is used up; without jobs there is none."""
    instance = generate(4, 3, 2, slots=60, probability=0.3, seed=1)
    layout = edge_layout(instance)
    slots = list(trajectory(instance))
    assert any((slot.price > 0).any() for slot in slots)
    for slot, following in itertools.pairwise(slots):
        used = np.zeros_like(layout.capacity)
        np.add.at(used, layout.instance, following.allocation)
        priced = slot.price > 0
        np.testing.assert_allclose(used[priced], layout.capacity[priced], rtol=1e-9)
        assert not slot.price[~slot.moved].any()


def test_dual_prices_by_hand() -> None:
    """One port that asks for more than there is: a unit is worth (alpha - beta) N / T."""
    instance = generate(1, 1, 1, contention=2.0, slots=50, probability=0.6, seed=4)
    jobs = sum(table.sum() for table in instance.arrivals.chunks(1))
    function = instance.gain.resources["k0"]
    worth = (function.scale - instance.overhead["k0"]) * jobs / 50
    assert dual_prices(instance) == pytest.approx(np.array([[worth]]), rel=1e-6)


def test_smallest_failures_of_the_loop() -> None:
    found = smallest("wrong")
    assert found is not None
    assert (found.point, found.caps, found.budget) == ((0,), (1,), 1)
    assert (found.loop, found.exact) == ((1.0,), (0.0,))
    found = smallest("wrong", tight=True)
    assert found is not None
    assert (found.point, found.caps, found.budget) == ((3, 3), (3, 1), 3)
    assert (found.loop, found.exact) == ((1.5, 1.5), (2.0, 1.0))
    assert smallest("above the capacity") is None
    assert "| wrong | (0) | (1) | 1 | (1) | (0) |" in note()


@pytest.mark.parametrize(
    ("z", "a", "c", "loop", "exact"),
    [
        ([1, 0], [1, 1], 2, [1, 1], [1, 0]),
        ([10, 9], [10, 1], 10, [5.5, 4.5], [9, 1]),
    ],
)
def test_known_failures_of_the_loop(
    z: list[float], a: list[float], c: float, loop: list[float], exact: list[float]
) -> None:
    assert project(z, a, c, method="paper").amount == pytest.approx(loop)
    assert project(z, a, c).amount == pytest.approx(exact)


def test_calls_are_counted_where_jobs_are() -> None:
    instance = generate(3, 2, 2, degree=2, slots=30, probability=0.5, seed=0)
    layout = edge_layout(instance)
    moved = 0
    for table in instance.arrivals.chunks(3):
        for row in table:
            moved += len(set(layout.instance[row[layout.port]]))
    counted = count_calls(instance)
    assert counted["calls"] == 2 * moved
    assert 0 < counted["wrong"] <= 1


def test_rows_of_comparisons_agree_with_the_policies() -> None:
    parameters = {"ports": 3, "instances": 2, "resources": 2, "slots": 30, "running": True}
    row = compare_task(parameters, 5)
    instance = draw_instance(parameters, 5)
    drf = run(instance, "drf").solution
    assert row["drf"] == drf.objective
    assert row["drf-job"] == run(instance, "drf", per_job=True).solution.objective
    assert row["oga-lookahead"] == run(instance, "oga", protocol="lookahead").solution.objective
    average = sum(drf.rewards[:10]) / 10
    assert row["drf@10"] == pytest.approx(average / (row["best"] / 30))
    assert row["drf@30"] == pytest.approx(drf.objective / row["best"])


def test_averages_over_slots() -> None:
    table = np.arange(10.0)[:, np.newaxis]
    assert averaged(table, 5).tolist() == [[0.5, 2.5, 4.5, 6.5, 8.5]]
    assert averaged(table, 100).tolist() == [list(range(10))]
    assert averaged(table, 3)[0, 0] == pytest.approx(1.0)
