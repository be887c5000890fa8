"""Generated instances and streams have the properties that they are named after."""

from typing import Any

import numpy as np
import pytest

from models.files import InputError
from models.multiserver.arrivals import arrival_table
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout
from models.multiserver.streams import bursty_arrivals, flip_arrivals, trace_arrivals


def test_regular_degree_and_contention() -> None:
    instance = generate(9, 7, 3, degree=4, contention=3.0, seed=2)
    layout = edge_layout(instance)
    assert (np.diff(layout.first) == 4).all()
    demand = np.zeros_like(layout.capacity)
    np.add.at(demand, layout.instance, layout.cap)
    assert (demand / layout.capacity >= 3 / 1.25 - 1e-12).all()
    assert (demand / layout.capacity <= 3 / 0.75 + 1e-12).all()


def test_same_seed_same_instance() -> None:
    assert generate(seed=5) == generate(seed=5)
    assert generate(seed=5) != generate(seed=6)


def test_random_graph_has_its_density() -> None:
    instance = generate(100, 100, 1, degree=30, graph="random", seed=0)
    assert instance.number_of_edges == pytest.approx(3000, rel=0.05)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ports", 0),
        ("instances", 0),
        ("resources", 0),
        ("degree", 11),
        ("contention", 0.0),
        ("contention", float("nan")),
        ("probability", 1.5),
        ("gain", "cubic"),
        ("slots", -1),
    ],
)
def test_bad_arguments_are_named(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{field}: "):
        generate(**{field: value})


def test_bursts_have_their_lengths() -> None:
    table = arrival_table(bursty_arrivals(20_000, 4, burst=10, pause=30, seed=1), 4)
    assert table.mean() == pytest.approx(0.25, abs=0.03)
    bursts = ((~table[:-1]) & table[1:]).sum()
    assert table.sum() / bursts == pytest.approx(10, rel=0.1)


def test_flip() -> None:
    table = arrival_table(flip_arrivals(8), 2)
    assert table[:2].tolist() == [[True, False]] * 2
    assert table[2:].tolist() == [[False, True]] * 6


def test_trace_by_class() -> None:
    stream = trace_arrivals([0, 4, 5, 9, 99], [0, 3, 1, 1, 0], 2, 2, length=5)
    assert stream.ports == ((0, 1), (1,))
