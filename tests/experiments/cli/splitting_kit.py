"""Splitting on the command line for tests: small files, and policies that need no algorithms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import networkx

from algorithms.policy import NoSolution, Parameters, Policy, Run
from experiments.cli.families import Family
from experiments.cli.splitting import SPLITTING
from models.splitting import Route, SplittingInstance, build_routing
from models.splitting.reach import usable_nodes, why_unroutable


def content(**changes: Any) -> dict[str, Any]:
    """An instance file: a ring a -> b -> c -> a, a slow node, two jobs."""
    layers = [{"compute": 10, "output": 4, "memory": 3}, {"compute": 6, "output": 2, "memory": 2}]
    base: dict[str, Any] = {
        "kind": "splitting",
        "version": 1,
        "nodes": [
            {"name": "a", "rate": 2.0, "queue": 4.0, "compute_budget": 50, "memory": 8},
            {"name": "b", "rate": None},
            {"name": "c", "rate": 0},
        ],
        "links": [
            {"name": "ab", "from": "a", "to": "b", "rate": 5.0, "queue": 1.0},
            {"name": "bc", "from": "b", "to": "c", "rate": 4},
            {"name": "ca", "from": "c", "to": "a", "rate": None},
        ],
        "jobs": [
            {"name": "j0", "source": "a", "destination": "c", "input": 20, "layers": layers},
            {"name": "j1", "source": "b", "destination": "b", "input": 1.5, "layers": layers[:1]},
        ],
    }
    return base | changes


def stay_at_home(instance: SplittingInstance, order: bool) -> Run:
    """All layers of a job at its source, else at the first usable node; fewest hops."""
    for job, why in zip(instance.jobs, why_unroutable(instance), strict=True):
        if why is not None:
            raise NoSolution(f"job {job.name}: {why}")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(instance.number_of_nodes))
    for e, (u, v) in enumerate(zip(instance.link_start, instance.link_end, strict=True)):
        if instance.link_rate[e] > 0:
            graph.add_edge(int(u), int(v), link=e)

    def hops(source: int, target: int, layer: int) -> list[tuple[int, int]]:
        path: Sequence[int] = networkx.shortest_path(graph, source, target)
        return [(graph.edges[pair]["link"], layer) for pair in itertools.pairwise(path)]

    routes = []
    for j, usable in enumerate(usable_nodes(instance)):
        source, last = int(instance.source[j]), instance.jobs[j].number_of_layers
        u = source if usable[source] else int(usable.argmax())
        way = [*hops(source, u, 0), *hops(u, int(instance.destination[j]), last)]
        routes.append(Route((u,) * last, tuple(way)))
    jobs = range(instance.number_of_jobs) if order else None
    return Run(build_routing(instance, "first", routes, jobs), counters={"paths": 2 * len(routes)})


STUBS = {
    "first": Policy(
        "first",
        "all layers at one node",
        Parameters,
        lambda instance, _parameters, _seed: stay_at_home(instance, True),
    ),
    "first-service": Policy(
        "first-service",
        "the same, without priorities",
        Parameters,
        lambda instance, _parameters, _seed: stay_at_home(instance, False),
    ),
}
FAMILY: Family = replace(SPLITTING, policies=lambda: STUBS)
