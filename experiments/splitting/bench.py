"""schedlab bench splitting: one job's route by several methods, whole greedies, relaxations.

The same job behind the same queues is routed by all methods one after the other, so that a noisy
machine disturbs all of them alike, and processor time is counted, not what others take meanwhile.
What the others can prepare (the compiled LP, their graph) is not counted; ours are timed whole.
The LP is also timed as it is used when a job comes up for the first time: with making the model
and handing it to the engine.
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
from experiments.side_by_side import ratio
from experiments.splitting.bench_whole import columns_against_arcs, greedy, large_greedy
from models.solver import Engine
from models.splitting import Queues, SplittingInstance, routes_of
from models.splitting.generator import generate
from models.splitting.layered_graph import layered_graph, time_unit
from models.splitting.single_job import build_single_job, single_job_costs

__all__ = ["bench", "per_visit_arcs"]

NODES = (20, 50, 100)
MODELS = {8: "alexnet", 20: "mobilenetv2"}  # by number of layers
GREEDY = ((20, 10), (50, 30), (100, 100))  # nodes and jobs
LARGE = ((1000, 1000),)
COLUMNS = ((50, 20), (100, 40))
REPEATS = 10
BUSY = 10  # jobs, whose work the routed job finds
AGREE = 1e-9


def bench(
    nodes: Sequence[int] = NODES,
    small: Sequence[tuple[int, int]] = GREEDY,
    large: Sequence[tuple[int, int]] = LARGE,
    columns: Sequence[tuple[int, int]] = COLUMNS,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Parameters
    ----------
    nodes : sequence of int
        Sizes of the network for one job's route.
    small, large, columns : sequences of (nodes, jobs)
        Sizes for the greedies, lazy and literal; for the lazy greedy with its memory; for column
        generation against the arc LP.
    seed : int

    Returns
    -------
    dict
        ``one_job`` (per size: median milliseconds of each method, and how many times the exact
        search the LP's solve takes), ``whole_greedy``, ``large_greedy`` and ``relaxation``; see
        `experiments.splitting.bench_whole`.

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
            single[f"N={count}, L={layers}"] = _one_job(instance)
    return {
        "seed": seed,
        "repeats": REPEATS,
        "one_job": single,
        "whole_greedy": {
            f"N={n}, J={j}": greedy(generate(n, j, seed=seed).instance) for n, j in small
        },
        "large_greedy": {f"N={n}, J={j}": large_greedy(n, j, seed) for n, j in large},
        "relaxation": {f"N={n}, J={j}": columns_against_arcs(n, j, seed) for n, j in columns},
    }


def _one_job(instance: SplittingInstance) -> dict[str, float]:
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

    def handed_over() -> float:
        graph = layered_graph(instance, last)
        return Engine(build_single_job(graph, instance, queues, unit=unit)).solve().objective * unit

    methods: dict[str, Callable[[], Any]] = {
        "lp": lambda: engine.solve("cold").objective * unit,
        "lp_with_making": handed_over,
        "networkx": lambda: networkx.dijkstra_path_length(web, start, end),
        "scipy": lambda: float(dijkstra(table, indices=start)[end]),
        "per_visit": lambda: fast.route(last, queues),
        "exact": lambda: exact.route(last, queues),
    }
    times: dict[str, list[float]] = {name: [] for name in methods}
    values: dict[str, Any] = {}
    for turn in range(REPEATS):  # to and fro: who comes second finds the memory warm
        for name in list(methods)[:: 1 if turn % 2 == 0 else -1]:
            began = time.process_time()
            values[name] = methods[name]()
            times[name].append(1000 * (time.process_time() - began))
    charged, best = values["per_visit"].charged, values["exact"].charged
    for name in ("networkx", "scipy"):
        if abs(values[name] - charged) > AGREE * charged:
            raise AssertionError(f"{name} disagrees: {values[name]} and {charged}")
    if not values["lp"] * (1 - 1e-6) <= best <= charged * (1 + AGREE):
        raise AssertionError("the LP is above the exact route, or that above the one per visit")
    medians = {f"{name}_ms": float(np.median(measured)) for name, measured in times.items()}
    return {**medians, **ratio("lp_over_exact", times["lp"], times["exact"])}


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
