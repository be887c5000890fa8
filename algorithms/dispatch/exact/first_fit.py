"""A plain first schedule, from which exact searches start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.dispatch import DispatchInstance, pack_job

__all__ = ["first_fit"]

Ints = NDArray[np.int64]


def first_fit(instance: DispatchInstance) -> tuple[Ints, Ints]:
    """Start jobs at events, by weighted waiting time, on the first nodes that they fit on.

    Returns
    -------
    start : int array, shape (J,)
        Seconds; -1 for impossible jobs.
    unit_node : int array, shape (U,)
    """
    arrays = instance.arrays
    start = np.full(instance.number_of_jobs, -1, dtype=np.int64)
    unit_node = np.full(len(arrays.unit_job), -1, dtype=np.int64)
    waiting = set(np.flatnonzero(arrays.possible).tolist())
    running: list[tuple[int, int]] = []
    left, watts = arrays.capacity_limit.copy(), 0.0
    time = min((int(arrays.submit[j]) for j in waiting), default=0)
    while waiting:
        for end, j in [entry for entry in running if entry[0] <= time]:
            running.remove((end, j))
            units = np.arange(arrays.unit_first[j], arrays.unit_first[j + 1])
            np.add.at(left, unit_node[units], arrays.unit_demand[units])
            watts -= float(arrays.power[j])
        if not running:
            left, watts = arrays.capacity_limit.copy(), 0.0  # no trace of rounding is left
        there = [j for j in waiting if arrays.submit[j] <= time]
        there.sort(key=lambda j: (-arrays.weight[j] * (time - arrays.submit[j] + 1), j))
        for j in there:
            nodes = None
            if watts + arrays.power[j] <= arrays.headroom_limit:
                nodes = _place(instance, j, left)
                if nodes is None and not running:
                    nodes = pack_job(instance, j)
            if nodes is None:
                continue
            units = np.arange(arrays.unit_first[j], arrays.unit_first[j + 1])
            np.subtract.at(left, nodes, arrays.unit_demand[units])
            watts += float(arrays.power[j])
            unit_node[units], start[j] = nodes, time
            running.append((time + int(arrays.duration[j]), j))
            waiting.remove(j)
        events = [end for end, _ in running]
        events += [int(arrays.submit[j]) for j in waiting if arrays.submit[j] > time]
        time = min(events, default=time)
    return start, unit_node


def _place(instance: DispatchInstance, j: int, left: NDArray[np.float64]) -> list[int] | None:
    arrays = instance.arrays
    room, nodes = left.copy(), []
    for u in range(int(arrays.unit_first[j]), int(arrays.unit_first[j + 1])):
        fits = np.flatnonzero((arrays.unit_demand[u] <= room).all(axis=1))
        if not len(fits):
            return None
        nodes.append(int(fits[0]))
        room[fits[0]] -= arrays.unit_demand[u]
    return nodes
