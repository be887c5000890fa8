"""Random points in a square that are connected when close ones are joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from models.files import InputError

__all__ = ["PointNetwork", "draw_points"]

# Bounds of the search for a connected network, in counts: 1000 draws of 1000 points take
# seconds. With the default side and radius 1 in 250 draws succeeds at the worst, 10 points.
MOST_POINTS = 1_000_000  # drawn in all
FEWEST_DRAWS, MOST_DRAWS = 100, 100_000
MOST_PAIRS = 2_000_000


@dataclass(frozen=True)
class PointNetwork:
    """Points and which of them are joined.

    Attributes
    ----------
    positions : array, shape (points, 2)
        Coordinates in the square [m].
    pairs : array, shape (pairs, 2)
        Indices u < v of points closer than the radius, ascending.
    redraws : int
        Sets of points thrown away before because they were not connected.
    """

    positions: NDArray[np.float64]
    pairs: NDArray[np.int64]
    redraws: int


def draw_points(number: int, side: float, radius: float, rng: np.random.Generator) -> PointNetwork:
    """Draw points uniformly in a square until the network of close ones is connected.

    Parameters
    ----------
    number : int
        At least 1.
    side, radius : float
        Side of the square and largest distance of joined points (exclusive) [m].
    rng : Generator

    Raises
    ------
    InputError
        If no connected network is found within a fixed number of draws, or a network has more
        than two million pairs.
    """
    draws = min(max(MOST_POINTS // number, FEWEST_DRAWS), MOST_DRAWS)
    for redraws in range(draws):
        positions = rng.random((number, 2)) * side
        pairs = _close_pairs(positions, radius)
        if _connected(number, pairs):
            return PointNetwork(positions, pairs, redraws)
    raise InputError(
        f"in {draws} draws of {number} points in a square of side {side:g} none was connected; "
        "a larger radius or a smaller side is needed",
        field="radius",
        value=radius,
    )


def _close_pairs(positions: NDArray[np.float64], radius: float) -> NDArray[np.int64]:
    tree = KDTree(positions)
    found = (int(tree.count_neighbors(tree, radius)) - len(positions)) // 2
    if found > MOST_PAIRS:
        raise InputError(
            f"joins {found} pairs of points, more than {MOST_PAIRS}; "
            "a smaller radius or a larger side is needed",
            field="radius",
            value=radius,
        )
    pairs = tree.query_pairs(radius, output_type="ndarray").astype(np.int64).reshape(-1, 2)
    apart = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
    pairs = np.sort(pairs[apart < radius], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _connected(number: int, pairs: NDArray[np.int64]) -> bool:
    if len(pairs) < number - 1:
        return False
    joined = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(number, number))
    count, _ = connected_components(joined, directed=False)
    return bool(count == 1)
