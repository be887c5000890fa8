"""The most valuable pattern of one machine: a knapsack with several resources and choices.

At most one option of each job, within the machine's capacity, of the largest total value. Depth
first over the jobs, with two kinds of bounds: Lagrange multipliers of the capacities choose an
order and a weighting of the resources; for this weighting, and for each resource alone, a
dynamic program over a grid (costs rounded down) bounds what the jobs to come can add. Ours.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["best_pattern"]

CELLS = 1000  # of the grid
STEPS = 120  # of the subgradient method
PATIENCE = 6  # steps without a better bound before the step is shortened
SHORTER = 0.6
SHORTEST = 1e-2
ROUNDING = 1e-9

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(cache=True)
def best_pattern(
    start: Integers,
    values: Floats,
    use: Floats,
    room: Floats,
    known: float,
    slack: float,
    node_limit: int,
) -> tuple[float, float, Integers]:
    """Find the best pattern, if it is worth more than is known.

    Parameters
    ----------
    start : array of int, shape (groups + 1,)
        Options start[g]..start[g+1]-1 exclude each other.
    values : array, shape (options,)
    use : array, shape (options, resources)
    room : array, shape (resources,)
    known : float
        Only patterns worth more than ``known + slack`` are looked for.
    slack : float
    node_limit : int

    Returns
    -------
    value : float
        Of the pattern found, `known` if there is none.
    bound : float
        No pattern is worth more.
    choice : array of int, shape (groups,)
        Option of each group, -1 for none.
    """
    groups = start.size - 1
    choice = np.full(groups, -1, np.int64)
    kept_start, kept = _undominated(start, values, use)
    if kept.size == 0:
        return max(known, 0.0), max(known, 0.0), choice
    multipliers, relaxed = _multipliers(kept_start, kept, values, use, room, known + slack)
    if relaxed <= known + slack:
        return known, relaxed, choice
    order = _order(kept_start, kept, values, use, multipliers)
    weights = np.zeros((room.size + 1, room.size))
    weights[0] = multipliers
    for r in range(room.size):
        weights[r + 1, r] = 1.0
    if multipliers @ room <= 0.0:
        weights[0] = weights[1]
    table = _table(kept_start, kept, values, use, room, weights, order)
    for k in range(weights.shape[0]):
        relaxed = min(relaxed, table[k, 0, CELLS])
    return _search(
        kept_start,
        kept,
        values,
        use,
        room,
        weights,
        table,
        order,
        known,
        slack,
        node_limit,
        relaxed,
    )


@njit(cache=True)
def _undominated(start: Integers, values: Floats, use: Floats) -> tuple[Integers, Integers]:
    """Options of a positive value than which no other of the group is better and smaller."""
    kept_start = np.zeros_like(start)
    kept = np.empty(values.size, np.int64)
    alive = values > 0.0
    n = 0
    for g in range(start.size - 1):
        for o in range(start[g], start[g + 1]):
            for p in range(start[g], start[g + 1]):
                if not alive[o]:
                    break
                if p != o and alive[p] and values[p] >= values[o] and np.all(use[p] <= use[o]):
                    alive[o] = False
            if alive[o]:
                kept[n] = o
                n += 1
        kept_start[g + 1] = n
    return kept_start, kept[:n]


@njit(cache=True)
def _multipliers(
    start: Integers, kept: Integers, values: Floats, use: Floats, room: Floats, target: float
) -> tuple[Floats, float]:
    """Multipliers of the capacities with a small Lagrange bound, by Polyak's subgradient steps."""
    now = np.zeros(room.size)
    first = np.inf
    for r in range(room.size):  # one resource alone, to begin with
        density = 0.0
        for k in range(kept.size):
            one = use[kept[k], r]
            density = max(density, values[kept[k]] / one if one > 0.0 else np.inf)
        if density * room[r] < first:
            first = density * room[r]
            now[:] = 0.0
            now[r] = density
    best, bound = now.copy(), np.inf
    stalled, factor = 0, 1.0
    direction = np.zeros(room.size)
    for _ in range(STEPS):
        value = float(now @ room)
        direction[:] = -1.0
        for g in range(start.size - 1):
            most, taken = 0.0, -1
            for k in range(start[g], start[g + 1]):
                reduced = values[kept[k]] - now @ use[kept[k]]
                if reduced > most:
                    most, taken = reduced, kept[k]
            if taken >= 0:
                value += most
                direction += use[taken] / room
        if value < bound:
            stalled = stalled + 1 if value > bound * (1 - ROUNDING) else 0
            bound = value
            best[:] = now
        else:
            stalled += 1
        if stalled >= PATIENCE:
            factor *= SHORTER
            stalled = 0
            now[:] = best
            if factor < SHORTEST:
                break
        norm = 0.0
        for r in range(room.size):
            if direction[r] < 0.0 and now[r] <= 0.0:
                direction[r] = 0.0
            norm += direction[r] ** 2
        if bound <= target or norm < 1e-18:
            break
        now = np.maximum(now + factor * (value - target) / norm * direction / room, 0.0)
    return best, bound


