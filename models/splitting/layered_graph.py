r"""The layered graph of a job, as arrays: a path through it is a route of the job.

Vertices :math:`u_l` for every node u and l = 0..L, index l N + u. Arcs of two kinds:

* within a layer, :math:`(u_l, v_l)`: the output of layer l (l = 0: the input) is sent over a link,
  :math:`q = d_l` at the link's rate;
* between layers, :math:`(u_{l-1}, u_l)`: layer l is computed at u, :math:`q = c_l` at the node's
  rate.

The job goes from :math:`s_0` to :math:`t_L`. Arcs of rate 0 are left out, and so is every arc
that lies on no path from :math:`s_0` to :math:`t_L`: no route can use either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.splitting.instance import SplittingInstance
from models.splitting.route import Queues, Route

__all__ = ["LayeredGraph", "layered_graph", "route_of", "time_unit"]


@dataclass(frozen=True)
class LayeredGraph:
    """Arcs of a job's layered graph: first those within layers, by layer and link, then the others.

    Attributes
    ----------
    job : int
    nodes : int
        N, nodes of the network.
    layers : int
        L.
    source, destination : int
        Vertices s_0 and t_L.
    tail, head : arrays of int, shape (arcs,)
        Vertices.
    layer : array of int, shape (arcs,)
        The l of the arc: the layer whose output is sent (0..L) or that is computed (1..L).
    link, node : arrays of int, shape (arcs,)
        The link or the node that does it, -1 in the other one.
    work : array, shape (arcs,)
        q [bytes or operations].
    seconds : array, shape (arcs,)
        Service time q / rate, 0 where the rate is infinite.
    inverse_rate : array, shape (arcs,)
        Seconds per byte or operation.
    """

    job: int
    nodes: int
    layers: int
    source: int
    destination: int
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    layer: NDArray[np.int64]
    link: NDArray[np.int64]
    node: NDArray[np.int64]
    work: NDArray[np.float64]
    seconds: NDArray[np.float64]
    inverse_rate: NDArray[np.float64]

    @property
    def arcs(self) -> int:
        """Number of arcs; 0 exactly if the job has no route."""
        return len(self.tail)

    @property
    def computing(self) -> NDArray[np.int64]:
        """Indices of the arcs between layers."""
        return np.flatnonzero(self.node >= 0)

    @property
    def sending(self) -> NDArray[np.int64]:
        """Indices of the arcs within layers."""
        return np.flatnonzero(self.link >= 0)

    @property
    def computing_nodes(self) -> list[int]:
        """Nodes that can compute a layer on some route, in order."""
        return sorted({int(u) for u in self.node if u >= 0})

    def link_waiting(self, queues: Queues) -> NDArray[np.float64]:
        """Seconds that each arc's data waits at its link, 0 on arcs between layers (eq. 6)."""
        waiting = np.zeros(self.arcs)
        sending = self.sending
        waiting[sending] = queues.link[self.link[sending]] * self.inverse_rate[sending]
        return waiting


