"""schedlab bench splitting: one job's route by several methods, and the whole greedy.

The same job behind the same queues is routed by all methods one after the other, so that a noisy
machine disturbs all of them alike. What the others can prepare (the compiled LP, their graph) is
not counted; ours are timed whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import networkx
import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import dijkstra

from algorithms.splitting import run
from algorithms.splitting.single.label_setting import ExactRouter
from algorithms.splitting.single.per_visit import PerVisitRouter
from models.solver import Engine
from models.splitting import Queues, SplittingInstance, routes_of
from models.splitting.generator import generate
from models.splitting.layered_graph import layered_graph, time_unit
from models.splitting.single_job import build_single_job, single_job_costs

__all__ = ["bench", "per_visit_arcs"]

NODES = (20, 50, 100)
MODELS = {8: "alexnet", 20: "mobilenetv2"}  # by number of layers
GREEDY = ((20, 10), (50, 30), (100, 100))  # nodes and jobs
REPEATS = 7
BUSY = 10  # jobs, whose work the routed job finds
AGREE = 1e-9


def bench(
    nodes: Sequence[int] = NODES, greedy: Sequence[tuple[int, int]] = GREEDY, seed: int = 0
) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Returns
    -------
    dict
        ``one_job`` (per size and method: median milliseconds, and those of the LP over them) and
        ``whole_greedy`` (per size: seconds of the lazy and the literal one, routes computed).

    Raises
    ------
    AssertionError
        If two methods disagree: then their times mean nothing.
    """
    run(generate(10, 2, seed=seed).instance, "greedy")  # compiles
    single: dict[str, Any] = {}
    for count in nodes:
        for layers, model in MODELS.items():
            instance = generate(count, BUSY + 1, models=[model], seed=seed).instance
            for method, seconds in _one_job(instance).items():
                single[f"N={count}, L={layers}, {method}"] = seconds
    whole = {}
    for count, jobs in greedy:
        whole[f"N={count}, J={jobs}"] = _greedy(generate(count, jobs, seed=seed).instance)
    return {"seed": seed, "repeats": REPEATS, "one_job": single, "whole_greedy": whole}


def _one_job(instance: SplittingInstance) -> dict[str, dict[str, float]]:
    """Route the last job behind the work of all others, as the greedy leaves it."""
    queues, last = Queues.initial(instance), instance.number_of_jobs - 1
    for job, route in enumerate(routes_of(instance, run(instance, "greedy").solution)[:last]):
        queues.add(instance, job, route)
    graph = layered_graph(instance, last)
    flow, node = single_job_costs(graph, instance, queues)
    unit = time_unit(float(flow.max() + node.max()))
    engine = Engine(build_single_job(graph, instance, queues, unit=unit))
    tail, head, cost, start, end = per_visit_arcs(instance, last, queues)
    table = scipy.sparse.csr_array((cost, (tail, head)))
    size = max(table.shape)
    table.resize((size, size))
    web = networkx.DiGraph()
    web.add_weighted_edges_from(zip(tail.tolist(), head.tolist(), cost.tolist(), strict=True))
    exact, fast = ExactRouter(instance), PerVisitRouter(instance)
    methods: dict[str, Callable[[], Any]] = {
        "LP by the engine": lambda: engine.solve("cold").objective * unit,
        "networkx": lambda: networkx.dijkstra_path_length(web, start, end),
        "scipy csgraph": lambda: float(dijkstra(table, indices=start)[end]),
        "ours, per visit": lambda: fast.route(last, queues),
        "ours, exact": lambda: exact.route(last, queues),
    }
    times: dict[str, list[float]] = {name: [] for name in methods}
    values: dict[str, Any] = {}
    for name in list(methods) * REPEATS:
        began = time.perf_counter()
        values[name] = methods[name]()
        times[name].append(1000 * (time.perf_counter() - began))
    charged, best = values["ours, per visit"].charged, values["ours, exact"].charged
    for name in ("networkx", "scipy csgraph"):
        if abs(values[name] - charged) > AGREE * charged:
            raise AssertionError(f"{name} disagrees: {values[name]} and {charged}")
    if not values["LP by the engine"] * (1 - 1e-6) <= best <= charged * (1 + AGREE):
        raise AssertionError("the LP is above the exact route, or that above the one per visit")
    medians = {name: float(np.median(measured)) for name, measured in times.items()}
    base = medians["LP by the engine"]
    return {name: {"ms": ms, "lp_over_it": base / ms} for name, ms in medians.items()}


def per_visit_arcs(
    instance: SplittingInstance, job: int, queues: Queues
) -> tuple[Any, Any, Any, int, int]:
    """The graph whose shortest path charges waiting per visit: tails, heads, costs, both ends.

    Vertex 2 v is vertex v of the layered graph, 2 v + 1 the same where its layer was computed.
    """
    graph = layered_graph(instance, job)
    send, work = graph.sending, graph.computing
    cost = graph.seconds + graph.link_waiting(queues)
    tails, heads = graph.tail, graph.head
    vertices = np.unique(heads[work])
    tail = np.concatenate([2 * tails[send], 2 * tails[work], 2 * tails[work] + 1, 2 * vertices + 1])
    head = np.concatenate([2 * heads[send], 2 * heads[work] + 1, 2 * heads[work] + 1, 2 * vertices])
    nodes = graph.node[work]
    first = cost[work] + queues.node[nodes] / instance.node_rate[nodes]
    costs = np.concatenate([cost[send], first, cost[work], np.zeros(len(vertices))])
    return tail, head, costs, 2 * graph.source, 2 * graph.destination


def _greedy(instance: SplittingInstance) -> dict[str, float]:
    found: dict[str, float] = {}
    objective = set()
    for method in ("lazy", "literal"):
        began = time.perf_counter()
        outcome = run(instance, "greedy", method=method)
        found[f"{method}_seconds"] = time.perf_counter() - began
        found[f"{method}_routes"] = outcome.counters["evaluations"]
        objective.add(outcome.solution.objective)
    if len(objective) > 1:
        raise AssertionError("the lazy and the literal greedy disagree")
    return found
