"""The compiled parts of the baselines: what a slot's arrived ports get."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled

__all__ = ["fair_shares", "serve"]

Reals = NDArray[np.float64]


@compiled
def fair_shares(
    arrived: Any, port: Any, first: Any, cap: Reals, capacity: Reals, out: Reals
) -> None:
    """y = min(a_l, c a_l / sum of a over arrived ports), for each instance and resource."""
    out[:] = 0.0
    for k in range(len(cap)):
        for r in range(len(first) - 1):
            requested = 0.0
            for e in range(first[r], first[r + 1]):
                if arrived[port[e]]:
                    requested += cap[k, e]
            for e in range(first[r], first[r + 1]):
                if arrived[port[e]] and requested > 0.0:
                    out[k, e] = min(cap[k, e], capacity[k, r] * (cap[k, e] / requested))


@compiled
def serve(
    arrived: Any,
    order: Any,
    own_first: Any,
    own_edges: Any,
    edge_instance: Any,
    cap: Reals,
    capacity: Reals,
    preference: int,
    per_job: bool,
    left: Reals,
    out: Reals,
) -> None:
    """Serve arrived ports in `order`, each at all its instances while capacity lasts.

    `preference` is 1 for the fullest instance first, -1 for the emptiest, 0 for the lowest
    index; an instance is as full as its fullest resource, and ties go by index. `per_job` limits
    a job to a[l,k] over all instances, else it is the limit of every channel. `left` is room.
    """
    out[:] = 0.0
    left[:] = capacity
    resources = len(cap)
    wanted = np.zeros(resources)
    for i in order:
        low, high = own_first[i], own_first[i + 1]
        if not arrived[i] or low == high:
            continue
        mine = own_edges[low:high]
        for k in range(resources):
            wanted[k] = cap[k, mine[0]]
        visits = np.arange(len(mine))
        if preference != 0:
            fullness = np.zeros(len(mine))
            for visit in range(len(mine)):
                r = edge_instance[mine[visit]]
                for k in range(resources):
                    if capacity[k, r] > 0.0:
                        used = (capacity[k, r] - left[k, r]) / capacity[k, r]
                        fullness[visit] = max(fullness[visit], used)
            visits = np.argsort(-preference * fullness, kind="mergesort")
        for place in visits:
            e = mine[place]
            r = edge_instance[e]
            for k in range(resources):
                limit = wanted[k] if per_job else cap[k, e]
                amount = min(limit, left[k, r])
                out[k, e] = amount
                left[k, r] -= amount
                if per_job:
                    wanted[k] -= amount
