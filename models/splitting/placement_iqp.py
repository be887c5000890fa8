r"""The IQP of the reference, which fixes the paths and places layers only.

Disabato, Roveri, Alippi (IEEE TC 2021) in the form that arXiv 2111.07006 compares its ILP with.
With :math:`a^j_{l,u} = 1` if node u computes layer l of job j, :math:`h_{uv}` hops from u to v and
:math:`\bar\mu_{uv}` the mean rate of the links on that path (`models.splitting.hop_paths`):

.. math::

    \min_a \; & \sum_{j,l,u} \frac{c^j_l}{\mu_u} a^j_{l,u}
        + \sum_{j,v} d^j_0 \frac{h_{sv}}{\bar\mu_{sv}} a^j_{1,v}
        + \sum_{j,u} d^j_L \frac{h_{ut}}{\bar\mu_{ut}} a^j_{L,u}
        + \sum_{j} \sum_{l=1}^{L-1} \sum_{u,v}
          d^j_l \frac{h_{uv}}{\bar\mu_{uv}} a^j_{l,u} a^j_{l+1,v} \\
    \text{s.t.} \; & \sum_u a^j_{l,u} = 1 \quad \forall j, l,
        \qquad a^j_{l,u} \in \{0, 1\}, \qquad \text{budgets (3), (4)}

Its linearisation replaces every product by the flow :math:`y^j_{l,u,v} \ge 0` with
:math:`\sum_v y^j_{l,u,v} = a^j_{l,u}` and :math:`\sum_u y^j_{l,u,v} = a^j_{l+1,v}`. For binary a
the flow is the product, so both have the same optimum. Pairs that no path joins have no flow, and
in the raw form a row :math:`a^j_{l,u} + a^j_{l+1,v} \le 1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.solver import relation
from models.splitting.budgets import budget_rows, fitting
from models.splitting.hop_paths import HopPaths, hop_paths
from models.splitting.instance import SplittingInstance

__all__ = ["build_placement_iqp", "placement_value", "placements_of", "possible_placements"]


def possible_placements(instance: SplittingInstance, paths: HopPaths) -> list[NDArray[np.bool_]]:
    """Say which node may compute which layer, by job; shape (L, nodes) each.

    The node computes at all, is reached from the source, reaches the destination, and the layer
    alone fits its budgets.
    """
    tables = []
    for j in range(instance.number_of_jobs):
        near = (paths.hops[instance.source[j]] >= 0) & (paths.hops[:, instance.destination[j]] >= 0)
        tables.append(fitting(instance, j) & near & (instance.node_rate > 0))
    return tables


def build_placement_iqp(
    instance: SplittingInstance,
    *,
    raw: bool = False,
    paths: HopPaths | None = None,
    unit: float = 1.0,
) -> Any:
    """Build the IQP.

    Parameters
    ----------
    instance : SplittingInstance
    raw : bool
        With the products as they are; otherwise with flows, which HiGHS can solve.
    paths : HopPaths, optional
        If they are there already.
    unit : float
        Seconds that count as 1 in the objective; see `models.splitting.layered_graph.time_unit`.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``placed[j, l, u]`` (l = 0..L-1 for layers 1..L) and, linearised,
        ``flow[j, l, u, v]``; constraints ``once``, ``budget``, and ``leaving``, ``arriving`` or
        ``joined``. An instance without solution gives an infeasible model.
    """
    if paths is None:
        paths = hop_paths(instance)
    allowed = possible_placements(instance, paths)
    model = pyo.ConcreteModel("placement")
    model.placed = pyo.Var(
        [(j, *map(int, at)) for j, table in enumerate(allowed) for at in np.argwhere(table)],
        domain=pyo.Binary,
    )
    nodes = [[np.flatnonzero(row).tolist() for row in table] for table in allowed]
    _once(model, nodes)
    _budgets(model, instance, allowed)
    terms = _own_terms(model, instance, paths, unit)
    if raw:
        _joined(model, nodes, paths)
        terms += _products(model, instance, nodes, paths, unit)
    else:
        terms += _flows(model, instance, nodes, paths, unit)
    model.cost = pyo.Objective(expr=pyo.quicksum(terms))
    return model


Nodes = Sequence[Sequence[Sequence[int]]]


def _own_terms(model: Any, instance: SplittingInstance, paths: HopPaths, unit: float) -> list[Any]:
    """Computing, and the ways from the source and to the destination: one variable each."""
    terms = []
    for j, layer, u in model.placed:
        job = instance.jobs[j]
        seconds = job.compute[layer] / instance.node_rate[u]
        if layer == 0:
            seconds += job.data[0] * paths.seconds_per_byte[instance.source[j], u]
        if layer == job.number_of_layers - 1:
            seconds += job.data[-1] * paths.seconds_per_byte[u, instance.destination[j]]
        terms.append(float(seconds) / unit * model.placed[j, layer, u])
    return terms


def _once(model: Any, nodes: Nodes) -> None:
    """Every layer is computed at one node."""
    keys = [(j, layer) for j, rows in enumerate(nodes) for layer in range(len(rows))]
    model.once = pyo.Constraint(
        keys,
        rule=lambda m, j, layer: relation(
            pyo.quicksum(m.placed[j, layer, u] for u in nodes[j][layer]) == 1
        ),
    )


def _budgets(model: Any, instance: SplittingInstance, allowed: Sequence[NDArray[np.bool_]]) -> None:
    """All layers at a node keep its budgets of operations (eq. 3) and of memory (eq. 4)."""
    model.budget = pyo.ConstraintList()
    for row in budget_rows(instance, allowed):
        terms = [
            float(amount) * model.placed[j, layer, row.node]
            for j, table in enumerate(allowed)
            for layer, amount in enumerate(row.coefficients(instance, j))
            if table[layer, row.node]
        ]
        model.budget.add(pyo.quicksum(terms) <= row.limit)


def _pairs(nodes: Nodes) -> list[tuple[int, int, int, int]]:
    """Job, layer, node of the layer, node of the next layer: what products are about."""
    return [
        (j, layer, u, v)
        for j, rows in enumerate(nodes)
        for layer in range(len(rows) - 1)
        for u in rows[layer]
        for v in rows[layer + 1]
    ]


def _products(
    model: Any, instance: SplittingInstance, nodes: Nodes, paths: HopPaths, unit: float
) -> list[Any]:
    """Sending between consecutive layers, as products."""
    table = paths.seconds_per_byte
    return [
        float(instance.jobs[j].data[layer + 1] * table[u, v])
        / unit
        * (model.placed[j, layer, u] * model.placed[j, layer + 1, v])
        for j, layer, u, v in _pairs(nodes)
        if 0 < table[u, v] < np.inf
    ]


def _joined(model: Any, nodes: Nodes, paths: HopPaths) -> None:
    """Consecutive layers are not computed at nodes that no path joins."""
    apart = [key for key in _pairs(nodes) if paths.hops[key[2], key[3]] < 0]
    model.joined = pyo.Constraint(
        apart,
        rule=lambda m, j, layer, u, v: m.placed[j, layer, u] + m.placed[j, layer + 1, v] <= 1,
    )


def _flows(
    model: Any, instance: SplittingInstance, nodes: Nodes, paths: HopPaths, unit: float
) -> list[Any]:
    """The same with flows, which leave and arrive where the layers are computed."""
    pairs = [key for key in _pairs(nodes) if paths.hops[key[2], key[3]] >= 0]
    model.flow = pyo.Var(pairs, bounds=(0.0, None))
    out: dict[tuple[int, int, int], list[Any]] = {}
    into: dict[tuple[int, int, int], list[Any]] = {}
    for j, layer, u, v in pairs:
        out.setdefault((j, layer, u), []).append(model.flow[j, layer, u, v])
        into.setdefault((j, layer + 1, v), []).append(model.flow[j, layer, u, v])
    first = [key for key in model.placed if key[1] + 1 < len(nodes[key[0]])]
    later = [key for key in model.placed if key[1] > 0]
    model.leaving = pyo.Constraint(
        first, rule=lambda m, *key: pyo.quicksum(out.get(key, [])) == m.placed[key]
    )
    model.arriving = pyo.Constraint(
        later, rule=lambda m, *key: pyo.quicksum(into.get(key, [])) == m.placed[key]
    )
    return [
        float(instance.jobs[j].data[layer + 1] * paths.seconds_per_byte[u, v])
        / unit
        * model.flow[j, layer, u, v]
        for j, layer, u, v in pairs
    ]


def placements_of(model: Any, instance: SplittingInstance) -> list[tuple[int, ...]]:
    """Decode the values of ``placed``: the nodes of each job's layers."""
    placements = [[-1] * job.number_of_layers for job in instance.jobs]
    for (j, layer, u), variable in model.placed.items():
        if round(variable.value):
            placements[j][layer] = u
    return [tuple(nodes) for nodes in placements]


def placement_value(
    instance: SplittingInstance, paths: HopPaths, job: int, nodes: Sequence[int]
) -> float:
    """The IQP's own time of a job's placement [s], which takes the mean rate for every link."""
    item = instance.jobs[job]
    stops = [int(instance.source[job]), *nodes, int(instance.destination[job])]
    sending = item.data * paths.seconds_per_byte[stops[:-1], stops[1:]]
    return float((item.compute / instance.node_rate[list(nodes)]).sum() + sending.sum())
