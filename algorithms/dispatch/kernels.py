"""Compiled dispatching: jobs start at events, on nodes in a rule's order (PRB, FCFS, EASY).

The three policies are one loop. At an event ends release, submits are admitted, and one pass over
the waiting jobs starts what fits; the loop differs in the order of jobs and in what may overtake.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled

__all__ = ["EASY", "SKIP", "STOP", "Order", "Problem", "dispatch", "place_on_empty"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SKIP, STOP, EASY = 0, 1, 2
"""What a job that does not fit does to those behind it: nothing, blocks them, or reserves."""

NEVER = np.int64(2**62)
GRAIN = 1e-9  # of a node's fullness: what rounding makes of equal nodes stays equal


class Problem(NamedTuple):
    """What kernels read; shapes as in `DispatchArrays`.

    `unit_class` numbers equal demands; `packed` has the nodes of jobs which the order of nodes
    misplaces on the empty system, from the exact search (P3), and -1 elsewhere.
    """

    capacity: Any
    limit: Any
    headroom: float
    duration: Any
    power: Any
    unit_first: Any
    unit_demand: Any
    unit_class: Any
    packed: Any


class Order(NamedTuple):
    """Order of jobs and nodes as numbers.

    Of waiting jobs, the first has the most rate * (t - q + 1) + offset, then the least tie, then is
    first in the file. Nodes go by sign * (sum of free/capacity), ascending.
    """

    rate: Any
    offset: Any
    tie: Any
    sign: float


@compiled
def _fullness(problem: Any, left: Any, n: int, sign: float) -> float:
    total = 0.0
    for r in range(left.shape[1]):
        capacity = problem.capacity[n, r]
        if capacity > 0.0:
            total += (left[n, r] - problem.limit[n, r] + capacity) / capacity
    return np.round(sign * total / GRAIN)


@compiled
def _sort_nodes(order: Any, key: Any) -> None:
    """Sort by insertion: only a few nodes have changed since the last time."""
    for i in range(1, len(order)):
        n = order[i]
        k = i - 1
        while k >= 0 and (key[order[k]] > key[n] or (key[order[k]] == key[n] and order[k] > n)):
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = n


@compiled
def _sort_jobs(waiting: Any, count: int, score: Any, tie: Any) -> None:
    """Sort by insertion: two jobs' linear scores cross once at most, so little moves."""
    for i in range(1, count):
        j = waiting[i]
        k = i - 1
        while k >= 0:
            other = waiting[k]
            if score[other] > score[j]:
                break
            if score[other] == score[j] and (
                tie[other] < tie[j] or (tie[other] == tie[j] and other < j)
            ):
                break
            waiting[k + 1] = other
            k -= 1
        waiting[k + 1] = j


@compiled
def _add(problem: Any, left: Any, unit_node: Any, j: int, sign: float) -> None:
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        for r in range(left.shape[1]):
            left[unit_node[u], r] += sign * problem.unit_demand[u, r]


@compiled
def _place(problem: Any, left: Any, nodes: Any, j: int, unit_node: Any, hopeless: Any) -> bool:
    """Put each unit on the first node where it fits; all units or none.

    A demand that fits nowhere is `hopeless` until something ends.
    """
    first, last = problem.unit_first[j], problem.unit_first[j + 1]
    for u in range(first, last):
        if hopeless[problem.unit_class[u]]:
            return False
    for u in range(first, last):
        found = -1
        for n in nodes:
            fits = True
            for r in range(left.shape[1]):
                if problem.unit_demand[u, r] > left[n, r]:
                    fits = False
                    break
            if fits:
                found = n
                break
        if found < 0:
            if u == first:
                hopeless[problem.unit_class[u]] = True
            for v in range(first, u):
                for r in range(left.shape[1]):
                    left[unit_node[v], r] += problem.unit_demand[v, r]
            return False
        unit_node[u] = found
        for r in range(left.shape[1]):
            left[found, r] -= problem.unit_demand[u, r]
    return True


@compiled
def place_on_empty(problem: Any, j: int, unit_node: Any, sign: float) -> bool:
    """Whether the order of nodes places job j alone."""
    hopeless = np.zeros(problem.unit_class.max() + 1, np.bool_)
    nodes = np.arange(problem.limit.shape[0])
    key = np.empty(len(nodes))
    for n in range(len(nodes)):
        key[n] = _fullness(problem, problem.limit, n, sign)
    _sort_nodes(nodes, key)
    return _place(problem, problem.limit.copy(), nodes, j, unit_node, hopeless)


@compiled
def _reserve(
    problem: Any, left: Any, watts: float, ends: Any, unit_node: Any, head: int, sign: float
) -> Any:
    """Reserve for the head the earliest end at which it fits; what is left then beside it."""
    room, free = left.copy(), problem.headroom - watts
    running = np.flatnonzero(ends < NEVER)
    running = running[np.argsort(ends[running], kind="mergesort")]
    own = unit_node.copy()
    nodes = np.arange(left.shape[0])
    key = np.empty(left.shape[0])
    hopeless = np.zeros(problem.unit_class.max() + 1, np.bool_)
    for k in range(len(running)):
        _add(problem, room, unit_node, running[k], 1.0)
        free += problem.power[running[k]]
        when = ends[running[k]]
        last = k + 1 == len(running)
        if not last and ends[running[k + 1]] == when:
            continue
        if last:
            room, free = problem.limit.copy(), problem.headroom
        if problem.power[head] > free:
            continue
        hopeless[:] = False
        for n in range(len(nodes)):
            key[n] = _fullness(problem, room, n, sign)
        _sort_nodes(nodes, key)
        if _place(problem, room, nodes, head, own, hopeless):
            return when, room, free - problem.power[head]
        if last:
            _add(problem, room, problem.packed, head, -1.0)
            return when, room, free - problem.power[head]
    return NEVER, room, free


