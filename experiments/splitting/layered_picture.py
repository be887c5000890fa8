"""The layered graph in three dimensions: a copy of the network per layer, and the jobs' paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D  # noqa: F401 - registers the projection
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

from experiments.drawing import INK
from experiments.splitting.network_picture import job_look, node_marker
from models.splitting import Route, SplittingInstance

__all__ = ["add_layered_axes", "draw_layered", "path_points"]

SIZE = 9.0  # of markers
AWAY = 0.012  # by which paths stand beside each other


def add_layered_axes(figure: Figure, place: tuple[float, float, float, float]) -> Any:
    """Add axes for `draw_layered` to a figure."""
    axes = figure.add_axes(place, projection="3d")
    axes.set_axis_off()
    axes.patch.set_alpha(0.0)
    return axes


def path_points(instance: SplittingInstance, job: int, route: Route) -> list[tuple[int, int]]:
    """Vertices (layer, node) of a job's path through the layered graph, in order."""
    points = [(0, int(instance.source[job]))]
    hops = list(route.hops)
    for layer in range(instance.jobs[job].number_of_layers + 1):
        while hops and hops[0][1] == layer:
            link, _ = hops.pop(0)
            points.append((layer, int(instance.link_end[link])))
        if layer < len(route.nodes):
            points.append((layer + 1, route.nodes[layer]))
    return points


def draw_layered(
    axes: Any,
    instance: SplittingInstance,
    routes: Sequence[Route],
    order: Sequence[int],
    places: NDArray[np.float64],
) -> None:
    """Draw the layers 0..L from above to below, L that of the longest job shown, and the paths.

    A step straight down computes a layer, a step within a layer sends its output.

    Parameters
    ----------
    axes : matplotlib 3D axes
    instance : SplittingInstance
    routes : sequence of Route
        One per job, or none: then only the sources and destinations are marked.
    order : sequence of int
        Jobs shown, in the order of their colours.
    places : array, shape (nodes, 2)
        In a unit square.
    """
    depth = max((instance.jobs[j].number_of_layers for j in order), default=1)
    height = -np.arange(depth + 1) / depth
    _planes(axes, instance, places, height)
    taken: dict[tuple[int, int], int] = {}  # labels at a vertex, which stand beside each other
    for place, job in enumerate(order):
        color = job_look(place)["color"]
        if routes:
            _path(axes, path_points(instance, job, routes[job]), places, height, place)
        last = instance.jobs[job].number_of_layers
        for letter, node, layer in (
            ("s", int(instance.source[job]), 0),
            ("t", int(instance.destination[job]), last),
        ):
            x, y = places[node]
            nth = taken[layer, node] = taken.get((layer, node), -1) + 1
            axes.text(
                x + 0.03 + 0.06 * nth,
                y,
                height[layer] + 0.25 / depth,
                f"{letter}{job + 1}",
                fontsize=6.5,
                fontweight="bold",
                color=color,
            )
    axes.set_box_aspect((1.0, 1.0, min(0.4 + 0.13 * depth, 1.9)), zoom=1.25)
    axes.view_init(elev=22, azim=-70)


def _planes(
    axes: Any,
    instance: SplittingInstance,
    places: NDArray[np.float64],
    height: NDArray[np.float64],
) -> None:
    pairs = zip(instance.link_start.tolist(), instance.link_end.tolist(), strict=True)
    edges = sorted({(min(u, v), max(u, v)) for u, v in pairs})
    corners = [(-0.1, -0.1), (1.1, -0.1), (1.1, 1.1), (-0.1, 1.1)]
    sheets = [[(*corner, z) for corner in corners] for z in height.tolist()]
    axes.add_collection3d(Poly3DCollection(sheets, facecolors="#56B4E9", alpha=0.07))
    # One broken line per layer instead of a line per link: a file of half the size.
    gap = [np.nan, np.nan]
    broken = np.array([point for u, v in edges for point in (places[u], places[v], gap)])
    for z in height.tolist() if edges else []:
        axes.plot(*broken.T, np.full(len(broken), z), color="#BBBBBB", linewidth=0.4)
    for marker in sorted({node_marker(instance, u) for u in range(instance.number_of_nodes)}):
        chosen = [u for u in range(instance.number_of_nodes) if node_marker(instance, u) == marker]
        x, y = places[chosen].T
        for z in height.tolist():
            axes.scatter(
                x,
                y,
                np.full(len(chosen), z),
                marker=marker,
                s=SIZE,
                facecolor="white",
                edgecolor="#888888",
                linewidth=0.5,
                depthshade=False,
            )
    for layer, z in enumerate(height.tolist()):
        axes.text(0.0, -0.07, z, f"G_{layer}", fontsize=6, color=INK)


def _path(
    axes: Any,
    points: Sequence[tuple[int, int]],
    places: NDArray[np.float64],
    height: NDArray[np.float64],
    place: int,
) -> None:
    away = AWAY * (place - 2)
    line = np.array([(places[u, 0] + away, places[u, 1], height[layer]) for layer, u in points])
    axes.plot(*line.T, linewidth=1.5, **job_look(place))
    down = [k for k in range(1, len(points)) if points[k][0] > points[k - 1][0]]
    axes.scatter(*line[down].T, s=7, color=job_look(place)["color"], depthshade=False)
