"""Which jobs can be routed at all, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.splitting.instance import SplittingInstance

__all__ = ["usable_nodes", "why_over_budget", "why_unroutable"]

RELATIVE = 1e-6  # as the audit's
ABSOLUTE = 1e-12


def why_unroutable(instance: SplittingInstance) -> list[str | None]:
    """Say for each job why it has no route, or None if it has one.

    A job has a route if some node that computes (rate above 0) is reached from its source over
    usable links (rate above 0) and reaches its destination: all layers can be computed there.

    Returns
    -------
    list of str or None
        One per job, budgets not considered.
    """
    return [
        None if usable.any() else _why(instance, j, usable_links)
        for j, (usable, usable_links) in enumerate(_usable(instance))
    ]


def usable_nodes(instance: SplittingInstance) -> NDArray[np.bool_]:
    """Nodes at which a job's layers can be computed on some route, shape (jobs, nodes)."""
    rows = [usable for usable, _ in _usable(instance)]
    return np.array(rows, dtype=bool).reshape(instance.number_of_jobs, instance.number_of_nodes)


def why_over_budget(instance: SplittingInstance) -> list[str | None]:
    """Say for each job which layer fits no node's budgets, as far as one layer alone tells.

    None does not promise that all jobs fit together.
    """
    with np.errstate(over="ignore"):  # the largest of budgets is then infinite
        compute = instance.compute_budget * (1 + RELATIVE) + ABSOLUTE
        memory = instance.memory_budget * (1 + RELATIVE) + ABSOLUTE
    reasons: list[str | None] = []
    for j, usable in enumerate(usable_nodes(instance)):
        job = instance.jobs[j]
        reason = None
        for k, layer in enumerate(job.layers):
            fits = (layer.compute <= compute) & (layer.memory <= memory)
            if usable.any() and not (usable & fits).any():
                reason = (
                    f"layer {k + 1} ({layer.compute:g} operations, {layer.memory:g} bytes) is over "
                    "the budgets of every node that it can be computed at"
                )
                break
        reasons.append(reason)
    return reasons


def _usable(instance: SplittingInstance) -> list[tuple[NDArray[np.bool_], bool]]:
    """Per job: the nodes that can compute it, and whether its destination is reached at all."""
    forward = _neighbours(instance, instance.link_start, instance.link_end)
    backward = _neighbours(instance, instance.link_end, instance.link_start)
    computes = instance.node_rate > 0
    reached: dict[int, NDArray[np.bool_]] = {}
    reaching: dict[int, NDArray[np.bool_]] = {}
    found = []
    for s, t in zip(instance.source.tolist(), instance.destination.tolist(), strict=True):
        if s not in reached:
            reached[s] = _search(forward, s)
        if t not in reaching:
            reaching[t] = _search(backward, t)
        found.append((reached[s] & reaching[t] & computes, bool(reached[s][t])))
    return found


def _neighbours(
    instance: SplittingInstance, tails: NDArray[np.int64], heads: NDArray[np.int64]
) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in instance.nodes]
    usable = instance.link_rate > 0
    for tail, head in zip(tails[usable].tolist(), heads[usable].tolist(), strict=True):
        lists[tail].append(head)
    return lists


def _search(neighbours: Sequence[Sequence[int]], root: int) -> NDArray[np.bool_]:
    seen = np.zeros(len(neighbours), dtype=bool)
    seen[root] = True
    stack = [root]
    while stack:
        for node in neighbours[stack.pop()]:
            if not seen[node]:
                seen[node] = True
                stack.append(node)
    return seen


def _why(instance: SplittingInstance, job: int, connected: bool) -> str:
    source, destination = instance.jobs[job].source, instance.jobs[job].destination
    if not connected:
        return f"no path of usable links leads from {source} to {destination}"
    if (instance.node_rate > 0).any():
        return f"no node that computes lies on a path from {source} to {destination}"
    return "no node computes: all rates are 0"
