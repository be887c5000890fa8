r"""Least total service time within budgets, eqs. (1)-(5) of arXiv 2111.07006.

Over the arcs a of each job's layered graph, with :math:`r^j_a = 1` if job j's path takes arc a:

.. math::

    \min_r \; & \sum_j \sum_a \frac{q^j_a}{\mu_a} r^j_a & \text{(1)} \\
    \text{s.t.} \; & \sum_{a \text{ out of } v} r^j_a - \sum_{a \text{ into } v} r^j_a
        = [v = s^j_0] - [v = t^j_L] \quad \forall j, v & \text{(2)} \\
    & \sum_{j,l} c^j_l r^j_{u_{l-1} u_l} \le \bar c_u \quad \forall u & \text{(3)} \\
    & \sum_{j,l} m^j_l r^j_{u_{l-1} u_l} \le \bar m_u \quad \forall u & \text{(4)} \\
    & r^j_a \in \{0, 1\} & \text{(5)}

Queues play no part. The paper's remedy against cycles, a penalty :math:`\delta \sum r`, is off by
default: decoding a point cuts cycles off. Where it is on it belongs to the model's objective but
to no reported one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.solver import Result
from models.splitting.budgets import BudgetRow, budget_rows, fitting
from models.splitting.instance import SplittingInstance
from models.splitting.layered_graph import LayeredGraph, layered_graph, route_of
from models.splitting.route import Route
from models.splitting.single_job import add_flow_conservation

__all__ = ["build_service_ilp", "kept_arcs", "service_routes"]


def kept_arcs(instance: SplittingInstance, graph: LayeredGraph) -> NDArray[np.bool_]:
    """Arcs of a job without those that compute a layer over a node's budget, shape (arcs,)."""
    fits = fitting(instance, graph.job)
    kept = np.ones(graph.arcs, dtype=bool)
    computing = graph.computing
    kept[computing] = fits[graph.layer[computing] - 1, graph.node[computing]]
    return kept


def build_service_ilp(
    instance: SplittingInstance,
    *,
    integer: bool = True,
    graphs: Sequence[LayeredGraph] | None = None,
    keep: Sequence[NDArray[np.bool_]] | None = None,
    penalty: float = 0.0,
    unit: float = 1.0,
) -> Any:
    """Build (1)-(5), or its LP relaxation.

    Parameters
    ----------
    instance : SplittingInstance
    integer : bool
        Binary variables instead of variables between 0 and 1.
    graphs : sequence of LayeredGraph, optional
        The jobs' layered graphs, if they are there already.
    keep : sequence of arrays of bool, shape (arcs,), optional
        The arcs of each job that get a variable. By default all but those that compute a layer
        which is over the node's budget by itself: no whole path takes one, and without them the
        relaxation is tighter than the printed one. ``[np.ones(g.arcs, bool) for g in graphs]``
        gives the printed one.
    penalty : float
        Delta [s per arc], to forbid cycles.
    unit : float
        Seconds that count as 1 in the objective; see `models.splitting.layered_graph.time_unit`.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``flow[j, a]`` by job and arc, constraints ``conservation`` (2) and
        ``budget`` (3), (4), and the graphs as ``model.graphs``.
    """
    if graphs is None:
        graphs = [layered_graph(instance, j) for j in range(instance.number_of_jobs)]
    if keep is None:
        keep = [kept_arcs(instance, graph) for graph in graphs]
    model = pyo.ConcreteModel("service")
    model.graphs = graphs
    keys = [(j, int(a)) for j, kept in enumerate(keep) for a in np.flatnonzero(kept)]
    model.flow = pyo.Var(keys, domain=pyo.Binary if integer else pyo.UnitInterval)
    model.cost = pyo.Objective(
        expr=pyo.quicksum(
            (float(graphs[j].seconds[a]) + penalty) / unit * model.flow[j, a] for j, a in keys
        )
    )
    model.conservation = pyo.ConstraintList()
    for j, graph in enumerate(graphs):
        flow = [model.flow[j, a] if keep[j][a] else 0.0 for a in range(graph.arcs)]
        add_flow_conservation(model.conservation, graph, flow)
    _budgets(model, instance, keep)
    return model


def _budgets(model: Any, instance: SplittingInstance, keep: Sequence[NDArray[np.bool_]]) -> None:
    """All layers at a node keep its budgets of operations (eq. 3) and of memory (eq. 4)."""
    model.budget = pyo.ConstraintList()
    at_node: dict[int, list[tuple[int, int]]] = {}
    allowed = []
    for j, graph in enumerate(model.graphs):
        table = np.zeros((graph.layers, graph.nodes), dtype=bool)
        for a in graph.computing[keep[j][graph.computing]].tolist():
            at_node.setdefault(int(graph.node[a]), []).append((j, a))
            table[graph.layer[a] - 1, graph.node[a]] = True
        allowed.append(table)
    for row in budget_rows(instance, allowed):
        model.budget.add(_use(model, instance, row, at_node[row.node]) <= row.limit)


def _use(
    model: Any, instance: SplittingInstance, row: BudgetRow, arcs: Sequence[tuple[int, int]]
) -> Any:
    share = {j: row.coefficients(instance, j) for j, _ in arcs}
    return pyo.quicksum(
        float(share[j][model.graphs[j].layer[a] - 1]) * model.flow[j, a] for j, a in arcs
    )


def service_routes(model: Any, result: Result) -> list[Route]:
    """Decode a solution of the ILP: one route per job, cycles cut off."""
    result.load_into(model)
    taken: list[list[int]] = [[] for _ in model.graphs]
    for (j, a), variable in model.flow.items():
        if round(variable.value):
            taken[j].append(a)
    return [route_of(graph, arcs) for graph, arcs in zip(model.graphs, taken, strict=True)]
