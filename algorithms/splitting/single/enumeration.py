"""All placements of one job, each with its shortest ways: for tiny instances, and as an oracle."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import dijkstra

from models.files import InputError
from models.splitting import Queues, Route, SplittingInstance, completion_time

__all__ = ["MOST_PLACEMENTS", "all_placements"]

MOST_PLACEMENTS = 1_000_000


def all_placements(
    instance: SplittingInstance, job: int, queues: Queues
) -> list[tuple[float, Route]]:
    """Return the best route of every placement of a job's layers with its completion time, eq. (6).

    Link waiting is charged per traversal, so the best way between two nodes does not depend on
    the rest of the placement.

    Parameters
    ----------
    instance : SplittingInstance
    job : int
    queues : Queues

    Returns
    -------
    list of (seconds, Route)
        Those that exist, in the order of the placements.

    Raises
    ------
    InputError
        If there would be more than `MOST_PLACEMENTS`.
    """
    data, N = instance.jobs[job], instance.number_of_nodes
    layers = data.number_of_layers
    if N**layers > MOST_PLACEMENTS:
        rule = f"has more than {MOST_PLACEMENTS} placements"
        raise InputError(rule, field="jobs", value=data.name)
    ways = [_ways(instance, float(size), queues) for size in data.data]
    found = []
    for nodes in itertools.product(np.flatnonzero(instance.node_rate > 0).tolist(), repeat=layers):
        stops = (int(instance.source[job]), *nodes, int(instance.destination[job]))
        hops: list[tuple[int, int]] = []
        for layer, (u, v) in enumerate(itertools.pairwise(stops)):
            links = ways[layer].get((u, v))
            if links is None:
                break
            hops += [(link, layer) for link in links]
        else:
            route = Route(nodes, tuple(hops))
            found.append((completion_time(instance, job, route, queues), route))
    return found


def _ways(
    instance: SplittingInstance, size: float, queues: Queues
) -> dict[tuple[int, int], list[int]]:
    """Links of the fastest way between every two nodes that one joins, for data of a size."""
    N = instance.number_of_nodes
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for e in np.flatnonzero(instance.link_rate > 0).tolist():
        pair = (int(instance.link_start[e]), int(instance.link_end[e]))
        seconds = float((size + queues.link[e]) / instance.link_rate[e])
        best[pair] = min(best.get(pair, (np.inf, e)), (seconds, e))
    tails, heads = (np.array([pair[k] for pair in best], dtype=np.int64) for k in (0, 1))
    # A stored 0 is a link that takes no time, as scipy reads sparse graphs.
    table = scipy.sparse.csr_array(
        (np.array([seconds for seconds, _ in best.values()]), (tails, heads)), shape=(N, N)
    )
    length, before = dijkstra(table, return_predecessors=True)
    ways = {}
    for u, v in zip(*np.nonzero(np.isfinite(length)), strict=True):
        links: list[int] = []
        at = int(v)
        while at != u:
            links.append(best[int(before[u, at]), at][1])
            at = int(before[u, at])
        ways[int(u), int(v)] = links[::-1]
    return ways
