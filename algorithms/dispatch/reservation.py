"""Compiled: EASY's reservation for the first job that waits."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.compiled import compiled
from algorithms.dispatch.placing import GRAIN, add_job, fullness, place
from algorithms.dispatch.problem import NEVER

__all__ = ["holds", "reserve"]


@compiled
def _times_it_fits(problem: Any, room: Any, n: int, u: int, most: int) -> int:
    """How many units like u node n has room for, `most` at most; never too few."""
    times = most
    for r in range(room.shape[1]):
        demand = problem.unit_demand[u, r]
        if demand > 0.0:
            times = min(times, int(max(room[n, r], 0.0) / demand + GRAIN))
        elif room[n, r] < 0.0:
            return 0
    return times


@compiled
def holds(problem: Any, room: Any, unit_node: Any, j: int) -> bool:
    """Whether nothing is below zero on the nodes of job j."""
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        for r in range(room.shape[1]):
            if room[unit_node[u], r] < 0.0:
                return False
    return True


@compiled
def reserve(
    problem: Any,
    seen: Any,
    room: Any,
    free: float,
    running: Any,
    plan_end: Any,
    unit_node: Any,
    seat: Any,
    fresh: Any,
    head: int,
    time: int,
    promised: Any,
    sign: float,
) -> Any:
    """Reserve for the head the earliest planned end at which it fits; `room` is then beside it.

    `running` ascends by planned end; `room` and `free` are what is left now. A job that is over
    its time is taken to end at once. What was promised before stands where it still holds and
    nothing is earlier; the head's nodes are in `seat`, before and after; `fresh` is
    scratch.
    """
    first, last = problem.unit_first[head], problem.unit_first[head + 1]
    nodes = np.arange(room.shape[0])
    key = np.empty(len(nodes))
    none = np.empty(0, np.int64)
    # Per kind of unit, on how many nodes it fits how often: what is needed, at least.
    kinds = np.empty(last - first, np.int64)
    needed = np.zeros(last - first, np.int64)
    there = np.zeros(last - first, np.int64)
    number = 0
    for u in range(first, last):
        k = 0
        while k < number and problem.unit_class[kinds[k]] != problem.unit_class[u]:
            k += 1
        if k == number:
            kinds[k] = u
            number += 1
        needed[k] += 1
    for k in range(number):
        for n in range(len(nodes)):
            there[k] += _times_it_fits(problem, room, n, kinds[k], last - first)
    for i in range(len(running)):
        j = running[i]
        when = max(plan_end[j], time + 1)
        if promised < when:
            if problem.power[head] <= free:
                add_job(problem, room, seat, head, -1.0)
                if holds(problem, room, seat, head):
                    return promised, free - problem.power[head]
                add_job(problem, room, seat, head, 1.0)
            promised = NEVER
        for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
            n = unit_node[u]
            for k in range(number):
                there[k] -= _times_it_fits(problem, room, n, kinds[k], last - first)
            for r in range(room.shape[1]):
                room[n, r] += problem.unit_demand[u, r]
            for k in range(number):
                there[k] += _times_it_fits(problem, room, n, kinds[k], last - first)
        free += seen[j]
        final = i + 1 == len(running)
        if not final and max(plan_end[running[i + 1]], time + 1) == when:
            continue
        if final:  # no trace of rounding is left
            room[:] = problem.limit
            free = problem.headroom
        if problem.power[head] > free:
            continue
        enough = True
        for k in range(number):
            enough = enough and there[k] >= needed[k]
        if enough or final:
            for n in range(len(nodes)):
                key[n] = fullness(problem, room, n, sign)
            nodes = np.argsort(key, kind="mergesort")
            if place(problem, room, nodes, head, fresh, none, -1):
                seat[first:last] = fresh[first:last]
                return when, free - problem.power[head]
        if final:
            seat[first:last] = problem.packed[first:last]
            add_job(problem, room, seat, head, -1.0)
            return when, free - problem.power[head]
    return NEVER, free
