"""The polish: a local search over orders of jobs, each decoded on single nodes."""

from __future__ import annotations

import numpy as np

from algorithms.dispatch.hybrid.mapping import Mapped
from algorithms.dispatch.hybrid.problems import make_serial
from algorithms.dispatch.hybrid.serial_kernels import decode, improve
from models.dispatch import DispatchInstance

__all__ = ["polish"]

HOT, COLD = 0.1, 0.01
"""Temperature at the beginning and at the end, in parts of the objective per job."""

REACH = 0.15
"""How far a job moves at once, in parts of the order."""


LEAST_REACH = 8


def polish(
    instance: DispatchInstance, best: Mapped, orders: int, nodes: str, rng: np.random.Generator
) -> tuple[Mapped, int, tuple[float, ...]]:
    """Search on from a schedule; the result is no worse.

    Parameters
    ----------
    instance : DispatchInstance
    best : Mapped
    orders : int
        Orders of jobs that are tried.
    nodes : str
        "fullest" or "file".
    rng : numpy.random.Generator

    Returns
    -------
    found : Mapped
    decoded : int
        Orders that were decoded on nodes.
    trace : tuple of float
        Least objective [s] after 1, 2, 4, 8, ... orders.
    """
    jobs = np.flatnonzero(instance.arrays.possible)
    if best.objective <= 0 or len(jobs) < 2:
        return best, 0, ()
    problem = make_serial(instance, nodes)
    order = jobs[np.argsort(best.start[jobs], kind="stable")]
    scale = best.objective / len(jobs)
    reach = min(len(jobs) - 1, max(LEAST_REACH, int(REACH * len(jobs))))
    order, _, decoded, trace = improve(
        problem, order, orders, HOT * scale, COLD * scale, reach, rng
    )
    state, _ = decode(problem, order)  # from nothing: no trace of rounding
    found = Mapped.of(instance, state.start, state.node)
    least = tuple(min(best.objective, cost) for cost in trace.tolist())
    return min(best, found, key=lambda one: one.objective), int(decoded), least
