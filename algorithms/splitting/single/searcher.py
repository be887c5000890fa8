"""The compiled search with its scratch space, for the jobs of one instance."""

from __future__ import annotations

import numpy as np

from algorithms.splitting.single.kernels import best_route
from algorithms.splitting.single.network_arrays import network_arrays
from models.splitting import Queues, Route, SplittingInstance

__all__ = ["Found", "Searcher"]


class Found:
    """What a search found.

    Attributes
    ----------
    outcome : int
        As `algorithms.splitting.single.kernels.best_route` has it.
    seconds, charged : float
        By eq. (6), and with waiting per visit.
    labels : int
        Labels made.
    route : Route or None
        None without a route.
    """

    __slots__ = ("charged", "labels", "outcome", "route", "seconds")

    def __init__(
        self, outcome: int, seconds: float, charged: float, labels: int, route: Route | None
    ) -> None:
        self.outcome, self.seconds, self.charged = outcome, seconds, charged
        self.labels, self.route = labels, route


class Searcher:
    """Best routes, with waiting charged once per node or per visit.

    Parameters
    ----------
    instance : SplittingInstance
    exact : bool
        Once per node (eq. 6), else per visit.
    most_labels : int
        Labels that one search may make.
    """

    def __init__(self, instance: SplittingInstance, exact: bool, most_labels: int) -> None:
        self.instance, self.exact, self.most_labels = instance, exact, most_labels
        self._network = network_arrays(instance)
        layers = max((job.number_of_layers for job in instance.jobs), default=1)
        self._chosen = np.empty(layers, dtype=np.int64)
        self._hops = np.empty(((layers + 1) * instance.number_of_nodes, 2), dtype=np.int64)
        self._ends = list(zip(instance.source.tolist(), instance.destination.tolist(), strict=True))

    def search(self, job: int, queues: Queues) -> Found:
        """Search for a job's best route behind the queues."""
        data = self.instance.jobs[job]
        source, destination = self._ends[job]
        outcome, seconds, charged, number, labels = best_route(
            self._network,
            queues.node,
            queues.link,
            data.compute,
            data.data,
            source,
            destination,
            self.exact,
            self.most_labels,
            self._chosen,
            self._hops,
        )
        route = None
        if seconds < np.inf:
            chosen = self._chosen[: data.number_of_layers].tolist()
            hops = self._hops[:number][::-1].tolist()
            route = Route(tuple(chosen), tuple((link, layer) for link, layer in hops))
        return Found(outcome, seconds, charged, labels, route)
