"""A network as arrays for compiled searches: usable links by the node that they leave or reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.splitting import Queues, SplittingInstance

__all__ = ["NetworkArrays", "Waiting", "network_arrays", "waiting"]


class NetworkArrays(NamedTuple):
    """What does not change during a run. Links of rate 0 are left out.

    Attributes
    ----------
    node_rate : array, shape (nodes,)
        [operations/s]; inf is infinitely fast, 0 computes nothing.
    link_rate : array, shape (links,)
        [bytes/s], of all links of the instance.
    start, end : arrays of int, shape (links,)
    leaving, reaching : arrays of int, shape (usable links,)
        Link indices ordered by start (end), those of one node in file order.
    first_leaving, first_reaching : arrays of int, shape (nodes + 1,)
        Node u's part is ``leaving[first_leaving[u] : first_leaving[u + 1]]``.
    """

    node_rate: NDArray[np.float64]
    link_rate: NDArray[np.float64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    leaving: NDArray[np.int64]
    first_leaving: NDArray[np.int64]
    reaching: NDArray[np.int64]
    first_reaching: NDArray[np.int64]


class Waiting(NamedTuple):
    """Seconds that a job waits behind given queues; 0 where the rate is 0 or infinite.

    Attributes
    ----------
    node : array, shape (nodes,)
    link : array, shape (links,)
    """

    node: NDArray[np.float64]
    link: NDArray[np.float64]


def network_arrays(instance: SplittingInstance) -> NetworkArrays:
    """Make the arrays of an instance's network."""
    usable = np.flatnonzero(instance.link_rate > 0)
    leaving, first_leaving = _grouped(usable, instance.link_start, instance.number_of_nodes)
    reaching, first_reaching = _grouped(usable, instance.link_end, instance.number_of_nodes)
    return NetworkArrays(
        node_rate=instance.node_rate,
        link_rate=instance.link_rate,
        start=instance.link_start,
        end=instance.link_end,
        leaving=leaving,
        first_leaving=first_leaving,
        reaching=reaching,
        first_reaching=first_reaching,
    )


def _grouped(
    links: NDArray[np.int64], place: NDArray[np.int64], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.argsort(place[links], kind="stable")
    first = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(place[links], minlength=nodes), out=first[1:])
    return links[order], first


def waiting(instance: SplittingInstance, queues: Queues) -> Waiting:
    """Seconds of waiting at every node and link."""
    return Waiting(
        _seconds(queues.node, instance.node_rate), _seconds(queues.link, instance.link_rate)
    )


def _seconds(work: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(work, rate, out=np.zeros_like(work), where=rate > 0)
