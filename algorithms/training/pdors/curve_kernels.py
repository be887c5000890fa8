"""The optimal value of a slot program along its demand, by parametric simplex; compiled.

A slot program (`models.training.slot_program`) has two coupling rows, workers and PSs, and what
one machine can hold is a small polygon that contains the origin and, with a point, all smaller
ones. So write the program over the corners of the polygons: machine g is a mixture of its corners
v with weights x_gv that add up to one (or to their number, for equal machines taken together),

    min sum c_gv x_gv,  sum w_gv x_gv = D,  sum s_gv x_gv = S,  sum_v x_gv = n_g,  x >= 0.

A basis has one *key* corner per group and two more columns, the *extras*, so a pivot is the
solution of a 2 x 2 system and one pass over the corners (generalized upper bounds, Dantzig and
Van Slyke 1967). From D = S = 0, where every key is the origin, the demand moves along straight
lines to the points that are asked for; whenever a basic weight reaches zero it leaves, and the
ratio test of the dual simplex says what enters. All bases on the way are optimal, so the points
where they change are the corners of the optimal-value curve.

Prices may lie e^1000 apart. Nothing here has an absolute tolerance on costs: reduced costs are
differences of prices of the same kind, and noise in them is relative to the dearest price that
the optimum already pays.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.compiled import compiled

__all__ = ["corners", "follow_slots", "place_on_machines"]

OPTIMAL, INFEASIBLE, GAVE_UP = 1, 0, -1
WORKER_SURPLUS, PS_SURPLUS = -1, -2

SHORT = 1e-10  # a demand missed by less is met
DROPPED = 2.5e-10  # an amount below is none
SAME = 1e-12  # corners, or weights, closer than this are one
PIVOT = 1e-11  # least pivot, relative to the terms it is the sum of
RATE = 1e-13
TOP = 550.0  # ln of the dearest price after scaling
MOST_SPREAD = 1200.0  # ln of the widest price range that numbers hold
STALLED = 40  # pivots without progress, after which ties are broken by index


@compiled
def corners(alpha, beta, free, most_workers, most_ps, out_workers, out_ps):  # type: ignore[no-untyped-def]
    """Write the corners of one machine's polygon; returns how many.

    The first is the origin. At most resources + 5 are written.
    """
    widest, tallest = most_workers, most_ps
    for r in range(len(alpha)):
        room = max(free[r], 0.0)
        if alpha[r] > 0:
            widest = min(widest, room / alpha[r])
        if beta[r] > 0:
            tallest = min(tallest, room / beta[r])
    out_workers[0], out_ps[0] = 0.0, 0.0
    n = 1
    if widest > 0:
        out_workers[n], out_ps[n] = widest, 0.0
        n += 1
    if tallest > 0:
        out_workers[n], out_ps[n] = 0.0, tallest
        n += 1
    if widest <= 0 or tallest <= 0:
        return n
    # Walk along the upper right boundary, from line to ever steeper line.
    w, last_s, height, slope = 0.0, tallest, tallest, 0.0
    while True:
        best, best_w, best_height, best_slope = -1, widest, 0.0, 0.0
        for r in range(len(alpha)):
            if alpha[r] <= 0 or beta[r] <= 0:
                continue
            line_height, line_slope = max(free[r], 0.0) / beta[r], alpha[r] / beta[r]
            # A line that does not cut the box is none (also where it is not a number).
            if not (line_height - line_slope * widest < tallest) or line_slope <= slope:
                continue
            meets = max((line_height - height) / (line_slope - slope), w)
            if meets < best_w or (meets == best_w and best >= 0 and line_slope > best_slope):
                best, best_w, best_height, best_slope = r, meets, line_height, line_slope
        if best < 0:
            break
        s = max(height - slope * best_w, 0.0)
        if best_w - w > SAME * (1.0 + w) or last_s - s > SAME * (1.0 + s):
            out_workers[n], out_ps[n] = best_w, s
            n += 1
            w, last_s = best_w, s
        height, slope = best_height, best_slope
    s = max(height - slope * widest, 0.0)
    if s > SAME and (widest - w > SAME * (1.0 + w) or last_s - s > SAME * (1.0 + s)):
        out_workers[n], out_ps[n] = widest, s
        n += 1
    return n


@compiled
def _column(group, corner, key, vw, vs):  # type: ignore[no-untyped-def]
    """Return what an extra adds to the two coupling rows, beyond its group's key corner."""
    if group == WORKER_SURPLUS:
        return -1.0, 0.0
    if group == PS_SURPLUS:
        return 0.0, -1.0
    k = key[group]
    return vw[group, corner] - vw[group, k], vs[group, corner] - vs[group, k]


