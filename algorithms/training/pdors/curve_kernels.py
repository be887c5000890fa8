"""The optimal value of the slot programs of a job along their demand: the compiled loop over slots.

See `algorithms.training.pdors.slot_simplex` for the method.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.compiled import compiled
from algorithms.training.pdors.polygons import corners
from algorithms.training.pdors.slot_optima import trim, write
from algorithms.training.pdors.slot_simplex import (
    GAVE_UP,
    OPTIMAL,
    PS_SURPLUS,
    WORKER_SURPLUS,
    advance,
)

__all__ = ["follow_slots"]

TOP = 550.0  # ln of the dearest price after scaling
MOST_SPREAD = 1200.0  # ln of the widest price range that numbers hold


@compiled
def follow_slots(  # type: ignore[no-untyped-def]
    alpha, beta, free, count, most_workers, most_ps, log_worker, log_ps, first, demand, track
):
    """Follow the optimal value of every slot of a job through the demands that are asked for.

    Parameters
    ----------
    alpha, beta : arrays, shape (resources,)
        What a worker and a PS need.
    free : array, shape (groups, resources)
        Free capacity of one machine of each group; the groups of all slots, one slot after the
        other.
    count : array of float, shape (groups,)
        Machines of each group.
    most_workers, most_ps : arrays of float, shape (groups,)
        Bounds per machine; 0 where not one unit fits.
    log_worker, log_ps : arrays, shape (groups,)
        ln of the prices of a worker and of a PS.
    first : array of int, shape (slots + 1,)
        First group of each slot.
    demand : array, shape (demands, 2)
        Workers and PSs that are asked for, neither falling.
    track : array, shape (points, 4)
        Where the corners of the curves are written: workers, PSs, and the scaled multipliers of
        the two rows up to there. Of length 0 if they are not wanted.

    Returns
    -------
    status : array of int, shape (slots, demands)
        1 optimal, 0 infeasible, -1 gave up.
    log_cost : array, shape (slots, demands)
        ln of the least cost; inf if there is none.
    start : array of int, shape (slots, demands, 2)
        First row of `entries`, and the row after the last.
    entries : array, shape (rows, 4)
        Group, number of its machines, workers and PSs on each of these.
    pivots, tracked : int
        Pivots made, and points of the curves (also those for which `track` had no room).
    """
    slots, demands = len(first) - 1, len(demand)
    status = np.zeros((slots, demands), dtype=np.int64)
    log_cost = np.full((slots, demands), np.inf)
    start = np.zeros((slots, demands, 2), dtype=np.int64)
    entries = np.empty((1024, 4))
    filled, tracked = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    pivots = 0
    largest = 0
    for k in range(slots):
        largest = max(largest, first[k + 1] - first[k])
    room = len(alpha) + 5
    vw, vs = np.empty((largest, room)), np.empty((largest, room))
    corner_count = np.empty(largest, dtype=np.int64)
    pw, ps = np.empty(largest), np.empty(largest)
    key = np.empty(largest, dtype=np.int64)
    used = np.empty(largest + 2, dtype=np.int64)  # how many keys are not the origin, and of whom
    for k in range(slots):
        base, size = first[k], first[k + 1] - first[k]
        top, bottom = -np.inf, np.inf
        for g in range(size):
            corner_count[g] = corners(
                alpha, beta, free[base + g], most_workers[base + g], most_ps[base + g], vw[g], vs[g]
            )
            key[g] = 0
            for is_open, price in (
                (most_workers[base + g] > 0, log_worker[base + g]),
                (most_ps[base + g] > 0, log_ps[base + g]),
            ):
                if is_open and price > -np.inf:
                    top, bottom = max(top, price), min(bottom, price)
        shift = top - TOP if top > -np.inf else 0.0
        if top - bottom > MOST_SPREAD:
            status[k] = GAVE_UP
            continue
        for g in range(size):  # the price of what is closed does not matter
            pw[g] = math.exp(min(log_worker[base + g] - shift, TOP))
            ps[g] = math.exp(min(log_ps[base + g] - shift, TOP))
        counts = count[base : base + size]
        now = np.zeros(2)
        used[0] = 0
        group = np.array([WORKER_SURPLUS, PS_SURPLUS])
        corner = np.zeros(2, dtype=np.int64)
        for q in range(demands):
            found, made = advance(
                now,
                demand[q],
                counts,
                vw[:size],
                vs[:size],
                corner_count[:size],
                pw[:size],
                ps[:size],
                key[:size],
                used,
                group,
                corner,
                track,
                tracked,
            )
            pivots += made
            status[k, q] = found
            start[k, q] = filled[0]
            if found != OPTIMAL:
                status[k, q:] = found
                break
            before = filled[0]
            entries = write(
                entries,
                filled,
                base,
                now,
                counts,
                vw[:size],
                vs[:size],
                key[:size],
                used,
                group,
                corner,
            )
            for column in range(2):
                if group[column] < 0:
                    row = 2 if group[column] == WORKER_SURPLUS else 3
                    total = 0.0
                    for e in range(before, filled[0]):
                        total += entries[e, 1] * entries[e, row]
                    entries = trim(entries, before, filled, total - demand[q, row - 2], row)
            start[k, q, 1] = filled[0]
            cost = 0.0
            for e in range(before, filled[0]):
                g = int(entries[e, 0]) - base
                cost += entries[e, 1] * (pw[g] * entries[e, 2] + ps[g] * entries[e, 3])
            log_cost[k, q] = math.log(cost) + shift if cost > 0 else -np.inf
    return status, log_cost, start, entries[: filled[0]], pivots, tracked[0]
