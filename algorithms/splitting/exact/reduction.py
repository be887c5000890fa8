"""Which arcs of a layered graph can lie on a route that is no worse than a known one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.splitting import Queues, SplittingInstance
from models.splitting.layered_graph import LayeredGraph

__all__ = ["SLACK", "least_through", "useful_arcs"]

SLACK = 1e-9  # relative: sums of distances round


def useful_arcs(instance: SplittingInstance, graph: LayeredGraph, most: float) -> NDArray[np.bool_]:
    """Arcs over which a job, alone and without waiting at nodes, completes by a given time.

    Parameters
    ----------
    instance : SplittingInstance
    graph : LayeredGraph
    most : float
        Seconds.

    Returns
    -------
    array of bool, shape (arcs,)
        All arcs of every route whose completion time, whatever goes before it, is at most `most`.
    """
    cost = graph.seconds + graph.link_waiting(Queues.initial(instance))
    return np.asarray(least_through(graph, cost) <= most * (1 + SLACK))


def least_through(graph: LayeredGraph, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least cost of a path through each arc, shape (arcs,)."""
    begun = _distances(graph.tail, graph.head, cost, graph, graph.source)
    ended = _distances(graph.head, graph.tail, cost, graph, graph.destination)
    return np.asarray(begun[graph.tail] + cost + ended[graph.head])


def _distances(
    tail: NDArray[np.int64],
    head: NDArray[np.int64],
    cost: NDArray[np.float64],
    graph: LayeredGraph,
    root: int,
) -> NDArray[np.float64]:
    import scipy.sparse
    from scipy.sparse.csgraph import dijkstra

    vertices = (graph.layers + 1) * graph.nodes
    pair = tail * vertices + head
    order = np.lexsort((cost, pair))
    first = order[np.diff(pair[order], prepend=-1) > 0]  # the faster one of parallel arcs
    table = scipy.sparse.csr_array(
        (cost[first], (tail[first], head[first])), shape=(vertices, vertices)
    )
    return np.asarray(dijkstra(table, indices=root))