def layered_graph(instance: SplittingInstance, job: int) -> LayeredGraph:
    """Build the arrays of a job's layered graph.

    Parameters
    ----------
    instance : SplittingInstance
    job : int

    Returns
    -------
    LayeredGraph
        Without arcs if the job has no route. (A job with a route computes L >= 1 layers.)
    """
    N, E = instance.number_of_nodes, instance.number_of_links
    L = instance.jobs[job].number_of_layers
    compute, data = instance.jobs[job].compute, instance.jobs[job].data
    sent, done = np.arange(L + 1), np.arange(1, L + 1)
    tail = np.concatenate(
        [
            (sent[:, None] * N + instance.link_start).ravel(),
            ((done[:, None] - 1) * N + np.arange(N)).ravel(),
        ]
    )
    head = np.concatenate(
        [
            (sent[:, None] * N + instance.link_end).ravel(),
            (done[:, None] * N + np.arange(N)).ravel(),
        ]
    )
    layer = np.concatenate([np.repeat(sent, E), np.repeat(done, N)])
    link = np.concatenate([np.tile(np.arange(E), L + 1), np.full(L * N, -1)])
    node = np.concatenate([np.full((L + 1) * E, -1), np.tile(np.arange(N), L)])
    work = np.concatenate([np.repeat(data, E), np.repeat(compute, N)])
    rate = np.concatenate([np.tile(instance.link_rate, L + 1), np.tile(instance.node_rate, L)])
    source = int(instance.source[job])
    destination = L * N + int(instance.destination[job])

    usable = rate > 0
    begun = _reached(tail[usable], head[usable], (L + 1) * N, source)
    ended = _reached(head[usable], tail[usable], (L + 1) * N, destination)
    kept = np.flatnonzero(usable & begun[tail] & ended[head])
    rate = rate[kept]
    return LayeredGraph(
        job=job,
        nodes=N,
        layers=L,
        source=source,
        destination=destination,
        tail=tail[kept],
        head=head[kept],
        layer=layer[kept],
        link=link[kept],
        node=node[kept],
        work=work[kept],
        seconds=work[kept] / rate,
        inverse_rate=1.0 / rate,
    )


def _reached(
    tail: NDArray[np.int64], head: NDArray[np.int64], vertices: int, root: int
) -> NDArray[np.bool_]:
    """Vertices that are reached from a root."""
    import scipy.sparse
    from scipy.sparse.csgraph import breadth_first_order

    ones = np.ones(len(tail), dtype=np.int8)
    graph = scipy.sparse.csr_array((ones, (tail, head)), shape=(vertices, vertices))
    graph.data[:] = 1  # parallel links are summed, which must not overflow to 0
    order = breadth_first_order(graph, root, return_predecessors=False)
    seen = np.zeros(vertices, dtype=bool)
    seen[order] = True
    return seen


def route_of(graph: LayeredGraph, arcs: Iterable[int]) -> Route:
    """Walk from s_0 to t_L over chosen arcs.

    Solutions of integer programs may hold cycles beside the path, which cost nothing or come
    from a search that was stopped; those detached from it are never met, and those that touch
    it are cut off.

    Parameters
    ----------
    graph : LayeredGraph
    arcs : iterable of int
        A unit flow from s_0 to t_L: arcs that keep the flow conservation.

    Raises
    ------
    ValueError
        If the arcs hold no path from s_0 to t_L.
    """
    leaving: dict[int, list[int]] = {}
    for a in sorted(set(arcs), reverse=True):
        leaving.setdefault(int(graph.tail[a]), []).append(a)
    path: list[int] = []
    place = {graph.source: 0}  # vertices on the path, and how many arcs lead there
    vertex = graph.source
    while vertex != graph.destination:
        if not leaving.get(vertex):
            raise ValueError(f"the arcs of job {graph.job} hold no path")
        arc = leaving[vertex].pop()
        path.append(arc)
        vertex = int(graph.head[arc])
        if vertex in place:
            start = place[vertex]
            for cut in path[start:-1]:
                del place[int(graph.head[cut])]
            del path[start:]
        else:
            place[vertex] = len(path)
    nodes = tuple(int(graph.node[a]) for a in path if graph.node[a] >= 0)
    hops = tuple((int(graph.link[a]), int(graph.layer[a])) for a in path if graph.link[a] >= 0)
    return Route(nodes, hops)


def time_unit(seconds: float) -> float:
    """Return a power of two near a time, 1 for none: the unit in which a model counts time.

    Operations come in 1e9 and bytes in 1e6, and times are far from 1 where a solver's absolute
    tolerances want them. Dividing by a power of two is exact.
    """
    if not 0 < seconds < math.inf:
        return 1.0
    return math.ldexp(1.0, min(math.frexp(seconds)[1], 1000))
