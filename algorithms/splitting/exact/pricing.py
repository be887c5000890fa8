"""Layered shortest paths with prices at the nodes, compiled.

All jobs lie one after the other: job j's layers are the rows first[j]..first[j + 1] - 1 of a table
with what computing a layer at a node costs (inf where it may not be computed there), and its
data sizes d_0..d_L the entries first[j] + j onwards of another.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["best_placements", "cost_to_go", "placements_within"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def cost_to_go(costs: Floats, data: Floats, distance: Floats, destination: int) -> Floats:
    """Least cost from a layer's node to the end of one job.

    Parameters
    ----------
    costs : array, shape (L, nodes)
    data : array, shape (L + 1,)
    distance : array, shape (nodes, nodes)
        Cost per byte between nodes.
    destination : int

    Returns
    -------
    array, shape (L, nodes)
        Entry [l, u]: layer l + 1 is computed at u, all that follows as well as it can be.
    """
    layers, nodes = costs.shape
    rest = np.full((layers, nodes), np.inf)
    for u in range(nodes):
        if distance[u, destination] < np.inf:
            rest[layers - 1, u] = costs[layers - 1, u] + data[layers] * distance[u, destination]
    for layer in range(layers - 2, -1, -1):
        for u in range(nodes):
            if costs[layer, u] == np.inf:
                continue
            best = np.inf
            for v in range(nodes):
                if distance[u, v] < np.inf:
                    value = data[layer + 1] * distance[u, v] + rest[layer + 1, v]
                    best = min(best, value)
            rest[layer, u] = costs[layer, u] + best
    return rest


@njit(cache=True)
def best_placements(
    costs: Floats,
    data: Floats,
    first: Ints,
    distance: Floats,
    source: Ints,
    destination: Ints,
) -> tuple[Floats, Ints]:
    """Cheapest placement of every job.

    Returns
    -------
    values : array, shape (jobs,)
        inf for a job that has none.
    placements : array of int, shape (layers of all jobs,)
        Ties go to the lower node index, from the first layer on.
    """
    jobs = len(source)
    values = np.full(jobs, np.inf)
    placements = np.zeros(first[jobs], dtype=np.int64)
    for j in range(jobs):
        begin, end = first[j], first[j + 1]
        sizes = data[begin + j : end + j + 1]
        rest = cost_to_go(costs[begin:end], sizes, distance, destination[j])
        place = source[j]
        for layer in range(end - begin):
            best, chosen = np.inf, -1
            for v in range(costs.shape[1]):
                if distance[place, v] < np.inf:
                    value = sizes[layer] * distance[place, v] + rest[layer, v]
                    if value < best:
                        best, chosen = value, v
            if chosen < 0:
                break
            if layer == 0:
                values[j] = best
            placements[begin + layer] = chosen
            place = chosen
    return values, placements


@njit(cache=True)
def placements_within(
    costs: Floats,
    data: Floats,
    distance: Floats,
    source: int,
    destination: int,
    limit: float,
    most: int,
) -> tuple[int, Ints]:
    """All placements of one job that cost no more than a limit.

    Returns
    -------
    count : int
        `most` + 1 if there are more than that.
    placements : array of int, shape (count, L)
    """
    layers, nodes = costs.shape
    rest = cost_to_go(costs, data, distance, destination)
    found = np.zeros((most, layers), dtype=np.int64)
    count = 0
    place = np.zeros(layers + 1, dtype=np.int64)  # node before each layer
    place[0] = source
    so_far = np.zeros(layers + 1)
    following = np.zeros(layers, dtype=np.int64)  # next node to try for each layer
    layer = 0
    while layer >= 0:
        if layer == layers:
            if count == most:
                return most + 1, found
            found[count] = place[1:]
            count += 1
            layer -= 1
            continue
        moved = False
        while following[layer] < nodes:
            v = following[layer]
            following[layer] += 1
            way = distance[place[layer], v]
            if way == np.inf or rest[layer, v] == np.inf:
                continue
            before = so_far[layer] + data[layer] * way
            if before + rest[layer, v] <= limit:
                so_far[layer + 1] = before + costs[layer, v]
                place[layer + 1] = v
                layer += 1
                if layer < layers:
                    following[layer] = 0
                moved = True
                break
        if not moved:
            layer -= 1
    return count, found[:count]
