"""Exact search for an assignment of units to nodes: several resources, one node per unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.dispatch.arrays import with_slack

__all__ = ["pack_units"]

MOST_STEPS = 20_000
"""Steps of the search in Python before CP-SAT takes over; few jobs need more than a hundred."""

Floats = NDArray[np.float64]


def pack_units(demand: Floats, free: Floats) -> list[int] | None:
    """Find a node for each unit such that all fit together, or prove that there is none.

    Parameters
    ----------
    demand : float array, shape (units, R)
    free : float array, shape (N, R)
        What the nodes have left, without slack.

    Returns
    -------
    list of int or None
        Node of each unit; None is a proof.
    """
    limit = with_slack(free)
    if (demand > limit.max(axis=0, initial=0.0)).any():
        return None
    if (demand.sum(axis=0) > limit.sum(axis=0) * (1 + 1e-12)).any():
        return None
    # Large units first: a unit's size is its largest share of what some node has.
    room = np.maximum(free.max(axis=0, initial=0.0), 1e-300)
    size = (demand / room).max(axis=1, initial=0.0)
    order = sorted(range(len(demand)), key=lambda u: (-size[u], tuple(demand[u]), u))
    found = _best_fit(demand, limit, order)
    if found is None:
        found, finished = _search(demand, limit, order)
        if not finished:
            found = _pack_by_cp_sat(demand, free)
    return found


def _best_fit(demand: Floats, limit: Floats, order: Sequence[int]) -> list[int] | None:
    """Place each unit where least is left over; often that is all it takes."""
    left = limit.copy()
    room = np.maximum(limit.max(axis=0, initial=0.0), 1e-300)
    placed = [-1] * len(demand)
    for u in order:
        fits = (demand[u] <= left).all(axis=1)
        if not fits.any():
            return None
        n = int(np.argmin(np.where(fits, (left / room).sum(axis=1), np.inf)))
        left[n] -= demand[u]
        placed[u] = n
    return placed


def _search(demand: Floats, limit: Floats, order: Sequence[int]) -> tuple[list[int] | None, bool]:
    """Search in depth; the second value is False if it was given up.

    Of nodes with equal room only the first is tried, and equal units go to nodes in ascending
    order: both leave out mirror images only.
    """
    left = limit.copy()
    placed = [-1] * len(demand)
    candidates = [_choices(demand, left, placed, order, 0)]
    steps = 0
    while candidates:
        depth = len(candidates) - 1
        u = order[depth]
        if placed[u] >= 0:
            left[placed[u]] += demand[u]
            placed[u] = -1
        if not candidates[depth]:
            candidates.pop()
            continue
        steps += 1
        if steps > MOST_STEPS:
            return None, False
        n = candidates[depth].pop(0)
        left[n] -= demand[u]
        placed[u] = n
        if depth + 1 == len(demand):
            return placed, True
        candidates.append(_choices(demand, left, placed, order, depth + 1))
    return None, True


def _choices(
    demand: Floats, left: Floats, placed: list[int], order: Sequence[int], depth: int
) -> list[int]:
    u = order[depth]
    first = 0
    if depth and (demand[order[depth - 1]] == demand[u]).all():
        first = placed[order[depth - 1]]
    seen: dict[bytes, int] = {}
    # Sums of the same units in another order may differ in the last digits.
    rounded = np.round(left, 9)
    for n in range(first, len(left)):
        if (demand[u] <= left[n] + 1e-12).all():
            seen.setdefault(rounded[n].tobytes(), n)
    return list(seen.values())


def _pack_by_cp_sat(demand: Floats, free: Floats) -> list[int] | None:
    """The same question for CP-SAT, for units that are many and all different."""
    from ortools.sat.python import cp_model

    from models.dispatch.scaling import scale_down, scale_up

    model = cp_model.CpModel()
    nodes, units = range(len(free)), range(len(demand))
    on = {(u, n): model.new_bool_var(f"on_{u}_{n}") for u in units for n in nodes}
    for u in units:
        model.add_exactly_one(on[u, n] for n in nodes)
    for r in range(free.shape[1]):
        demands, scale = scale_up(demand[:, r])
        for n in nodes:
            room = scale_down(float(with_slack(free[n, r])), scale)
            model.add(sum(demands[u] * on[u, n] for u in units) <= room)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise RuntimeError(f"CP-SAT answers {solver.status_name(status)} to a packing question")
    return [next(n for n in nodes if solver.boolean_value(on[u, n])) for u in units]