@compiled
def _price(group, a, b, pw, ps):  # type: ignore[no-untyped-def]
    return 0.0 if group < 0 else pw[group] * a + ps[group] * b


@compiled
def _weights(now, count, vw, vs, key, group, corner):  # type: ignore[no-untyped-def]
    """Return the working columns, their determinant and the weights of the two extras."""
    a, b = _column(group[0], corner[0], key, vw, vs)
    c, d = _column(group[1], corner[1], key, vw, vs)
    rest_w, rest_s = now[0], now[1]
    for g in range(len(count)):
        k = key[g]
        rest_w -= count[g] * vw[g, k]
        rest_s -= count[g] * vs[g, k]
    det = a * d - c * b
    return a, b, c, d, det, (rest_w * d - rest_s * c) / det, (a * rest_s - b * rest_w) / det


@compiled
def _advance(now, target, count, vw, vs, corner_count, pw, ps, key, group, corner, track, tracked):  # type: ignore[no-untyped-def]
    """Move the demand from `now` towards `target`; returns (status, pivots).

    `now`, `key`, `group` and `corner` change. Rows of `track` are written from `tracked[0]` on:
    the demand, the cost and the two multipliers wherever the basis changed.
    """
    limit = 1000 + 50 * corner_count.sum()
    stalled = 0
    for pivots in range(limit):
        a, b, c, d, det, y0, y1 = _weights(now, count, vw, vs, key, group, corner)
        cost0, cost1 = _price(group[0], a, b, pw, ps), _price(group[1], c, d, pw, ps)
        to_w, to_s = target[0] - now[0], target[1] - now[1]
        if max(to_w, to_s) <= SHORT:
            return OPTIMAL, pivots
        rate0, rate1 = (to_w * d - to_s * c) / det, (a * to_s - b * to_w) / det
        if abs(rate0) <= RATE * (abs(to_w * d) + abs(to_s * c)) / abs(det):
            rate0 = 0.0
        if abs(rate1) <= RATE * (abs(a * to_s) + abs(b * to_w)) / abs(det):
            rate1 = 0.0

        # What reaches zero first: an extra (0, 1) or the key of an extra's group (2, 3).
        step, leaving, fastest = 1.0, -1, 0.0
        for what in range(4):
            if what < 2:
                value, rate = (y0, rate0) if what == 0 else (y1, rate1)
            else:
                g = group[what - 2]
                if g < 0 or (what == 3 and g == group[0]):
                    continue
                value, rate = count[g], 0.0
                if group[0] == g:
                    value, rate = value - y0, rate - rate0
                if group[1] == g:
                    value, rate = value - y1, rate - rate1
            if rate < 0:
                reached = max(value, 0.0) / -rate
                if reached < step or (reached == step and leaving >= 0 and -rate > fastest):
                    step, leaving, fastest = reached, what, -rate
        if leaving < 0 or (1.0 - step) * max(to_w, to_s) <= SHORT:
            now[0], now[1] = (
                (target[0], target[1])
                if leaving < 0
                else (now[0] + step * to_w, now[1] + step * to_s)
            )
            return OPTIMAL, pivots
        stalled = stalled + 1 if step <= 0 else 0
        now[0] += step * to_w
        now[1] += step * to_s

        if leaving >= 2:  # first let another corner of the group be its key
            g = group[leaving - 2]
            old = key[g]
            leaving -= 2
            key[g], corner[leaving] = corner[leaving], old
            a, b = _column(group[0], corner[0], key, vw, vs)
            c, d = _column(group[1], corner[1], key, vw, vs)
            det = a * d - c * b
            cost0, cost1 = _price(group[0], a, b, pw, ps), _price(group[1], c, d, pw, ps)
        to_worker, to_ps = (cost0 * d - cost1 * b) / det, (a * cost1 - c * cost0) / det
        if len(track) > 0 and step > 0:
            if tracked[0] < len(track):
                track[tracked[0], 0], track[tracked[0], 1] = now[0], now[1]
                track[tracked[0], 2], track[tracked[0], 3] = to_worker, to_ps
            tracked[0] += 1
        if leaving == 0:
            row_w, row_s = d / det, -c / det
        else:
            row_w, row_s = -b / det, a / det

        best, best_corner, best_ratio, best_size = -1, -1, np.inf, 0.0
        for g in range(len(count)):
            k = key[g]
            key_w, key_s = vw[g, k], vs[g, k]
            over_w, over_s = pw[g] - to_worker, ps[g] - to_ps
            for v in range(corner_count[g]):
                more_w, more_s = row_w * (vw[g, v] - key_w), row_s * (vs[g, v] - key_s)
                size = -(more_w + more_s)
                if size <= PIVOT * (abs(more_w) + abs(more_s)):
                    continue
                ratio = over_w * (vw[g, v] - key_w) + over_s * (vs[g, v] - key_s)
                ratio = max(ratio, 0.0) / size
                if ratio < best_ratio or (
                    ratio == best_ratio and size > best_size and stalled < STALLED
                ):
                    best, best_corner, best_ratio, best_size = g, v, ratio, size
        if best < 0:
            return INFEASIBLE, pivots
        group[leaving], corner[leaving] = best, best_corner
    return GAVE_UP, limit


