"""Ports that can earn nothing are those for which y* is worth nothing."""

import numpy as np
import pytest

from models.files import InputError
from models.google_trace import Submits
from models.multiserver import arrival_table
from models.multiserver.earning import why_worthless
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout
from models.multiserver.stationary import solve_stationary
from models.multiserver.streams import named_stream
from models.multiserver.trace import MICROSECONDS, stream_of_trace


@pytest.mark.parametrize("form", ["sum", "channel"])
@pytest.mark.parametrize("overhead", [1.0, 8.0, 12.0, 20.0])
def test_worthless_ports_against_the_optimum(form: str, overhead: float) -> None:
    seen = set()
    for seed in range(4):
        instance = generate(
            4, 3, 3, degree=2, gain="mixed", form=form, overhead=overhead, slots=1, seed=seed
        )
        layout = edge_layout(instance)
        for port, why in enumerate(why_worthless(instance)):
            jobs = np.zeros(4)
            jobs[port] = 1
            best = solve_stationary(layout, jobs)
            assert (best.lower > 1e-6) == (why is None), (seed, port, why, best.lower)
            seen.add(why)
    assert len(seen) >= 1


def submits(times: list[float], classes: list[int]) -> Submits:
    moments = np.array([int(t * MICROSECONDS) for t in times], dtype=np.int64)
    return Submits(moments, np.array(classes, dtype=np.int64), 1, "by hand")


def test_jobs_of_a_trace_by_slot_and_class() -> None:
    trace = submits([100, 104, 105, 105, 131], [0, 1, 3, 3, 2])
    arrivals = stream_of_trace(trace, 4, 4, slot_seconds=10)
    assert arrivals.ports == ((0, 1, 3), (), (), (2,))
    # All the trace in the slots, by default.
    assert stream_of_trace(trace, 2, 4).ports == ((0, 1, 3), (2,))
    # Fewer ports than classes: their number modulo the ports.
    assert stream_of_trace(trace, 1, 2).ports == ((0, 1),)
    # More: several ports of a class, one of them by chance.
    many = stream_of_trace(submits(list(range(400)), [1] * 400), 400, 10, slot_seconds=1)
    assert set(arrival_table(many, 10).sum(axis=0).nonzero()[0]) == {1, 5, 9}


def test_bad_arguments_of_a_trace() -> None:
    trace = submits([1, 2], [0, 1])
    with pytest.raises(InputError, match="slot_seconds: must be a number above 0"):
        stream_of_trace(trace, 4, 4, slot_seconds=float("inf"))
    with pytest.raises(InputError, match="ports: must be at least 1"):
        stream_of_trace(trace, 4, 0)


def test_named_streams() -> None:
    assert named_stream("bernoulli", 10, 3) is None
    bursts = named_stream("bursty", 4000, 5, probability=0.3, seed=1)
    assert bursts is not None
    assert arrival_table(bursts, 5).mean() == pytest.approx(0.3, abs=0.06)
    with pytest.raises(InputError, match="probability: must be above 0"):
        named_stream("bursty", 10, 3, probability=0.99)
    with pytest.raises(InputError, match="ports: must be 2"):
        named_stream("flip", 10, 3)
