"""How far the curves are from what memory allows: a slot of machines that are all different.

Each iteration of the simplex looks at every corner of every machine's polygon once, 16 bytes a
corner; nothing less can say that a basis is optimal. So the floor of a curve is its iterations
times the bytes of all corners, at the speed at which this machine reads memory.
"""

from __future__ import annotations

import time

import numpy as np

from algorithms.training.pdors.curves import JobCurves, slot_of_state
from algorithms.training.pdors.slot import JobSlots
from experiments.training.instances import draw_instance

__all__ = ["distance_to_the_limit"]

REPEATS = 5
BYTES = 16  # of a corner: workers and PSs


def distance_to_the_limit(machines: int, seed: int) -> dict[str, float]:
    """Follow the curve of one job up to its batch.

    Returns
    -------
    dict
        ``machines``, ``demands`` asked for, ``iterations``, ``ms`` of the curve, nanoseconds per
        iteration and machine, gigabytes of corners per second in it, those of summing an array
        that is larger than the caches, and ``memory_over_curve``, the floor over the time taken.
    """
    size = {"jobs": 20, "slots": 20, "machines": machines, "preset": "calibrated"}
    instance = draw_instance(size, seed).instance
    rng = np.random.default_rng(seed)
    i = max(instance.possible_jobs, key=lambda i: instance.jobs[i].batch)
    slots = JobSlots(instance, i)
    free = instance.capacity * rng.uniform(0.05, 1, instance.capacity.shape)
    view = slot_of_state(slots.state(free, rng.uniform(0, 10, free.shape)))
    covers = np.arange(1, slots.job.batch + 1)
    seconds = []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        curves = JobCurves(slots.job, slots.worker_demand, slots.ps_demand, [view], covers)
        seconds.append(time.process_time() - began)
    used = int(((slots.worker_demand > 0) | (slots.ps_demand > 0)).sum())
    looked_at = BYTES * curves.pivots * machines * (used + 3)
    best = min(seconds[1:])
    memory = _bytes_per_second()
    return {
        "machines": machines,
        "demands": len(covers),
        "iterations": curves.pivots,
        "ms": 1e3 * best,
        "ns_per_iteration_and_machine": 1e9 * best / max(curves.pivots * machines, 1),
        "GB_per_s_at_most": looked_at / best / 1e9,
        "GB_per_s_of_memory": memory / 1e9,
        "memory_over_curve": looked_at / (memory * best),
    }


def _bytes_per_second() -> float:
    """How fast an array beyond all caches is summed."""
    table = np.ones(2**24)
    best = np.inf
    for _ in range(REPEATS):
        began = time.process_time()
        table.sum()
        best = min(best, time.process_time() - began)
    return float(table.nbytes / best)