@compiled
def _fits_beside(problem: Any, room: Any, unit_node: Any, j: int) -> bool:
    """Whether job j, on its nodes, leaves the reservation in place; then it is taken off."""
    _add(problem, room, unit_node, j, -1.0)
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        for r in range(room.shape[1]):
            if room[unit_node[u], r] < 0.0:
                _add(problem, room, unit_node, j, 1.0)
                return False
    return True


@compiled
def dispatch(problem: Any, order: Any, submit: Any, admitted: Any, mode: int) -> Any:
    """Start all jobs of `admitted` (in order of submit) at events.

    Returns
    -------
    start : int array, shape (J,)
        -1 for jobs not in `admitted`.
    unit_node : int array, shape (U,)
    passes : int
        Events at which jobs were tried.
    """
    number = len(submit)
    start, unit_node = np.full(number, -1, np.int64), np.full(len(problem.packed), -1, np.int64)
    ends = np.full(number, NEVER, np.int64)
    running, active = np.empty(number, np.int64), 0
    waiting, count = np.empty(number, np.int64), 0
    score = np.empty(number)
    left, watts = problem.limit.copy(), 0.0
    nodes = np.arange(left.shape[0])
    key = np.empty(left.shape[0])
    for n in range(len(nodes)):
        key[n] = _fullness(problem, left, n, order.sign)
    _sort_nodes(nodes, key)
    hopeless = np.zeros(1 if len(problem.packed) == 0 else problem.unit_class.max() + 1, np.bool_)
    ahead, passes = 0, 0
    time = np.int64(0)
    while ahead < len(admitted) or count:
        next_time = submit[admitted[ahead]] if ahead < len(admitted) else NEVER
        for i in range(active):
            next_time = min(next_time, ends[running[i]])
        time = max(time, next_time)
        kept = 0
        for i in range(active):
            j = running[i]
            if ends[j] > time:
                running[kept] = j
                kept += 1
                continue
            _add(problem, left, unit_node, j, 1.0)
            watts -= problem.power[j]
            ends[j] = NEVER
            for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                key[unit_node[u]] = _fullness(problem, left, unit_node[u], order.sign)
        active = kept
        if active == 0:  # no trace of rounding is left
            left[:] = problem.limit
            watts = 0.0
        while ahead < len(admitted) and submit[admitted[ahead]] <= time:
            waiting[count] = admitted[ahead]
            count += 1
            ahead += 1
        for i in range(count):
            j = waiting[i]
            score[j] = order.rate[j] * (time - submit[j] + 1) + order.offset[j]
        _sort_jobs(waiting, count, score, order.tie)
        _sort_nodes(nodes, key)
        hopeless[:] = False
        passes += 1
        reserved, room, spare = NEVER, left, 0.0
        kept = 0
        i = 0
        while i < count:
            j = waiting[i]
            fits = watts + problem.power[j] <= problem.headroom
            if fits:
                fits = _place(problem, left, nodes, j, unit_node, hopeless)
                alone = active == 0 and (
                    mode != SKIP or (ahead == len(admitted) and i + 1 == count)
                )
                if not fits and alone:
                    # Nothing runs, and nothing more will come: the exact search's nodes.
                    if mode == SKIP:
                        j = waiting[0]
                        kept = 0
                        for k in range(1, count):
                            waiting[k - 1] = waiting[k]
                        count -= 1
                        i = -1
                    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                        unit_node[u] = problem.packed[u]
                    _add(problem, left, unit_node, j, -1.0)
                    fits = True
                elif fits and reserved < NEVER and time + problem.duration[j] > reserved:
                    beside = problem.power[j] <= spare
                    if beside:
                        beside = _fits_beside(problem, room, unit_node, j)
                    if beside:
                        spare -= problem.power[j]
                    else:
                        _add(problem, left, unit_node, j, 1.0)
                        fits = False
            if fits:
                start[j], ends[j] = time, time + problem.duration[j]
                running[active] = j
                active += 1
                watts += problem.power[j]
                for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                    key[unit_node[u]] = _fullness(problem, left, unit_node[u], order.sign)
                _sort_nodes(nodes, key)
            else:
                waiting[kept] = j
                kept += 1
                if mode == STOP:
                    for k in range(i + 1, count):
                        waiting[kept] = waiting[k]
                        kept += 1
                    break
                if mode == EASY and reserved == NEVER:
                    reserved, room, spare = _reserve(
                        problem, left, watts, ends, unit_node, j, order.sign
                    )
            i += 1
        count = kept
    return start, unit_node, passes
