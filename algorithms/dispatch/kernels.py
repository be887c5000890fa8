"""Compiled dispatching: jobs start at events, on nodes in a rule's order (PRB, FCFS, EASY).

The three policies are one loop. At an event ends release, submits are admitted, and one pass over
the waiting jobs starts what fits; the loop differs in the order of jobs and in what may overtake.
Decisions read estimates and predictions; `Reality` only says when running jobs end and what they
draw, so that plans (where it is the same) and simulations are one function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.compiled import compiled
from algorithms.dispatch.placing import add_job, fullness, place, sit, sort_nodes
from algorithms.dispatch.problem import EASY, NEVER, POWER, PRIORITY, RESOURCE, SKIP, STOP
from algorithms.dispatch.reservation import holds, reserve

__all__ = ["dispatch"]


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
        key[n] = fullness(problem, left, n, order.sign)
    sort_nodes(nodes, key)
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
            add_job(problem, left, unit_node, j, 1.0)
            watts -= seen[j]
            for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                key[unit_node[u]] = fullness(problem, left, unit_node[u], order.sign)
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
        sort_nodes(nodes, key)
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
                fits = place(problem, left, nodes, j, unit_node, hopeless, passes)
                if not fits and j == owner:
                    # The order of nodes may miss what is kept for it.
                    add_job(problem, left, seat, j, -1.0)
                    fits = holds(problem, left, seat, j)
                    if fits:
                        sit(problem, unit_node, seat, j)
                    else:
                        add_job(problem, left, seat, j, 1.0)
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
                    sit(problem, unit_node, problem.packed, j)
                    add_job(problem, left, unit_node, j, -1.0)
                    fits = True
                elif fits and outlasts:
                    # The power is enough for both; are the nodes?
                    add_job(problem, room, unit_node, j, -1.0)
                    if holds(problem, room, unit_node, j):
                        spare -= problem.power[j]
                    else:
                        add_job(problem, room, unit_node, j, 1.0)
                        add_job(problem, left, unit_node, j, 1.0)
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
                    key[unit_node[u]] = fullness(problem, left, unit_node[u], order.sign)
                sort_nodes(nodes, key)
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
                        reserved, spare = reserve(
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