@compiled
def _put(entries, used, group, machines, workers, ps):  # type: ignore[no-untyped-def]
    """Append (group, how many machines, workers on each, PSs on each); returns the table."""
    if workers <= DROPPED:
        workers = 0.0
    if ps <= DROPPED:
        ps = 0.0
    if machines <= 0 or (workers == 0.0 and ps == 0.0):
        return entries
    if used[0] == len(entries):
        longer = np.empty((2 * len(entries), 4))
        longer[: len(entries)] = entries
        entries = longer
    row = entries[used[0]]
    row[0], row[1], row[2], row[3] = group, machines, workers, ps
    used[0] += 1
    return entries


@compiled
def _whole(weight):  # type: ignore[no-untyped-def]
    """Split a weight into whole machines and the part of one."""
    near = np.round(weight)
    if abs(weight - near) <= SAME * (1.0 + near):
        return near, 0.0
    return math.floor(weight), weight - math.floor(weight)


@compiled
def _write(entries, used, first_group, now, count, vw, vs, key, group, corner):  # type: ignore[no-untyped-def]
    """Append the optimum at `now`: of a group's machines at most two are not at a corner."""
    _, _, _, _, _, y0, y1 = _weights(now, count, vw, vs, key, group, corner)
    for g in range(len(count)):
        k = key[g]
        if g != group[0] and g != group[1]:
            entries = _put(entries, used, first_group + g, count[g], vw[g, k], vs[g, k])
            continue
        at = np.array([k, corner[0], corner[1]])
        weight = np.zeros(3)
        weight[1] = max(y0, 0.0) if g == group[0] else 0.0
        weight[2] = max(y1, 0.0) if g == group[1] else 0.0
        weight[0] = max(count[g] - weight[1] - weight[2], 0.0)
        if g != group[0]:
            at[1] = k
        if g != group[1]:
            at[2] = k
        rest = np.zeros(3)
        for j in range(3):
            whole, rest[j] = _whole(weight[j])
            entries = _put(entries, used, first_group + g, whole, vw[g, at[j]], vs[g, at[j]])
        order = np.argsort(-rest)
        if rest.sum() > 1.5:  # two machines share three corners: each of them an edge
            last = order[2]
            for j in order[:2]:
                w = rest[j] * vw[g, at[j]] + (1.0 - rest[j]) * vw[g, at[last]]
                s = rest[j] * vs[g, at[j]] + (1.0 - rest[j]) * vs[g, at[last]]
                entries = _put(entries, used, first_group + g, 1.0, w, s)
        elif rest.sum() > 0.5:
            w, s = 0.0, 0.0
            for j in range(3):
                w += rest[j] * vw[g, at[j]]
                s += rest[j] * vs[g, at[j]]
            entries = _put(entries, used, first_group + g, 1.0, w, s)
    return entries


