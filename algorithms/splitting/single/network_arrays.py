"""A network as arrays for compiled searches: usable links by the node that they leave or reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.splitting import Queues, SplittingInstance

__all__ = ["NetworkArrays", "Star", "Waiting", "network_arrays", "waiting"]


class Star(NamedTuple):
    """Usable links of each node, those that leave it or those that reach it.

    Attributes
    ----------
    first : array of int, shape (nodes + 1,)
        Node u's links stand at ``first[u] .. first[u + 1] - 1`` of the following, in file order.
    link : array of int, shape (usable links,)
        Index in the instance.
    other : array of int, shape (usable links,)
        The node at the other end.
    rate : array, shape (usable links,)
        [bytes/s].
    near : array of int, shape (links,)
        The node at the near end, of all links of the instance in its order.
    """

    first: NDArray[np.int64]
    link: NDArray[np.int64]
    other: NDArray[np.int64]
    rate: NDArray[np.float64]
    near: NDArray[np.int64]


class NetworkArrays(NamedTuple):
    """What does not change during a run. Links of rate 0 are left out of the stars.

    Attributes
    ----------
    node_rate : array, shape (nodes,)
        [operations/s]; inf is infinitely fast, 0 computes nothing.
    link_rate : array, shape (links,)
        [bytes/s], of all links of the instance.
    out, into : Star
        Links that leave a node, and that reach it.
    """

    node_rate: NDArray[np.float64]
    link_rate: NDArray[np.float64]
    out: Star
    into: Star


class Waiting(NamedTuple):
    """Seconds that a job waits behind given queues; 0 where the rate is 0 or infinite.

    Attributes
    ----------
    node : array, shape (nodes,)
    link : array, shape (links,)
    out, into : arrays, shape (usable links,)
        That of the links in the order of the network's stars.
    """

    node: NDArray[np.float64]
    link: NDArray[np.float64]
    out: NDArray[np.float64]
    into: NDArray[np.float64]


def network_arrays(instance: SplittingInstance) -> NetworkArrays:
    """Make the arrays of an instance's network."""
    return NetworkArrays(
        node_rate=instance.node_rate,
        link_rate=instance.link_rate,
        out=_star(instance, instance.link_start, instance.link_end),
        into=_star(instance, instance.link_end, instance.link_start),
    )


def _star(instance: SplittingInstance, near: NDArray[np.int64], far: NDArray[np.int64]) -> Star:
    usable = np.flatnonzero(instance.link_rate > 0)
    links = usable[np.argsort(near[usable], kind="stable")]
    first = np.zeros(instance.number_of_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(near[links], minlength=instance.number_of_nodes), out=first[1:])
    return Star(first, links, far[links], instance.link_rate[links], near)


def waiting(instance: SplittingInstance, network: NetworkArrays, queues: Queues) -> Waiting:
    """Seconds of waiting at every node and link."""
    link = _seconds(queues.link, instance.link_rate)
    return Waiting(
        _seconds(queues.node, instance.node_rate),
        link,
        link[network.out.link],
        link[network.into.link],
    )


def _seconds(work: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(work, rate, out=np.zeros_like(work), where=rate > 0)
