"""Optimal bases of slot programs written out as allocations: by rows, and by machines; compiled.

A row is a group, how many of its machines, and the workers and PSs on each of these.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.compiled import compiled
from algorithms.training.pdors.polygons import SAME
from algorithms.training.pdors.slot_simplex import SHORT, weights

__all__ = ["place_on_machines", "trim", "write"]

DROPPED = 2.5e-10  # an amount below is none


@compiled
def _put(entries, filled, group, machines, workers, ps):  # type: ignore[no-untyped-def]
    """Append (group, how many machines, workers on each, PSs on each); returns the table."""
    if workers <= DROPPED:
        workers = 0.0
    if ps <= DROPPED:
        ps = 0.0
    if machines <= 0 or (workers == 0.0 and ps == 0.0):
        return entries
    if filled[0] == len(entries):
        longer = np.empty((2 * len(entries), 4))
        longer[: len(entries)] = entries
        entries = longer
    row = entries[filled[0]]
    row[0], row[1], row[2], row[3] = group, machines, workers, ps
    filled[0] += 1
    return entries


@compiled
def _whole(weight):  # type: ignore[no-untyped-def]
    """Split a weight into whole machines and the part of one."""
    near = np.round(weight)
    if abs(weight - near) <= SAME * (1.0 + near):
        return near, 0.0
    return math.floor(weight), weight - math.floor(weight)


@compiled
def write(  # type: ignore[no-untyped-def]
    entries, filled, first_group, now, count, vw, vs, key, used, group, corner
):
    """Append the optimum at `now`: of a group's machines at most two are not at a corner."""
    _, _, _, _, _, y0, y1 = weights(now, count, vw, vs, key, used, group, corner)
    at_origin = np.sort(np.array([g for g in group if g >= 0 and key[g] == 0]).astype(np.int64))
    for g in np.unique(np.append(used[1 : used[0] + 1], at_origin)):
        k = key[g]
        if g != group[0] and g != group[1]:
            entries = _put(entries, filled, first_group + g, count[g], vw[g, k], vs[g, k])
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
            entries = _put(entries, filled, first_group + g, whole, vw[g, at[j]], vs[g, at[j]])
        order = np.argsort(-rest)
        if rest.sum() > 1.5:  # two machines share three corners: each of them an edge
            last = order[2]
            for j in order[:2]:
                w = rest[j] * vw[g, at[j]] + (1.0 - rest[j]) * vw[g, at[last]]
                s = rest[j] * vs[g, at[j]] + (1.0 - rest[j]) * vs[g, at[last]]
                entries = _put(entries, filled, first_group + g, 1.0, w, s)
        elif rest.sum() > 0.5:
            w, s = 0.0, 0.0
            for j in range(3):
                w += rest[j] * vw[g, at[j]]
                s += rest[j] * vs[g, at[j]]
            entries = _put(entries, filled, first_group + g, 1.0, w, s)
    return entries


@compiled
def trim(entries, start, filled, excess, column):  # type: ignore[no-untyped-def]
    """Take away what is beyond the demand: it is free of charge, or it would not be there."""
    row = filled[0] - 1
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
            entries = _put(entries, filled, group, 1.0, less_w, less_s)
            entries = _put(entries, filled, group, emptied, none_w, none_s)
            excess = 0.0
        row -= 1
    return entries


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
