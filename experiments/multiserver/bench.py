"""schedlab bench multiserver: time per slot, ours against numpy and a QP solver; how it grows.

Times are of the processor. The same slots are run by the compiled ascent and by the one in numpy in
turns, so that a noisy machine disturbs both alike. For the solver one QP per instance and resource,
of which a sample is solved; building its model is not counted.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.multiserver import run
from algorithms.multiserver.oga import Ascent, OgaParameters
from algorithms.multiserver.projection import project
from experiments.multiserver.numpy_ascent import NumpyAscent
from experiments.side_by_side import exponent, ratio
from models.multiserver import MultiserverInstance, arrival_table
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout
from models.multiserver.projection_qp import ProjectionQp

__all__ = ["SIZES", "bench"]

# Ports, instances, ports per instance (None: all), slots.
SIZES: tuple[tuple[int, int, int | None, int], ...] = (
    (20, 20, None, 700),
    (10, 128, None, 350),
    (100, 256, None, 70),
    (100, 1024, None, 28),
    (1000, 10000, 10, 28),
)
RESOURCES = 6
REPEATS = 7
PROGRAMS = 12  # QPs solved per size
GROWTH = (8, 16, 32, 64, 128, 256, 512)  # instances with 50 ports each
LONG = 1_000_000
AGREE = 1e-6


def bench(
    sizes: Sequence[tuple[int, int, int | None, int]] = SIZES,
    growth: Sequence[int] = GROWTH,
    long: int = LONG,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Returns
    -------
    dict
        ``slots`` (per size: microseconds per slot of ours and numpy, and their ratio),
        ``slots_by_a_solver`` (the same with one QP per instance and resource), ``growth`` (per
        number of edges times resources: microseconds), ``growth_exponent`` of the fit,
        ``nanoseconds_per_edge_and_resource`` and ``long_run`` (slots, seconds, memory it took
        beyond a short run).

    Raises
    ------
    AssertionError
        If two ways disagree: then their times mean nothing.
    """
    run(generate(3, 3, 2, slots=5, seed=seed), "oga")  # compiles
    table, solver = {}, {}
    for ports, servers, degree, slots in sizes:
        instance = generate(ports, servers, RESOURCES, degree=degree, slots=slots, seed=seed)
        size = f"L={ports}, R={servers}, edges={len(instance.edges)}"
        table[size] = _per_slot(instance)
        solver[size] = _by_solver(instance, table[size]["us"], seed)
    work, times = [], []
    for servers in growth:
        instance = generate(50, servers, RESOURCES, slots=200, seed=seed)
        work.append(len(instance.edges) * RESOURCES)
        times.append(min(_slot_seconds(instance) for _ in range(REPEATS)))
    return {
        "seed": seed,
        "repeats": REPEATS,
        "slots": table,
        "slots_by_a_solver": solver,
        "growth": {f"edges x K = {w}": {"us": 1e6 * t} for w, t in zip(work, times, strict=True)},
        "growth_exponent": exponent(work, times),
        "nanoseconds_per_edge_and_resource": 1e9 * times[-1] / work[-1],
        "long_run": {f"T={long}": _long_run(long, seed)},
    }


def _slot_seconds(instance: MultiserverInstance) -> float:
    """Seconds per slot over all slots of the instance, from the start."""
    arrivals = arrival_table(instance.arrivals, instance.number_of_ports)
    ascent, rewards = Ascent(instance, OgaParameters()), np.zeros(len(arrivals))
    began = time.process_time()
    ascent.advance(arrivals, rewards)
    return (time.process_time() - began) / len(arrivals)


def _per_slot(instance: MultiserverInstance) -> dict[str, float]:
    """Time the same slots by both ascents in turns."""
    arrivals = arrival_table(instance.arrivals, instance.number_of_ports)
    ours, numpys = [], []
    compiled, ascent = Ascent(instance, OgaParameters()), NumpyAscent(instance)
    for part in np.array_split(arrivals, REPEATS):
        rewards = np.zeros(len(part))
        began = time.process_time()
        compiled.advance(part, rewards)
        ours.append((time.process_time() - began) / len(part))
        began = time.process_time()
        expected = ascent.run(part)
        numpys.append((time.process_time() - began) / len(part))
        if np.abs(rewards - expected).max() > AGREE * max(1.0, np.abs(expected).max()):
            raise AssertionError("numpy and the compiled ascent disagree")
    return {
        "us": 1e6 * float(np.median(ours)),
        "numpy_us": 1e6 * float(np.median(numpys)),
        **ratio("numpy_over_ours", numpys, ours),
    }


def _by_solver(instance: MultiserverInstance, ours: float, seed: int) -> dict[str, float]:
    """Project by the QP solver, at points a step outside the set: all, from a sample's times."""
    rng, layout = np.random.default_rng(seed), edge_layout(instance)
    times = []
    for _ in range(PROGRAMS):
        r, k = int(rng.integers(len(layout.capacity))), int(rng.integers(layout.resources))
        caps = layout.cap[layout.first[r] : layout.first[r + 1], k]
        budget = float(layout.capacity[r, k])
        point: NDArray[np.float64] = caps * rng.random(len(caps)) + 0.1 * rng.random(len(caps))
        program = ProjectionQp(point, caps, budget)
        began = time.process_time()
        amount = program.solve()
        times.append(time.process_time() - began)
        if np.abs(amount - project(point, caps, budget).amount).max() > AGREE * caps.max():
            raise AssertionError("the QP solver and the projection disagree")
    slot = 1e6 * layout.capacity.size * np.array(times)
    return {
        "qp_us": float(np.median(slot)),
        **ratio("qp_over_ours", slot, np.full(len(slot), ours)),
    }


def _long_run(slots: int, seed: int) -> dict[str, float]:
    """Run very many slots; memory is the growth of this process's peak."""
    run(generate(10, 20, RESOURCES, slots=1000, seed=seed), "oga")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    instance = generate(10, 20, RESOURCES, slots=slots, seed=seed)
    began = time.process_time()
    run(instance, "oga")
    seconds = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "us_per_slot": 1e6 * seconds / slots,
        "more_mebibytes": (after - before) / 1024,
    }
