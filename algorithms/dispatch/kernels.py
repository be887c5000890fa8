"""Compiled dispatching: jobs start at events, on nodes in a rule's order (PRB, FCFS, EASY).

The three policies are one loop. At an event ends release, submits are admitted, and one pass over
the waiting jobs starts what fits; the loop differs in the order of jobs and in what may overtake.
Decisions read estimates and predictions; `Reality` only says when running jobs end and what they
draw, so that plans (where it is the same) and simulations are one function.

One file: compiled functions are kept until their own file changes, see `algorithms.compiled`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.compiled import compiled
from algorithms.dispatch.problem import EASY, POWER, PRIORITY, RESOURCE, SKIP, STOP

__all__ = ["NEVER", "dispatch", "place_on_empty"]

NEVER = np.int64(2**62)
GRAIN = 1e-9  # of a node's fullness: what rounding makes of equal nodes stays equal


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
def _insert(ordered: Any, count: int, key: Any, j: int) -> None:
    """Insert j into the first `count`, which ascend by key."""
    k = count - 1
    while k >= 0 and key[ordered[k]] > key[j]:
        ordered[k + 1] = ordered[k]
        k -= 1
    ordered[k + 1] = j


@compiled
def _remove(ordered: Any, count: int, key: Any, j: int) -> None:
    """Remove j from the first `count`, which ascend by key."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if key[ordered[middle]] < key[j]:
            low = middle + 1
        else:
            high = middle
    while ordered[low] != j:
        low += 1
    for k in range(low, count - 1):
        ordered[k] = ordered[k + 1]


@compiled
def _add(problem: Any, left: Any, unit_node: Any, j: int, sign: float) -> None:
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        for r in range(left.shape[1]):
            left[unit_node[u], r] += sign * problem.unit_demand[u, r]


@compiled
def _place(
    problem: Any, left: Any, nodes: Any, j: int, unit_node: Any, hopeless: Any, stamp: int
) -> bool:
    """Put each unit on the first node where it fits; all units or none.

    A class of units that fits nowhere is `hopeless` for as long as the stamp is the same; one
    below zero is none.
    """
    first, last = problem.unit_first[j], problem.unit_first[j + 1]
    if stamp >= 0:
        for u in range(first, last):
            if hopeless[problem.unit_class[u]] == stamp:
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
            if u == first and stamp >= 0:
                hopeless[problem.unit_class[u]] = stamp
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
    none = np.empty(0, np.int64)
    nodes = np.arange(problem.limit.shape[0])
    key = np.empty(len(nodes))
    for n in range(len(nodes)):
        key[n] = _fullness(problem, problem.limit, n, sign)
    _sort_nodes(nodes, key)
    return _place(problem, problem.limit.copy(), nodes, j, unit_node, none, -1)


@compiled
def _sit(problem: Any, unit_node: Any, seat: Any, j: int) -> None:
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        unit_node[u] = seat[u]


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
def _holds(problem: Any, room: Any, unit_node: Any, j: int) -> bool:
    """Whether nothing is below zero on the nodes of job j."""
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        for r in range(room.shape[1]):
            if room[unit_node[u], r] < 0.0:
                return False
    return True


