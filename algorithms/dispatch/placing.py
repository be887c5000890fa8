"""Compiled: units of jobs on nodes, in the order of a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.compiled import compiled

__all__ = ["GRAIN", "add_job", "fullness", "place", "place_on_empty", "sit", "sort_nodes"]

GRAIN = 1e-9
"""Of a node's fullness: what rounding makes of equal nodes stays equal."""


@compiled
def fullness(problem: Any, left: Any, n: int, sign: float) -> float:
    """Sum of free/capacity over the node's own resources, in grains, times the sign."""
    total = 0.0
    for r in range(left.shape[1]):
        capacity = problem.capacity[n, r]
        if capacity > 0.0:
            total += (left[n, r] - problem.limit[n, r] + capacity) / capacity
    return np.round(sign * total / GRAIN)


@compiled
def sort_nodes(order: Any, key: Any) -> None:
    """Sort nodes by key, then file; by insertion, since only a few have changed."""
    for i in range(1, len(order)):
        n = order[i]
        k = i - 1
        while k >= 0 and (key[order[k]] > key[n] or (key[order[k]] == key[n] and order[k] > n)):
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = n


@compiled
def add_job(problem: Any, left: Any, unit_node: Any, j: int, sign: float) -> None:
    """Give back what job j takes on its nodes, or take it (sign -1)."""
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        for r in range(left.shape[1]):
            left[unit_node[u], r] += sign * problem.unit_demand[u, r]


@compiled
def place(
    problem: Any, left: Any, nodes: Any, j: int, unit_node: Any, hopeless: Any, stamp: int
) -> bool:
    """Put each unit on the first node where it fits; all units or none.

    A class of units that fits nowhere is `hopeless` for as long as the stamp is the same; one
    below zero is none.
    """
    first, last = problem.unit_first[j], problem.unit_first[j + 1]
    if stamp >= 0:
        for u in range(first, last):
            if hopeless[problem.unit_class[u]] == stamp:
                return False
    for u in range(first, last):
        found = -1
        for n in nodes:
            fits = True
            for r in range(left.shape[1]):
                if problem.unit_demand[u, r] > left[n, r]:
                    fits = False
                    break
            if fits:
                found = n
                break
        if found < 0:
            if u == first and stamp >= 0:
                hopeless[problem.unit_class[u]] = stamp
            for v in range(first, u):
                for r in range(left.shape[1]):
                    left[unit_node[v], r] += problem.unit_demand[v, r]
            return False
        unit_node[u] = found
        for r in range(left.shape[1]):
            left[found, r] -= problem.unit_demand[u, r]
    return True


@compiled
def sit(problem: Any, unit_node: Any, seat: Any, j: int) -> None:
    """Let the units of job j have the nodes that are kept for them."""
    for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
        unit_node[u] = seat[u]


@compiled
def place_on_empty(problem: Any, j: int, unit_node: Any, sign: float) -> bool:
    """Whether the order of nodes places job j alone."""
    none = np.empty(0, np.int64)
    nodes = np.arange(problem.limit.shape[0])
    key = np.empty(len(nodes))
    for n in range(len(nodes)):
        key[n] = fullness(problem, problem.limit, n, sign)
    sort_nodes(nodes, key)
    return place(problem, problem.limit.copy(), nodes, j, unit_node, none, -1)
