"""Waiting charged per visit: a shortest path, and an upper bound of eq. (6).

A node's waiting is charged once per run of consecutive layers computed there. Then the problem is
a shortest path over 2 N (L + 1) vertices. It differs from eq. (6) only for routes that come back
to compute at a node after layers computed elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.splitting.single.answer import SingleAnswer
from algorithms.splitting.single.kernels import completion, per_visit, walk_back
from algorithms.splitting.single.network_arrays import (
    NetworkArrays,
    Waiting,
    network_arrays,
    waiting,
)
from models.splitting import Queues, Route, SplittingInstance

__all__ = ["PerVisitRouter"]


class PerVisitRouter:
    """Routes with waiting charged per visit, for the jobs of one instance.

    It is exact (eq. 6) if L <= 2, if no node has a queue, and generally if its route is no
    dearer than the LP bound; see `algorithms.splitting.single.label_setting`.

    Parameters
    ----------
    instance : SplittingInstance

    Attributes
    ----------
    slack : float
    counters : dict
    """

    slack = 1e-12

    def __init__(self, instance: SplittingInstance) -> None:
        self.instance = instance
        self.network: NetworkArrays = network_arrays(instance)
        layers = max((job.number_of_layers for job in instance.jobs), default=1)
        shape = (layers + 1, instance.number_of_nodes)
        # Scratch space for all searches, so that memory does not grow with their number.
        self._arrived, self._computed = np.empty(shape), np.empty(shape)
        self._chosen = np.empty(layers, dtype=np.int64)
        self._hops = np.empty((shape[0] * shape[1], 2), dtype=np.int64)
        self.counters = {"searches": 0}

    def route(self, job: int, queues: Queues) -> SingleAnswer | None:
        """Return the best route with waiting charged per visit, None if there is none."""
        return self.search(job, waiting(self.instance, self.network, queues))

    def search(self, job: int, wait: Waiting) -> SingleAnswer | None:
        """Do the same with the queues' waiting times."""
        data = self.instance.jobs[job]
        L = data.number_of_layers
        arrived, computed = self._arrived[: L + 1], self._computed[: L + 1]
        self.counters["searches"] += 1
        destination = int(self.instance.destination[job])
        charged = per_visit(
            self.network,
            wait,
            data.compute,
            data.data,
            int(self.instance.source[job]),
            destination,
            arrived,
            computed,
        )
        if not charged < np.inf:
            return None
        chosen = self._chosen[:L]
        count = walk_back(
            self.network, wait, data.data, destination, arrived, computed, chosen, self._hops
        )
        hops = self._hops[:count]
        seconds = completion(self.network, wait, data.compute, data.data, chosen, hops)
        return SingleAnswer(route_from(chosen, hops), seconds, charged)


def route_from(chosen: Any, hops_backwards: Any) -> Route:
    """Make a route of the arrays that the compiled searches fill."""
    hops = tuple((link, layer) for link, layer in hops_backwards[::-1].tolist())
    return Route(tuple(chosen.tolist()), hops)
