"""Nearest finishing server (appendix E, as rebuilt in splitting.md): a job on one node."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from algorithms.policy import NoSolution, Parameters, Policy, Run
from models.splitting import Queues, Route, SplittingInstance, build_routing

__all__ = ["NFS", "NfsParameters", "run_nfs"]


class NfsParameters(Parameters):
    """NFS has no parameters."""


def run_nfs(instance: SplittingInstance, parameters: NfsParameters, seed: int) -> Run:
    """Give the next priority to the job and node with the least (Q_u + sum c) / mu_u.

    All layers of a job are computed at its node; its data takes the paths that are shortest
    with waiting. Only nodes that are reached from the job's source and reach its destination
    count. Ties: the lower job, then the lower node.

    Parameters
    ----------
    instance : SplittingInstance
    parameters : NfsParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The routing; the log is the order of the jobs.

    Raises
    ------
    NoSolution
        Naming the first job without such a node.
    """
    del parameters, seed
    number = instance.number_of_jobs
    work = np.array([job.compute.sum() for job in instance.jobs])
    usable = np.zeros((number, instance.number_of_nodes), dtype=bool)
    forward, backward = _neighbours(instance, False), _neighbours(instance, True)
    for j in range(number):
        there = _reached(forward, int(instance.source[j]))
        back = _reached(backward, int(instance.destination[j]))
        usable[j] = there & back & (instance.node_rate > 0)
        if not usable[j].any():
            name = instance.jobs[j].name
            raise NoSolution(f"job {name} has no route from its source to its destination")
    queues = Queues.initial(instance)
    rate = np.where(instance.node_rate > 0, instance.node_rate, 1.0)
    order: list[int] = []
    routes: dict[int, Route] = {}
    for _ in range(number):
        finish = np.where(usable, (queues.node + work[:, np.newaxis]) / rate, np.inf)
        job, node = divmod(int(finish.argmin()), instance.number_of_nodes)
        layers = instance.jobs[job].number_of_layers
        hops = [
            *((e, 0) for e in _path(instance, queues, job, int(instance.source[job]), node, 0)),
            *(
                (e, layers)
                for e in _path(instance, queues, job, node, int(instance.destination[job]), layers)
            ),
        ]
        routes[job] = Route((node,) * layers, tuple(hops))
        order.append(job)
        usable[job] = False
        queues.add(instance, job, routes[job])
    routing = build_routing(instance, NFS.name, [routes[j] for j in range(number)], order)
    return Run(routing, tuple(order), {"paths": 2 * number})


def _neighbours(instance: SplittingInstance, backward: bool) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(instance.number_of_nodes)]
    for e in np.flatnonzero(instance.link_rate > 0).tolist():
        u, v = int(instance.link_start[e]), int(instance.link_end[e])
        if backward:
            u, v = v, u
        found[u].append(v)
    return found


def _reached(neighbours: list[list[int]], root: int) -> NDArray[np.bool_]:
    seen = np.zeros(len(neighbours), dtype=bool)
    seen[root] = True
    stack = [root]
    while stack:
        for v in neighbours[stack.pop()]:
            if not seen[v]:
                seen[v] = True
                stack.append(v)
    return seen


def _path(
    instance: SplittingInstance, queues: Queues, job: int, start: int, end: int, layer: int
) -> list[int]:
    """Links of the path with the least sending and waiting for a layer's output."""
    size = float(instance.jobs[job].data[layer])
    seconds = np.full(instance.number_of_links, np.inf)
    usable = instance.link_rate > 0
    seconds[usable] = (size + queues.link[usable]) / instance.link_rate[usable]
    leaving: list[list[int]] = [[] for _ in range(instance.number_of_nodes)]
    for link in np.flatnonzero(usable).tolist():
        leaving[int(instance.link_start[link])].append(link)
    best = {start: 0.0}
    via: dict[int, int] = {}
    heap = [(0.0, start)]
    done: set[int] = set()
    while heap:
        distance, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        if u == end:
            break
        for e in leaving[u]:
            v = int(instance.link_end[e])
            if distance + seconds[e] < best.get(v, np.inf):
                best[v] = float(distance + seconds[e])
                via[v] = e
                heapq.heappush(heap, (best[v], v))
    path: list[int] = []
    while end != start:
        path.append(via[end])
        end = int(instance.link_start[via[end]])
    return path[::-1]


NFS = Policy(
    name="nfs",
    summary="nearest finishing server: all layers of a job on the node that is done first",
    parameters=NfsParameters,
    run=run_nfs,
    counters={"paths": "shortest paths computed"},
)
