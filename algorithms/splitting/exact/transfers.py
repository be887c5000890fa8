"""Shortest paths of links between all nodes, for data that waits nowhere."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.splitting import Route, SplittingInstance

__all__ = ["Transfers", "transfers"]


@dataclass(frozen=True)
class Transfers:
    """The fastest way from every node to every other.

    Attributes
    ----------
    seconds_per_byte : array, shape (nodes, nodes)
        0 on the diagonal, inf where no usable links lead.
    previous : array of int, shape (nodes, nodes)
        The last link on the way from the row's node to the column's, -1 for none.
    link_start : array of int, shape (links,)
    """

    seconds_per_byte: NDArray[np.float64]
    previous: NDArray[np.int64]
    link_start: NDArray[np.int64]

    def links(self, start: int, end: int) -> list[int]:
        """Links from a node to another, in order."""
        found = []
        while end != start:
            link = int(self.previous[start, end])
            found.append(link)
            end = int(self.link_start[link])
        return found[::-1]

    def route(self, instance: SplittingInstance, job: int, nodes: tuple[int, ...]) -> Route:
        """The route of least service time that computes a job's layers at given nodes."""
        stops = [int(instance.source[job]), *nodes, int(instance.destination[job])]
        hops = [
            (link, layer)
            for layer, (start, end) in enumerate(itertools.pairwise(stops))
            for link in self.links(start, end)
        ]
        return Route(tuple(int(u) for u in nodes), tuple(hops))


def transfers(instance: SplittingInstance, seconds: NDArray[np.float64] | None = None) -> Transfers:
    """Compute the fastest ways: Dijkstra's algorithm from every node.

    Parameters
    ----------
    instance : SplittingInstance
    seconds : array, shape (links,), optional
        Time of each link, instead of the seconds that a byte takes. Links of rate 0 are left out
        in any case.
    """
    import scipy.sparse
    from scipy.sparse.csgraph import dijkstra

    N = instance.number_of_nodes
    usable = np.flatnonzero(instance.link_rate > 0)
    if seconds is None:
        weight = 1.0 / instance.link_rate[usable]
    else:
        weight = np.asarray(seconds, dtype=float)[usable]
    # Of parallel links the fastest one, and the first in file order of those.
    pair = instance.link_start[usable] * N + instance.link_end[usable]
    order = np.lexsort((usable, weight, pair))
    first = order[np.diff(pair[order], prepend=-1) > 0]
    start, end = np.divmod(pair[first], N)
    graph = scipy.sparse.csr_array((weight[first], (start, end)), shape=(N, N))
    distance, before = dijkstra(graph, return_predecessors=True)
    link_of = np.full((N, N), -1, dtype=np.int64)
    link_of[start, end] = usable[first]
    known = before >= 0
    previous = np.where(known, link_of[np.where(known, before, 0), np.arange(N)[None, :]], -1)
    return Transfers(distance, previous, instance.link_start)