@compiled
def _trim(entries, start, used, excess, column):  # type: ignore[no-untyped-def]
    """Take away what is beyond the demand: it is free of charge, or it would not be there."""
    row = used[0] - 1
    while row >= start and excess > SHORT:
        machines, each = entries[row, 1], entries[row, column]
        if each > 0 and machines * each <= excess:
            entries[row, column] = 0.0
            excess -= machines * each
        elif each > 0:
            emptied = math.floor(excess / each)
            part = excess - emptied * each
            group, w, s = entries[row, 0], entries[row, 2], entries[row, 3]
            entries[row, 1] = machines - emptied - 1
            less_w, less_s = (w - part, s) if column == 2 else (w, s - part)
            none_w, none_s = (0.0, s) if column == 2 else (w, 0.0)
            entries = _put(entries, used, group, 1.0, less_w, less_s)
            entries = _put(entries, used, group, emptied, none_w, none_s)
            excess = 0.0
        row -= 1
    return entries


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
    used, tracked = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    pivots = 0
    largest = 0
    for k in range(slots):
        largest = max(largest, first[k + 1] - first[k])
    room = len(alpha) + 5
    vw, vs = np.empty((largest, room)), np.empty((largest, room))
    corner_count = np.empty(largest, dtype=np.int64)
    pw, ps = np.empty(largest), np.empty(largest)
    key = np.empty(largest, dtype=np.int64)
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
        group = np.array([WORKER_SURPLUS, PS_SURPLUS])
        corner = np.zeros(2, dtype=np.int64)
        for q in range(demands):
            found, made = _advance(
                now,
                demand[q],
                counts,
                vw[:size],
                vs[:size],
                corner_count[:size],
                pw[:size],
                ps[:size],
                key[:size],
                group,
                corner,
                track,
                tracked,
            )
            pivots += made
            status[k, q] = found
            start[k, q] = used[0]
            if found != OPTIMAL:
                status[k, q:] = found
                break
            before = used[0]
            entries = _write(
                entries, used, base, now, counts, vw[:size], vs[:size], key[:size], group, corner
            )
            for column in range(2):
                if group[column] < 0:
                    row = 2 if group[column] == WORKER_SURPLUS else 3
                    total = 0.0
                    for e in range(before, used[0]):
                        total += entries[e, 1] * entries[e, row]
                    entries = _trim(entries, before, used, total - demand[q, row - 2], row)
            start[k, q, 1] = used[0]
            cost = 0.0
            for e in range(before, used[0]):
                g = int(entries[e, 0]) - base
                cost += entries[e, 1] * (pw[g] * entries[e, 2] + ps[g] * entries[e, 3])
            log_cost[k, q] = math.log(cost) + shift if cost > 0 else -np.inf
    return status, log_cost, start, entries[: used[0]], pivots, tracked[0]


@compiled
def place_on_machines(entries, rows, first_group, members, begin):  # type: ignore[no-untyped-def]
    """Write optima out machine by machine; of machines that are alike, the first get the most.

    Parameters
    ----------
    entries : array, shape (rows, 4)
        As `follow_slots` returns them.
    rows : array of int, shape (optima, 2)
        First row of each optimum, and the row after the last.
    first_group : int
    members : array of int, shape (machines,)
        Machines of the slot by group.
    begin : array of int, shape (groups + 1,)
        Where each group begins there.

    Returns
    -------
    start : array of int, shape (optima + 1,)
    machine, group : arrays of int, shape (used,)
        Machines rise within an optimum.
    workers, ps : arrays, shape (used,)
    """
    start = np.zeros(len(rows) + 1, dtype=np.int64)
    for n in range(len(rows)):
        start[n + 1] = start[n]
        for e in range(rows[n, 0], rows[n, 1]):
            start[n + 1] += int(entries[e, 1])
    machine, group = np.empty(start[-1], dtype=np.int64), np.empty(start[-1], dtype=np.int64)
    workers, ps = np.empty(start[-1]), np.empty(start[-1])
    taken = np.zeros(len(begin), dtype=np.int64)  # machines of each group that have got theirs
    for n in range(len(rows)):
        at = start[n]
        for e in range(rows[n, 0], rows[n, 1]):
            g = int(entries[e, 0]) - first_group
            for _ in range(int(entries[e, 1])):  # none where a surplus was trimmed
                machine[at], group[at] = members[begin[g] + taken[g]], g
                workers[at], ps[at] = entries[e, 2], entries[e, 3]
                at += 1
                taken[g] += 1
        for e in range(rows[n, 0], rows[n, 1]):
            taken[int(entries[e, 0]) - first_group] = 0
        own = slice(start[n], start[n + 1])
        order = np.argsort(machine[own])
        machine[own], group[own] = machine[own][order], group[own][order]
        workers[own], ps[own] = workers[own][order], ps[own][order]
    return start, machine, group, workers, ps
