"""Paths with the fewest hops, the ways that data takes in the IQP of the reference.

Disabato, Roveri, Alippi, "Distributed Deep CNNs for the Internet-of-Things", IEEE Transactions on
Computers 2021, as arXiv 2111.07006 describes it: data goes over the path with the fewest hops, and
its time is the hop distance times its size over the mean rate of the path's links.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.splitting.instance import SplittingInstance
from models.splitting.route import Route

__all__ = ["HopPaths", "hop_paths"]


@dataclass(frozen=True)
class HopPaths:
    """The path with the fewest hops from every node to every other.

    Attributes
    ----------
    hops : array of int, shape (nodes, nodes)
        Hop distance, -1 where no usable links lead.
    seconds_per_byte : array, shape (nodes, nodes)
        Hop distance over the mean rate of the path's links; inf where there is no path, 0 where
        a link of it is infinitely fast (the mean rate is infinite then).
    previous : array of int, shape (nodes, nodes)
        The last link on the path from the row's node to the column's, -1 for none.
    link_start : array of int, shape (links,)
    """

    hops: NDArray[np.int64]
    seconds_per_byte: NDArray[np.float64]
    previous: NDArray[np.int64]
    link_start: NDArray[np.int64]

    def links(self, start: int, end: int) -> list[int]:
        """Links of a path, in order."""
        found = []
        while end != start:
            link = int(self.previous[start, end])
            found.append(link)
            end = int(self.link_start[link])
        return found[::-1]

    def route(self, instance: SplittingInstance, job: int, nodes: Sequence[int]) -> Route:
        """The route of a job whose layers are computed at given nodes."""
        stops = [int(instance.source[job]), *nodes, int(instance.destination[job])]
        hops = [
            (link, layer)
            for layer, (start, end) in enumerate(itertools.pairwise(stops))
            for link in self.links(start, end)
        ]
        return Route(tuple(int(u) for u in nodes), tuple(hops))


def hop_paths(instance: SplittingInstance) -> HopPaths:
    """Search breadth first from every node, over links of positive rate.

    A node is reached over the first link in file order that comes from a node one hop nearer.
    """
    N = instance.number_of_nodes
    usable = np.flatnonzero(instance.link_rate > 0)
    start, end = instance.link_start[usable], instance.link_end[usable]
    hops = np.full((N, N), -1, dtype=np.int64)
    previous = np.full((N, N), -1, dtype=np.int64)
    total_rate = np.zeros((N, N))
    for root in range(N):
        hops[root, root] = 0
        for distance in itertools.count():
            near = (hops[root, start] == distance) & (hops[root, end] < 0)
            # Of the links to one node the first counts: np.unique gives first places.
            reached, first = np.unique(end[near], return_index=True)
            if not reached.size:
                break
            links = usable[near][first]
            hops[root, reached] = distance + 1
            previous[root, reached] = links
            total_rate[root, reached] = (
                total_rate[root, instance.link_start[links]] + instance.link_rate[links]
            )
    # hops / (total_rate / hops), the mean written out.
    known = hops > 0
    seconds = np.full((N, N), np.inf)
    np.fill_diagonal(seconds, 0.0)
    seconds[known] = hops[known] * (hops[known] / total_rate[known])
    return HopPaths(hops, seconds, previous, instance.link_start)
