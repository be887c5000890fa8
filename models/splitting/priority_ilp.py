r"""OPT: routes and priorities together, for the least largest completion time (appendix D).

The appendix is lost in our text of arXiv 2111.07006; this is rebuilt from its description. Over
the arcs a of each job's layered graph, with :math:`r^j_a = 1` if job j's path takes arc a,
:math:`z^j_u = 1` if node u computes a layer of it, and :math:`p_{kj} = 1` if job k goes before
job j. A resource x is a node or a link, :math:`w^k_x = \sum_{a \text{ on } x} (q^k_a / \mu_x)
r^k_a` what job k asks of it, and :math:`v` a visit of job j: a node that computes for it
(:math:`y_v = z^j_u`), or an arc over a link (:math:`y_v = r^j_a`), so that a node is waited for
once and a link at each traversal.

.. math::

    \min \; & C \\
    \text{s.t.} \; & C \ge \sum_a \frac{q^j_a}{\mu_a} r^j_a
        + \sum_v \frac{Q_{x(v)}}{\mu_{x(v)}} y_v + \sum_v W_v \quad \forall j & \text{(D1)} \\
    & W_v \ge \sum_{k \ne j} A_{jkx(v)} - \sum_{k \ne j} M_{kx(v)} (1 - y_v)
        \quad \forall v & \text{(D2)} \\
    & A_{jkx} \ge w^k_x - M_{kx} (1 - p_{kj}) \quad \forall j \ne k, x & \text{(D3)} \\
    & p_{jk} + p_{kj} = 1 \quad \forall j < k & \text{(D4)} \\
    & p_{ij} + p_{jk} + p_{ki} \le 2 \quad \forall i, j, k & \text{(D5)} \\
    & \text{(7) and (8) for every job}, \; r, z, p \in \{0, 1\}, \; A, W \ge 0 \\
    & C \ge \sum_k w^k_x \quad \forall x & \text{(D6)}

:math:`M_{kx}` is the most that job k can ask of x, or an upper bound of the optimum if that is
less. (D6) is ours and cuts off no solution: the last job at a resource waits for all others
there. Without it the relaxation hardly feels that jobs share anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.solver import relation
from models.splitting.instance import SplittingInstance
from models.splitting.layered_graph import LayeredGraph
from models.splitting.single_job import add_flow_conservation

__all__ = ["build_priority_ilp", "priority_order"]

HALF = 0.5
SLACK = 1e-9  # relative, so that a solution that attains the bound stays in


def build_priority_ilp(
    instance: SplittingInstance,
    graphs: Sequence[LayeredGraph],
    keep: Sequence[NDArray[np.bool_]],
    *,
    most: float,
    unit: float = 1.0,
) -> Any:
    """Build OPT.

    Parameters
    ----------
    instance : SplittingInstance
    graphs : sequence of LayeredGraph
        The jobs' layered graphs.
    keep : sequence of arrays of bool, shape (arcs,)
        The arcs of each job that get a variable.
    most : float
        An upper bound of the optimum [s], for the big M and as a bound of C.
    unit : float
        Seconds that count as 1; see `models.splitting.layered_graph.time_unit`.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``flow[j, a]`` (r), ``computes[j, u]`` (z), ``before[k, j]`` (p),
        ``ahead[j, k, x]`` (A), ``waiting[j, v]`` (W) and ``largest`` (C). A resource x is node x
        or link x - N; visits v are nodes u, and N + a for arcs.
    """
    model = pyo.ConcreteModel("priorities")
    jobs = range(len(graphs))
    model.graphs = graphs
    arcs = [(j, int(a)) for j in jobs for a in np.flatnonzero(keep[j])]
    model.flow = pyo.Var(arcs, domain=pyo.Binary)
    model.arcs = pyo.Set(initialize=[(j, a) for j, a in arcs if graphs[j].node[a] >= 0])
    places = sorted({(j, int(graphs[j].node[a])) for j, a in model.arcs})
    model.computes = pyo.Var(places, domain=pyo.Binary)
    model.before = pyo.Var(list(itertools.permutations(jobs, 2)), domain=pyo.Binary)
    model.largest = pyo.Var(bounds=(0.0, most / unit * (1 + SLACK)))
    model.cost = pyo.Objective(expr=model.largest)

    visits = _visits(model)
    asked, limit = _asked(model, most, unit)
    pairs = sorted(
        {(j, k, x) for j, _, x in visits for k in jobs if k != j and limit.get((k, x), 0.0) > 0}
    )
    met: dict[tuple[int, int], list[int]] = {}
    for j, k, x in pairs:
        met.setdefault((j, x), []).append(k)
    model.ahead = pyo.Var(pairs, domain=pyo.NonNegativeReals)
    waits = {(j, v): x for j, v, x in visits if (j, x) in met}
    model.waiting = pyo.Var(list(waits), domain=pyo.NonNegativeReals)

    model.conservation = pyo.ConstraintList()
    for j, graph in enumerate(graphs):
        flow = [model.flow[j, a] if keep[j][a] else 0.0 for a in range(graph.arcs)]
        add_flow_conservation(model.conservation, graph, flow)
    _charged(model)
    _completes(model, instance, visits, unit)
    _waits(model, waits, met, limit)
    _goes_ahead(model, asked, limit)
    _ordered(model)
    _acyclic(model)
    _loaded(model, asked)
    return model


def _visits(model: Any) -> list[tuple[int, int, int]]:
    """Job, visit and resource, for all that a job may have to wait for."""
    found = []
    for j, u in model.computes:
        found.append((j, u, u))
    for j, a in model.flow:
        graph = model.graphs[j]
        if graph.link[a] >= 0:
            found.append((j, graph.nodes + a, graph.nodes + int(graph.link[a])))
    return found


def _visiting(model: Any, j: int, v: int) -> Any:
    """The variable y of a visit."""
    nodes = model.graphs[j].nodes
    return model.computes[j, v] if v < nodes else model.flow[j, v - nodes]


def _asked(
    model: Any, most: float, unit: float
) -> tuple[dict[tuple[int, int], Any], dict[tuple[int, int], float]]:
    """Per job and resource: w as an expression, and M; in units of time."""
    terms: dict[tuple[int, int], list[tuple[float, Any]]] = {}
    for (j, a), variable in model.flow.items():
        graph = model.graphs[j]
        x = int(graph.node[a]) if graph.node[a] >= 0 else graph.nodes + int(graph.link[a])
        seconds = float(graph.seconds[a]) / unit
        if seconds > 0:
            terms.setdefault((j, x), []).append((seconds, variable))
    asked = {key: pyo.quicksum(s * variable for s, variable in t) for key, t in terms.items()}
    limit = {key: min(sum(s for s, _ in t), most / unit) for key, t in terms.items()}
    return asked, limit


def _charged(model: Any) -> None:
    """A node that computes a layer is waited for (eq. 7)."""
    model.charged = pyo.Constraint(
        model.arcs,
        rule=lambda m, j, a: m.flow[j, a] <= m.computes[j, int(m.graphs[j].node[a])],
    )


def _completes(
    model: Any, instance: SplittingInstance, visits: Sequence[tuple[int, int, int]], unit: float
) -> None:
    """No job completes after C: service, the first queues and the jobs before it (D1)."""
    work = np.concatenate([instance.node_queue, instance.link_queue])
    rate = np.concatenate([instance.node_rate, instance.link_rate])
    queue = np.divide(work, rate * unit, out=np.zeros_like(work), where=rate > 0)
    terms: list[list[Any]] = [[] for _ in model.graphs]
    for (j, a), variable in model.flow.items():
        terms[j].append(float(model.graphs[j].seconds[a]) / unit * variable)
    for j, v, x in visits:
        terms[j].append(float(queue[x]) * _visiting(model, j, v))
    for j, v in model.waiting:
        terms[j].append(model.waiting[j, v])
    model.completes = pyo.ConstraintList()
    for parts in terms:
        model.completes.add(relation(model.largest >= pyo.quicksum(parts)))


def _waits(
    model: Any,
    waits: dict[tuple[int, int], int],
    met: dict[tuple[int, int], list[int]],
    limit: dict[tuple[int, int], float],
) -> None:
    """A visit waits for all jobs that go before at its resource (D2)."""

    def rule(m: Any, j: int, v: int) -> Any:
        x = waits[j, v]
        whole = sum(limit[k, x] for k in met[j, x])
        ahead = pyo.quicksum(m.ahead[j, k, x] for k in met[j, x])
        return m.waiting[j, v] >= ahead - whole * (1 - _visiting(m, j, v))

    model.waits = pyo.Constraint(list(waits), rule=rule)


def _goes_ahead(
    model: Any, asked: dict[tuple[int, int], Any], limit: dict[tuple[int, int], float]
) -> None:
    """A job that goes before puts there what it asks for (D3)."""
    model.goes_ahead = pyo.Constraint(
        list(model.ahead),
        rule=lambda m, j, k, x: (
            m.ahead[j, k, x] >= asked[k, x] - limit[k, x] * (1 - m.before[k, j])
        ),
    )


def _ordered(model: Any) -> None:
    """Of two jobs one goes before the other (D4)."""
    pairs = list(itertools.combinations(range(len(model.graphs)), 2))
    model.ordered = pyo.Constraint(pairs, rule=lambda m, j, k: m.before[j, k] + m.before[k, j] == 1)


def _acyclic(model: Any) -> None:
    """No three jobs go before each other in a ring (D5); then no more do."""
    rings = [
        ring
        for i, j, k in itertools.combinations(range(len(model.graphs)), 3)
        for ring in ((i, j, k), (i, k, j))
    ]
    model.acyclic = pyo.Constraint(
        rings, rule=lambda m, i, j, k: m.before[i, j] + m.before[j, k] + m.before[k, i] <= 2
    )


def _loaded(model: Any, asked: dict[tuple[int, int], Any]) -> None:
    """The last job at a resource waits for all others there (D6)."""
    shares: dict[int, list[Any]] = {}
    for (_, x), amount in asked.items():
        shares.setdefault(x, []).append(amount)
    model.loaded = pyo.ConstraintList()
    for x in sorted(shares):
        model.loaded.add(relation(model.largest >= pyo.quicksum(shares[x])))


def priority_order(before: dict[tuple[int, int], float], jobs: int) -> list[int]:
    """Jobs from the highest priority to the lowest, of values of ``before``."""
    ahead = [sum(before[k, j] > HALF for k in range(jobs) if k != j) for j in range(jobs)]
    return sorted(range(jobs), key=lambda j: (ahead[j], j))
