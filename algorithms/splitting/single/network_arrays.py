"""A network as arrays for compiled searches: usable links by the node that they leave or reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.splitting import SplittingInstance

__all__ = ["NetworkArrays", "Part", "Star", "network_arrays"]


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
    """

    first: NDArray[np.int64]
    link: NDArray[np.int64]
    other: NDArray[np.int64]
    rate: NDArray[np.float64]


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


class Part(NamedTuple):
    """The part of a network that matters to one job behind given queues.

    Attributes
    ----------
    kept : array of int, shape (nodes of the part,)
        Their indices in the network, in order. Everything else counts nodes within the part.
    node_rate, wait_node : arrays, shape (nodes of the part,)
        Operations/s, and seconds of waiting.
    out : Star
        Links that leave a node; their indices are those of the instance.
    wait_out : array
        Seconds of waiting at them.
    into : Star
    wait_into : array
    source, destination : int
    below : float
        Seconds that a best route does not exceed.
    before, left : arrays, shape (nodes of the part,)
        Lower bounds of the seconds of sending from the source to a node, and from it to the
        destination.
    """

    kept: NDArray[np.int64]
    node_rate: NDArray[np.float64]
    wait_node: NDArray[np.float64]
    out: Star
    wait_out: NDArray[np.float64]
    into: Star
    wait_into: NDArray[np.float64]
    source: int
    destination: int
    below: float
    before: NDArray[np.float64]
    left: NDArray[np.float64]


def network_arrays(instance: SplittingInstance) -> NetworkArrays:
    """Make the arrays of an instance's network."""
    return NetworkArrays(
        node_rate=instance.node_rate.copy(),  # the instance's cannot be written: another type
        link_rate=instance.link_rate.copy(),
        out=_star(instance, instance.link_start, instance.link_end),
        into=_star(instance, instance.link_end, instance.link_start),
    )


def _star(instance: SplittingInstance, near: NDArray[np.int64], far: NDArray[np.int64]) -> Star:
    usable = np.flatnonzero(instance.link_rate > 0)
    links = usable[np.argsort(near[usable], kind="stable")]
    first = np.zeros(instance.number_of_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(near[links], minlength=instance.number_of_nodes), out=first[1:])
    return Star(first, links, far[links], instance.link_rate[links])
