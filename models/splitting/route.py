"""A job's route through the network, and the times that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.splitting.instance import SplittingInstance

__all__ = ["Queues", "Route", "completion_time", "fictitious_completions", "service_time"]


@dataclass(frozen=True)
class Route:
    """Where a job's layers are computed and which links its data takes.

    Attributes
    ----------
    nodes : tuple of int
        Entry k is the index of the node that computes layer k + 1.
    hops : tuple of (link index, layer)
        In order; the layer is the one whose output is carried, 0 for the input.
    """

    nodes: tuple[int, ...]
    hops: tuple[tuple[int, int], ...]


@dataclass
class Queues:
    """Work of higher priority at nodes [operations] and links [bytes].

    Attributes
    ----------
    node : array, shape (nodes,)
    link : array, shape (links,)
    """

    node: NDArray[np.float64]
    link: NDArray[np.float64]

    @classmethod
    def initial(cls, instance: SplittingInstance) -> Queues:
        """The queues that the instance starts with."""
        return cls(instance.node_queue.copy(), instance.link_queue.copy())

    def add(self, instance: SplittingInstance, job: int, route: Route) -> None:
        """Put a job's work on top."""
        compute, data = instance.jobs[job].compute, instance.jobs[job].data
        for layer, u in enumerate(route.nodes):
            self.node[u] += compute[layer]
        for link, layer in route.hops:
            self.link[link] += data[layer]


def service_time(instance: SplittingInstance, job: int, route: Route) -> float:
    """Seconds of computing and sending, without any waiting (eq. 1)."""
    compute, data = instance.jobs[job].compute, instance.jobs[job].data
    total = 0.0
    for layer, u in enumerate(route.nodes):
        total += float(compute[layer] / instance.node_rate[u])
    for link, layer in route.hops:
        total += float(data[layer] / instance.link_rate[link])
    return total


def completion_time(instance: SplittingInstance, job: int, route: Route, queues: Queues) -> float:
    """Service plus waiting behind given queues: a node's once, a link's per traversal (eq. 6)."""
    total = service_time(instance, job, route)
    for u in sorted(set(route.nodes)):
        total += float(queues.node[u] / instance.node_rate[u])
    for link, _ in route.hops:
        total += float(queues.link[link] / instance.link_rate[link])
    return total


def fictitious_completions(
    instance: SplittingInstance, routes: Sequence[Route], order: Sequence[int]
) -> list[float]:
    """Completion times of the fictitious system, in which a job waits for all work before it.

    Parameters
    ----------
    instance : SplittingInstance
    routes : sequence of Route
        One per job.
    order : sequence of int
        Jobs from the highest priority to the lowest.

    Returns
    -------
    list of float
        Seconds, per job index. In the real system with preemptive priorities no job is later.
    """
    queues = Queues.initial(instance)
    times = [0.0] * instance.number_of_jobs
    for job in order:
        times[job] = completion_time(instance, job, routes[job], queues)
        queues.add(instance, job, routes[job])
    return times
