"""Compiled: pooled schedules from lists of jobs, in the thousands (the set-times engine)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from algorithms.compiled import compiled

__all__ = ["PooledProblem", "best_of"]

NEVER = np.int64(2**62)


class PooledProblem(NamedTuple):
    """What pooled schedules obey; only possible jobs, numbered from 0.

    Attributes
    ----------
    pool : float array, shape (C,)
        Largest use of each pooled resource, and of power.
    demand : float array, shape (J, C)
    submit, duration : int array, shape (J,)
    weight : float array, shape (J,)
    set_room : int array, shape (S,)
        Jobs of each conflict set that may run at the same time.
    first_set, sets : int arrays
        Job j is in the conflict sets sets[first_set[j] : first_set[j + 1]].
    """

    pool: Any
    demand: Any
    submit: Any
    duration: Any
    weight: Any
    set_room: Any
    first_set: Any
    sets: Any


@compiled
def _schedule(
    pool: Any,
    demand: Any,
    submit: Any,
    duration: Any,
    weight: Any,
    set_room: Any,
    first_set: Any,
    sets: Any,
    waiting: Any,
    most: float,
    start: Any,
) -> float:
    """Start jobs at events, the list's first first; give up once the cost exceeds `most`.

    A job that does not fit is postponed to the next event. Whoever waits will start at the next
    event at the earliest, which bounds the cost from below.
    """
    # Arrays one by one: taken out of a tuple in the loop they are counted in and out each time.
    columns, power = pool.shape[0], pool.shape[0] - 1
    free, room = pool.copy(), set_room.copy()
    running, ends, active = np.empty_like(waiting), np.empty_like(waiting), 0
    count, cost, time = len(waiting), 0.0, np.int64(0)
    while count:
        after, kept, bound = NEVER, 0, 0.0
        for k in range(count):
            j = waiting[k]
            if submit[j] > time:
                after = min(after, submit[j])
                fits = False
            else:
                fits = demand[j, power] <= free[power]  # it binds most
                bound += weight[j] * (time - submit[j])
                if fits:
                    for c in range(power):
                        if demand[j, c] > free[c]:
                            fits = False
                            break
                    for s in range(first_set[j], first_set[j + 1]):
                        fits = fits and room[sets[s]] > 0
            if fits:
                for c in range(columns):
                    free[c] -= demand[j, c]
                for s in range(first_set[j], first_set[j + 1]):
                    room[sets[s]] -= 1
                start[j] = time
                running[active], ends[active] = j, time + duration[j]
                active += 1
                cost += weight[j] * (time - submit[j])
                bound -= weight[j] * (time - submit[j])
            else:
                waiting[kept] = j
                kept += 1
        count = kept
        if cost + bound > most:
            return np.inf
        for i in range(active):
            after = min(after, ends[i])
        time, kept = after, 0
        for i in range(active):
            j = running[i]
            if ends[i] > time:
                running[kept], ends[kept] = j, ends[i]
                kept += 1
            else:
                for c in range(columns):
                    free[c] += demand[j, c]
                for s in range(first_set[j], first_set[j + 1]):
                    room[sets[s]] += 1
        active = kept
        if not active:  # no trace of rounding is left
            free[:] = pool
    return cost


@compiled
def best_of(problem: Any, keys: Any, most: float, best: Any) -> Any:
    """Make a schedule per row of keys, whose least comes first, and keep the cheapest.

    Parameters
    ----------
    problem : PooledProblem
    keys : float array, shape (draws, J)
    most : float
        Largest objective [s] of interest.
    best : int array, shape (J,)
        Set to the starts of the cheapest schedule, left alone if none is below `most`.

    Returns
    -------
    cost : float
        Its objective (5.2) [s]; `most` if there is none.
    """
    start = np.empty(len(problem.submit), np.int64)
    pool, demand, submit, duration, weight, set_room, first_set, sets = problem
    for d in range(len(keys)):
        waiting = np.argsort(keys[d])
        cost = _schedule(
            pool,
            demand,
            submit,
            duration,
            weight,
            set_room,
            first_set,
            sets,
            waiting,
            most,
            start,
        )
        if cost < most:
            most = cost
            best[:] = start
    return most
