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

import numpy as np

from algorithms.compiled import compiled

__all__ = ["GAVE_UP", "INFEASIBLE", "OPTIMAL", "PS_SURPLUS", "SHORT", "WORKER_SURPLUS"]
__all__ += ["advance", "weights"]

OPTIMAL, INFEASIBLE, GAVE_UP = 1, 0, -1
WORKER_SURPLUS, PS_SURPLUS = -1, -2

SHORT = 1e-10  # a demand missed by less is met
PIVOT = 1e-11  # least pivot, relative to the terms it is the sum of
RATE = 1e-13
MARGIN = 1e-9  # by which a ratio must be beaten for its group to be passed over
STALLED = 40  # pivots without progress, after which ties are broken by index


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
def weights(now, count, vw, vs, key, used, group, corner):  # type: ignore[no-untyped-def]
    """Return the working columns, their determinant and the weights of the two extras.

    `used` lists the groups whose key is not the origin, behind their number, in rising order.
    """
    a, b = _column(group[0], corner[0], key, vw, vs)
    c, d = _column(group[1], corner[1], key, vw, vs)
    rest_w, rest_s = now[0], now[1]
    for n in range(1, used[0] + 1):
        g = used[n]
        k = key[g]
        rest_w -= count[g] * vw[g, k]
        rest_s -= count[g] * vs[g, k]
    det = a * d - c * b
    return a, b, c, d, det, (rest_w * d - rest_s * c) / det, (a * rest_s - b * rest_w) / det


@compiled
def _note_key(g, is_used, used):  # type: ignore[no-untyped-def]
    """Put group g into the list of those whose key is not the origin, or take it out."""
    n = used[0]
    while n > 0 and used[n] > g:
        n -= 1
    there = n > 0 and used[n] == g
    if is_used and not there:
        used[n + 2 : used[0] + 2] = used[n + 1 : used[0] + 1].copy()
        used[n + 1] = g
        used[0] += 1
    elif there and not is_used:
        used[n : used[0]] = used[n + 1 : used[0] + 1].copy()
        used[0] -= 1


@compiled
def advance(  # type: ignore[no-untyped-def]
    now, target, count, vw, vs, corner_count, pw, ps, key, used, group, corner, track, tracked
):
    """Move the demand from `now` towards `target`; returns (status, pivots).

    `now`, `key`, `used`, `group` and `corner` change. Rows of `track` are written from
    `tracked[0]` on: the demand, the cost and the two multipliers wherever the basis changed.
    """
    limit = 1000 + 50 * corner_count.sum()
    stalled = 0
    for pivots in range(limit):
        a, b, c, d, det, y0, y1 = weights(now, count, vw, vs, key, used, group, corner)
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
            _note_key(g, key[g] != 0, used)
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
        worker_size, ps_size = max(-row_w, 0.0) * (1 + MARGIN), max(-row_s, 0.0) * (1 + MARGIN)
        for g in range(len(count)):
            k = key[g]
            key_w, key_s = vw[g, k], vs[g, k]
            over_w, over_s = pw[g] - to_worker, ps[g] - to_ps
            # No mixture of a worker and a PS can have a lower ratio than the lower of theirs.
            if k == 0 and over_w > best_ratio * worker_size and over_s > best_ratio * ps_size:
                continue
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
