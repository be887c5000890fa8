"""(1)-(5) and its LP relaxation over arcs, as printed, by HiGHS."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.splitting.exact.answer import SOUGHT, Answer, interval
from models.solver import Engine, SolverError, Status
from models.splitting import Route, SplittingInstance, service_time
from models.splitting.budgets import within_budgets
from models.splitting.layered_graph import LayeredGraph, layered_graph, time_unit
from models.splitting.service_ilp import build_service_ilp, kept_arcs, service_routes

__all__ = ["arc_relaxation", "solve_arcs"]

WIDE = 1e3
"""Arcs that take so many times a whole solution are dropped, and the program is solved again."""


def solve_arcs(
    instance: SplittingInstance,
    *,
    time_limit: float = 60.0,
    penalty: float = 0.0,
    graphs: Sequence[LayeredGraph] | None = None,
    keep: Sequence[NDArray[np.bool_]] | None = None,
    start: Sequence[Route] | None = None,
) -> Answer:
    """Find the routes of least total service time within the budgets.

    Parameters
    ----------
    instance : SplittingInstance
    time_limit : float
        Seconds of the solver.
    penalty : float
        Delta of the paper's remedy against cycles [s per arc]. With it the least time is not
        proved, only bounded.
    graphs, keep
        As in `build_service_ilp`.
    start : sequence of Route, optional
        A solution to start from.

    Returns
    -------
    Answer
        Without a penalty ever in a number of it.
    """
    if not instance.jobs:
        return interval(0.0, 0.0, [])
    if graphs is None:
        graphs = [layered_graph(instance, j) for j in range(instance.number_of_jobs)]
    for graph in graphs:
        if not graph.arcs:
            reason = f"job {instance.jobs[graph.job].name} has no route"
            return Answer("infeasible", math.inf, math.inf, reason=reason)
    if keep is None:
        keep = [kept_arcs(instance, graph) for graph in graphs]
    end = time.monotonic() + time_limit
    found = _solve(instance, time_limit, penalty, graphs, keep, start)
    while found.routes is not None and _dearest(graphs, keep) > WIDE * found.upper > 0:
        # Beside such times a solver takes others for nothing. None is in a better solution.
        most = found.upper
        keep = [kept & (g.seconds <= most) for g, kept in zip(graphs, keep, strict=True)]
        left = max(end - time.monotonic(), 0.0)
        again = _solve(instance, left, penalty, graphs, keep, found.routes)
        if again.routes is None or again.upper > most:
            return interval(again.lower, most, found.routes, counters=again.counters)
        found = again
    return found


def _dearest(graphs: Sequence[LayeredGraph], keep: Sequence[NDArray[np.bool_]]) -> float:
    """Most seconds of an arc that is kept."""
    return max(
        float(g.seconds[kept].max(initial=0.0)) for g, kept in zip(graphs, keep, strict=True)
    )


def _solve(
    instance: SplittingInstance,
    time_limit: float,
    penalty: float,
    graphs: Sequence[LayeredGraph],
    keep: Sequence[NDArray[np.bool_]],
    start: Sequence[Route] | None,
) -> Answer:
    """Solve over the arcs that are kept."""
    shortest = [_shortest(graph) for graph in graphs]
    unit = time_unit(max(shortest))
    model = build_service_ilp(instance, graphs=graphs, keep=keep, penalty=penalty, unit=unit)
    engine = Engine(model)
    if start is not None:
        engine.set_solution(_point(engine, model, start))
    result = engine.solve(time_limit=time_limit, mip_gap=SOUGHT, mip_gap_abs=1e-12)
    counters = {"mips": 1, "nodes": result.nodes, "iterations": result.iterations}
    if result.status is Status.INFEASIBLE:
        reason = "the budgets are too small"
        return Answer("infeasible", math.inf, math.inf, reason=reason, counters=counters)
    # The penalty is at least that of the shortest paths, so what is over it may be all penalty.
    lower = max(sum(shortest), 0.0)
    if math.isfinite(result.bound) and penalty == 0.0:
        lower = max(lower, result.bound * unit)
    routes, upper = None, math.inf
    if result.has_solution:
        try:
            found = service_routes(model, result)
        except (SolverError, ValueError):  # outside the tolerances
            found = None
        if found is not None and within_budgets(instance, found):
            routes = found
            upper = sum(service_time(instance, j, route) for j, route in enumerate(found))
    return interval(lower, upper, routes, counters=counters)


def arc_relaxation(instance: SplittingInstance, *, printed: bool = False) -> float:
    """Value of the LP relaxation of (1)-(5) [s], inf if it is infeasible.

    Parameters
    ----------
    instance : SplittingInstance
    printed : bool
        Keep the arcs that compute a layer which is over the node's budget by itself, as the
        paper does; the bound is then weaker.
    """
    if not instance.jobs:
        return 0.0
    graphs = [layered_graph(instance, j) for j in range(instance.number_of_jobs)]
    if not all(graph.arcs for graph in graphs):
        return math.inf
    unit = time_unit(max(_shortest(graph) for graph in graphs))
    keep = [np.ones(graph.arcs, dtype=bool) for graph in graphs] if printed else None
    model = build_service_ilp(instance, integer=False, graphs=graphs, keep=keep, unit=unit)
    result = Engine(model).solve()
    if result.status is Status.INFEASIBLE:
        return math.inf
    if result.status is not Status.OPTIMAL:
        raise SolverError(f"the relaxation ended as '{result.status}'")
    return result.objective * unit


def _shortest(graph: LayeredGraph) -> float:
    """Least service time of a job without budgets [s]."""
    import scipy.sparse
    from scipy.sparse.csgraph import dijkstra

    vertices = (graph.layers + 1) * graph.nodes
    pair = graph.tail * vertices + graph.head
    order = np.lexsort((graph.seconds, pair))
    first = order[np.diff(pair[order], prepend=-1) > 0]  # the faster one of parallel arcs
    table = scipy.sparse.csr_array(
        (graph.seconds[first], (graph.tail[first], graph.head[first])), shape=(vertices, vertices)
    )
    return float(dijkstra(table, indices=graph.source)[graph.destination])


def _point(engine: Engine, model: Any, routes: Sequence[Route]) -> NDArray[np.float64]:
    """A start point: the flow of routes, if they only use arcs that are in the model."""
    point = np.zeros(engine.program.costs.size)
    for j, (graph, route) in enumerate(zip(model.graphs, routes, strict=True)):
        computed = {(layer + 1, u) for layer, u in enumerate(route.nodes)}
        sent = {(layer, e) for e, layer in route.hops}
        taken = [
            (j, a)
            for a, (layer, e, u) in enumerate(
                zip(graph.layer.tolist(), graph.link.tolist(), graph.node.tolist(), strict=True)
            )
            if ((layer, e) in sent if e >= 0 else (layer, u) in computed)
        ]
        point[engine.columns(model.flow, [key for key in taken if key in model.flow])] = 1.0
    return point