@compiled
def _reserve(
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
                _add(problem, room, seat, head, -1.0)
                if _holds(problem, room, seat, head):
                    return promised, free - problem.power[head]
                _add(problem, room, seat, head, 1.0)
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
                key[n] = _fullness(problem, room, n, sign)
            nodes = np.argsort(key, kind="mergesort")
            if _place(problem, room, nodes, head, fresh, none, -1):
                seat[first:last] = fresh[first:last]
                return when, free - problem.power[head]
        if final:
            seat[first:last] = problem.packed[first:last]
            _add(problem, room, seat, head, -1.0)
            return when, free - problem.power[head]
    return NEVER, free


@compiled
def _blame(waited: Any, reason: Any, since: Any, j: int, why: int, time: int) -> None:
    """From now on job j waits for this reason; until now it waited for the last one."""
    waited[j, reason[j]] += time - since[j]
    reason[j] = why
    since[j] = time


@compiled
def dispatch(
    problem: Any, order: Any, submit: Any, admitted: Any, mode: int, reality: Any, depth: int
) -> Any:
    """Start all jobs of `admitted` (in order of submit, then file) at events.

    Modes other than `SKIP` take the jobs in this order too, whatever `order` says. At most
    `depth` jobs are tried at an event.

    Returns
    -------
    start : int array, shape (J,)
        -1 for jobs not in `admitted`.
    end : int array, shape (J,)
        Real ends, `NEVER` for jobs not in `admitted`.
    unit_node : int array, shape (U,)
    passes, tried : int
        Events at which jobs were tried, and how many in all.
    waited : int array, shape (J, 3)
        Seconds by reason.
    promise : int array, shape (J,)
        The start that was first reserved (`EASY`), `NEVER` if none was.
    """
    number = len(submit)
    start, unit_node = np.full(number, -1, np.int64), np.full(len(problem.packed), -1, np.int64)
    end, plan_end = np.full(number, NEVER, np.int64), np.full(number, NEVER, np.int64)
    waited = np.zeros((number, 3), np.int64)
    reason, since = np.full(number, PRIORITY, np.int64), submit.copy()
    promise = np.full(number, NEVER, np.int64)
    # The running jobs twice: by real end, for events, and by planned end, for reservations.
    running, planned, active = np.empty(number, np.int64), np.empty(number, np.int64), 0
    waiting, first, count = np.empty(number, np.int64), 0, 0
    score = np.empty(number)
    # What each job draws, as far as is known: it is seen after the event at which it starts.
    seen, begun = np.zeros(number), np.empty(number, np.int64)
    left, watts = problem.limit.copy(), 0.0
    nodes = np.arange(left.shape[0])
    key = np.empty(left.shape[0])
    for n in range(len(nodes)):
        key[n] = _fullness(problem, left, n, order.sign)
    _sort_nodes(nodes, key)
    classes = 1 if len(problem.packed) == 0 else problem.unit_class.max() + 1
    hopeless = np.full(classes, -1, np.int64)
    # Of EASY: for whom and when is reserved, and what is left then beside it.
    owner, reserved, room, spare, stale = -1, NEVER, left.copy(), 0.0, True
    seat, fresh = unit_node.copy(), unit_node.copy()
    ahead, passes, tried = 0, 0, 0
    time = np.int64(0)
    while ahead < len(admitted) or first < count:
        next_time = submit[admitted[ahead]] if ahead < len(admitted) else NEVER
        if active:
            next_time = min(next_time, end[running[0]])
        time = max(time, next_time)
        ended = 0
        while ended < active and end[running[ended]] <= time:
            j = running[ended]
            _add(problem, left, unit_node, j, 1.0)
            watts -= seen[j]
            for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                key[unit_node[u]] = _fullness(problem, left, unit_node[u], order.sign)
            if mode == EASY:
                _remove(planned, active - ended, plan_end, j)
            ended += 1
        if ended:
            active -= ended
            for i in range(active):
                running[i] = running[i + ended]
            stale = True
        if active == 0:  # no trace of rounding is left
            left[:] = problem.limit
            watts = 0.0
        while ahead < len(admitted) and submit[admitted[ahead]] <= time:
            waiting[count] = admitted[ahead]
            count += 1
            ahead += 1
        if mode == SKIP:
            for i in range(count):
                j = waiting[i]
                score[j] = (time - submit[j] + 1) / order.pace[j] + order.offset[j]
            _sort_jobs(waiting, count, score, order.tie)
        _sort_nodes(nodes, key)
        passes += 1
        head = -1
        new = 0
        kept = i = first
        while i < count:
            if i - first >= depth:
                if mode == STOP:
                    break
                for k in range(i, count):
                    _blame(waited, reason, since, waiting[k], PRIORITY, time)
                    waiting[kept] = waiting[k]
                    kept += 1
                break
            j = waiting[i]
            tried += 1
            why = POWER
            fits = watts + problem.power[j] <= problem.headroom
            outlasts = head >= 0 and time + problem.duration[j] > reserved
            if fits and outlasts and problem.power[j] > spare:
                # Looked at before the nodes, which take longer.
                why, fits = PRIORITY, False
            if fits:
                why = RESOURCE
                fits = _place(problem, left, nodes, j, unit_node, hopeless, passes)
                if not fits and j == owner:
                    # The order of nodes may miss what is kept for it.
                    _add(problem, left, seat, j, -1.0)
                    fits = _holds(problem, left, seat, j)
                    if fits:
                        _sit(problem, unit_node, seat, j)
                    else:
                        _add(problem, left, seat, j, 1.0)
                alone = active == 0 and (
                    mode != SKIP
                    or (ahead == len(admitted) and (i + 1 == count or i + 1 - first == depth))
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
                    _sit(problem, unit_node, problem.packed, j)
                    _add(problem, left, unit_node, j, -1.0)
                    fits = True
                elif fits and outlasts:
                    # The power is enough for both; are the nodes?
                    _add(problem, room, unit_node, j, -1.0)
                    if _holds(problem, room, unit_node, j):
                        spare -= problem.power[j]
                    else:
                        _add(problem, room, unit_node, j, 1.0)
                        _add(problem, left, unit_node, j, 1.0)
                        why, fits = PRIORITY, False
            if fits:
                waited[j, reason[j]] += time - since[j]
                start[j] = time
                end[j] = time + reality.duration[j]
                _insert(running, active, end, j)
                if mode == EASY:
                    plan_end[j] = time + problem.duration[j]
                    _insert(planned, active, plan_end, j)
                active += 1
                seen[j] = problem.power[j]
                watts += seen[j]
                begun[new] = j
                new += 1
                for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                    key[unit_node[u]] = _fullness(problem, left, unit_node[u], order.sign)
                _sort_nodes(nodes, key)
            else:
                _blame(waited, reason, since, j, why, time)
                if mode == STOP:
                    break
                waiting[kept] = j
                kept += 1
                if mode == EASY and head < 0:
                    head = j
                    if head != owner:
                        owner, reserved, stale = head, NEVER, True
                    if stale or reserved <= time:
                        room[:] = left
                        reserved, spare = _reserve(
                            problem,
                            seen,
                            room,
                            problem.headroom - watts,
                            planned[:active],
                            plan_end,
                            unit_node,
                            seat,
                            fresh,
                            head,
                            time,
                            reserved,
                            order.sign,
                        )
                        stale = False
                        promise[head] = min(promise[head], reserved)
            i += 1
        if mode != STOP:
            count = kept
        elif i < count:  # all before it have started
            first = i
        else:
            first = count = 0
        # From now on what the jobs that have just started really draw is seen.
        for i in range(new):
            j = begun[i]
            if reality.power[j] != seen[j]:
                watts += reality.power[j] - seen[j]
                seen[j] = reality.power[j]
                stale = True
    return start, end, unit_node, passes, tried, waited, promise