@njit(cache=True)
def _order(
    start: Integers, kept: Integers, values: Floats, use: Floats, multipliers: Floats
) -> Integers:
    """Sort options within groups (in place) and groups by reduced value, the best first."""
    largest = np.zeros(start.size - 1)
    for g in range(start.size - 1):
        part = kept[start[g] : start[g + 1]].copy()
        reduced = np.empty(part.size)
        for k in range(part.size):
            reduced[k] = multipliers @ use[part[k]] - values[part[k]]
        order = np.argsort(reduced)
        for k in range(part.size):
            kept[start[g] + k] = part[order[k]]
        if part.size:
            largest[g] = max(0.0, -reduced[order[0]])
    return np.argsort(-largest)


@njit(cache=True)
def _table(
    start: Integers,
    kept: Integers,
    values: Floats,
    use: Floats,
    room: Floats,
    weights: Floats,
    order: Integers,
) -> Floats:
    """Entry (k, d, c): most value of the groups order[d:] in c cells of the k-th weighting."""
    groups = start.size - 1
    table = np.zeros((weights.shape[0], groups + 1, CELLS + 1))
    for k in range(weights.shape[0]):
        per_cell = weights[k] @ room / CELLS
        for d in range(groups - 1, -1, -1):
            table[k, d] = table[k, d + 1]
            for n in range(start[order[d]], start[order[d] + 1]):
                cost = int(np.floor(weights[k] @ use[kept[n]] / per_cell * (1 - ROUNDING)))
                for c in range(cost, CELLS + 1):
                    value = table[k, d + 1, c - cost] + values[kept[n]]
                    if value > table[k, d, c]:
                        table[k, d, c] = value
    return table


@njit(cache=True)
def _search(
    start: Integers,
    kept: Integers,
    values: Floats,
    use: Floats,
    room: Floats,
    weights: Floats,
    table: Floats,
    order: Integers,
    known: float,
    slack: float,
    node_limit: int,
    relaxed: float,
) -> tuple[float, float, Integers]:
    """Depth first over the groups; the tables bound what is still to come."""
    groups, resources = start.size - 1, room.size
    per_cell = np.empty(weights.shape[0])
    for k in range(weights.shape[0]):
        per_cell[k] = weights[k] @ room / CELLS
    best, choice = known, np.full(groups, -1, np.int64)
    taken = np.full(groups, -1, np.int64)
    left = np.empty((groups + 1, resources))
    left[0] = room
    value = np.zeros(groups + 1)
    tried = np.zeros(groups + 1, np.int64)  # options of the group at each depth; the last is none
    depth, nodes = 0, 0
    while depth >= 0:
        if depth == groups:
            if value[groups] > best + slack:
                best = value[groups]
                choice[:] = taken
            depth -= 1
            continue
        g = order[depth]
        if tried[depth] > start[g + 1] - start[g]:
            depth -= 1
            continue
        n = start[g] + tried[depth]
        tried[depth] += 1
        option = kept[n] if n < start[g + 1] else -1
        now = value[depth]
        fitting = True
        for r in range(resources):
            left[depth + 1, r] = left[depth, r]
            if option >= 0:
                left[depth + 1, r] -= use[option, r]
                fitting = fitting and left[depth + 1, r] >= 0.0
        if not fitting:
            continue
        if option >= 0:
            now += values[option]
        nodes += 1
        if nodes > node_limit:
            return best, relaxed, choice
        promising = True
        for k in range(weights.shape[0]):
            amount = 0.0
            for r in range(resources):
                amount += weights[k, r] * left[depth + 1, r]
            cell = min(CELLS, int(np.floor(amount / per_cell[k] * (1 + ROUNDING) + ROUNDING)))
            if now + table[k, depth + 1, cell] <= best + slack:
                promising = False
                break
        if promising:
            taken[g] = option
            value[depth + 1] = now
            depth += 1
            tried[depth] = 0
    return best, min(best + slack, relaxed), choice
