r"""The route of one job behind given queues, eqs. (6)-(10) of arXiv 2111.07006.

Over the arcs a of the job's layered graph (`models.splitting.layered_graph`), with
:math:`r_a = 1` if the path takes arc a and :math:`z_u = 1` if node u computes a layer:

.. math::

    \min_{r,z} \; & \sum_a \frac{q_a}{\mu_a} r_a
        + \sum_{uv} \frac{Q_{uv}}{\mu_{uv}} \sum_l r_{u_l v_l}
        + \sum_u \frac{Q_u}{\mu_u} z_u & \text{(6)} \\
    \text{s.t.} \; & r_{u_{l-1} u_l} \le z_u \quad \forall u, l & \text{(7)} \\
    & \sum_{a \text{ out of } v} r_a - \sum_{a \text{ into } v} r_a
        = [v = s_0] - [v = t_L] \quad \forall v & \text{(8)} \\
    & r_a \in \{0, 1\}, \; z_u \in \{0, 1\} & \text{(9), (10)}

The waiting at a node is charged once, however many layers it computes, the waiting at a link at
each traversal. Theorem 1 of the paper says that the LP relaxation is always integral; from L = 3
on it is not (`integral` is there to look before a point is decoded).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.solver import relation
from models.splitting.instance import SplittingInstance
from models.splitting.layered_graph import LayeredGraph
from models.splitting.route import Queues

__all__ = ["add_flow_conservation", "build_single_job", "integral", "single_job_costs"]


def single_job_costs(
    graph: LayeredGraph, instance: SplittingInstance, queues: Queues
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Costs of eq. (6): all that changes in the program when queues, c or d do.

    Returns
    -------
    flow_costs : array, shape (arcs,)
        Service and, on links, waiting [s].
    node_costs : array, shape (len(graph.computing_nodes),)
        Waiting at the nodes of ``graph.computing_nodes`` [s].
    """
    nodes = graph.computing_nodes
    waiting = queues.node[nodes] / instance.node_rate[nodes]
    return graph.seconds + graph.link_waiting(queues), waiting


def build_single_job(
    graph: LayeredGraph,
    instance: SplittingInstance,
    queues: Queues,
    *,
    integer: bool = False,
    unit: float = 1.0,
) -> Any:
    """Build (6)-(10), or its LP relaxation.

    Parameters
    ----------
    graph : LayeredGraph
        The job's.
    instance : SplittingInstance
    queues : Queues
    integer : bool
        Binary variables instead of variables between 0 and 1.
    unit : float
        Seconds that count as 1 in the objective; see `models.splitting.layered_graph.time_unit`.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``flow[a]`` (r) by arc and ``computes[u]`` (z) by computing node, and
        constraints ``charged`` (7) by arc and ``conservation`` (8) by vertex. A job without a
        route gives an infeasible model. For other queues of the same job the costs of ``flow``
        and ``computes`` are set anew, from `single_job_costs` divided by the unit.
    """
    flow_costs, node_costs = single_job_costs(graph, instance, queues)
    domain = pyo.Binary if integer else pyo.UnitInterval
    model = pyo.ConcreteModel("single job")
    model.flow = pyo.Var(range(graph.arcs), domain=domain)
    model.computes = pyo.Var(graph.computing_nodes, domain=domain)
    model.cost = pyo.Objective(
        expr=pyo.quicksum(
            cost / unit * variable
            for cost, variable in zip(
                [*flow_costs.tolist(), *node_costs.tolist()],
                [*model.flow.values(), *model.computes.values()],
                strict=True,
            )
        )
    )
    _charged(model, graph)
    model.conservation = pyo.ConstraintList()
    add_flow_conservation(model.conservation, graph, [model.flow[a] for a in range(graph.arcs)])
    return model


def _charged(model: Any, graph: LayeredGraph) -> None:
    """A node that computes a layer is waited for (eq. 7)."""
    node = {int(a): int(graph.node[a]) for a in graph.computing}
    model.charged = pyo.Constraint(list(node), rule=lambda m, a: m.flow[a] <= m.computes[node[a]])


def add_flow_conservation(rows: Any, graph: LayeredGraph, flow: Sequence[Any]) -> None:
    """One unit goes from s_0 to t_L and none is lost on its way (eqs. 2 and 8).

    Parameters
    ----------
    rows : pyomo.environ.ConstraintList
        Gets one row per vertex that arcs touch, and those of s_0 and t_L.
    graph : LayeredGraph
    flow : sequence of variables or numbers, by arc
    """
    out: dict[int, list[int]] = {graph.source: [], graph.destination: []}
    into: dict[int, list[int]] = {graph.source: [], graph.destination: []}
    for a, (tail, head) in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
        for lists, vertex, other in ((out, tail, into), (into, head, out)):
            lists.setdefault(vertex, []).append(a)
            other.setdefault(vertex, [])
    for vertex in sorted(out):
        balance = (vertex == graph.source) - (vertex == graph.destination)
        terms = [flow[a] for a in out[vertex]] + [-flow[a] for a in into[vertex]]
        rows.add(relation(pyo.quicksum(terms) == balance))  # no terms: there is no route


def integral(values: NDArray[np.float64], tolerance: float = 1e-6) -> bool:
    """Whether all values are whole within a tolerance: look before decoding an LP's point."""
    return bool(np.all(np.abs(values - np.round(values)) <= tolerance))
