"""The network as a picture: kinds of nodes as markers, and the jobs' paths as bent arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

from experiments.drawing import FILLS, INK
from models.splitting import Route, SplittingInstance
from models.splitting.presets import BOARDS, board_of

__all__ = ["MARKERS", "draw_network", "job_look", "layout", "node_marker"]

MARKERS = {"OPZ": "o", "BAI": "D", "RP3": "s"}
"""As in the paper's Fig. 4; nodes of other rates are circles, unusable ones crosses."""

FILLED = "#F0E442"
COLOURS = [fill for fill in FILLS if fill not in (FILLED, "#BBBBBB")]  # links are grey
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1, 1, 1)))
MOST_NAMES = 60
LEGEND_JOBS = 25


def job_look(place: int) -> dict[str, Any]:
    """Colour and dashes of a job's path; colours repeat with other dashes."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place // len(COLOURS) % len(DASHES)],
    }


def node_marker(instance: SplittingInstance, node: int) -> str:
    """Marker of a node's kind."""
    rate = instance.nodes[node].rate
    return "X" if rate == 0 else MARKERS.get(board_of(rate) or "", "o")


def layout(instance: SplittingInstance) -> NDArray[np.float64]:
    """Places of the nodes in a unit square; the same network is always drawn the same."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(instance.number_of_nodes))
    graph.add_edges_from(zip(instance.link_start.tolist(), instance.link_end.tolist(), strict=True))
    if instance.number_of_nodes <= 200:
        found = networkx.kamada_kawai_layout(graph)
    else:
        found = networkx.spring_layout(graph, seed=0, iterations=30)
    places = np.array([found[u] for u in range(instance.number_of_nodes)], dtype=float)
    spread = np.ptp(places, axis=0)
    return (places - places.min(axis=0)) / np.where(spread > 0, spread, 1.0)


def draw_network(
    axes: Any,
    instance: SplittingInstance,
    routes: Sequence[Route],
    order: Sequence[int],
    *,
    places: NDArray[np.float64] | None = None,
    legend: bool = True,
    ends: bool = False,
) -> None:
    """Draw links, the paths of jobs and the nodes.

    Parameters
    ----------
    axes : matplotlib axes
    instance : SplittingInstance
    routes : sequence of Route
        One per job, or none.
    order : sequence of int
        Jobs whose paths are drawn, in the order of their colours.
    places : array, shape (nodes, 2), optional
        Where the nodes lie, in a unit square; otherwise they are laid out.
    legend : bool
        Say, if there are routes, which colour is which job, and where its layers are computed.
    ends : bool
        Mark every job's source and destination, in its colour.
    """
    if places is None:
        places = layout(instance)
    axes.set_axis_off()
    legend = legend and bool(routes) and len(order) > 0
    axes.set_xlim(-0.08, 1.3 if legend else 1.08)
    axes.set_ylim(-0.12, 1.1)
    _links(axes, instance, places)
    if routes:
        for place, job in enumerate(order):
            _path(axes, instance, routes[job], place, places)
    _nodes(axes, instance, routes, places)
    if ends:
        _ends(axes, instance, order, places)
    if legend:
        _legend(axes, instance, routes, order)


def _links(axes: Any, instance: SplittingInstance, places: NDArray[np.float64]) -> None:
    pairs = zip(instance.link_start.tolist(), instance.link_end.tolist(), strict=True)
    for u, v in sorted({(min(u, v), max(u, v)) for u, v in pairs}):
        axes.plot(*places[[u, v]].T, color="#DDDDDD", linewidth=0.9, zorder=1)


def _path(
    axes: Any, instance: SplittingInstance, route: Route, place: int, places: NDArray[np.float64]
) -> None:
    # Arcs bend differently from job to job, so that equal paths do not hide each other.
    bend = 0.06 + 0.05 * (place % 6)
    for link, _ in route.hops:
        axes.add_patch(
            FancyArrowPatch(
                places[instance.link_start[link]],
                places[instance.link_end[link]],
                connectionstyle=f"arc3,rad={bend}",
                arrowstyle="-|>",
                mutation_scale=7,
                linewidth=1.3,
                shrinkA=6,
                shrinkB=6,
                zorder=2,
                **job_look(place),
            )
        )


def _nodes(
    axes: Any, instance: SplittingInstance, routes: Sequence[Route], places: NDArray[np.float64]
) -> None:
    """Markers, larger for faster nodes; filled where a layer is computed."""
    computing = {u for route in routes for u in route.nodes}
    rates = np.where(np.isfinite(instance.node_rate), instance.node_rate, 0.0)
    fastest = max(float(rates.max(initial=0.0)), 1e-300)
    for u, node in enumerate(instance.nodes):
        share = 1.0 if math.isinf(instance.node_rate[u]) else rates[u] / fastest
        axes.scatter(
            *places[u],
            s=35 + 90 * share,
            color=FILLED if u in computing else "white",
            edgecolor=INK,
            linewidth=0.9,
            marker=node_marker(instance, u),
            zorder=3,
        )
        if instance.number_of_nodes <= MOST_NAMES:
            axes.annotate(node.name, places[u], ha="center", va="center", fontsize=5.5, zorder=4)
    axes.text(-0.06, -0.11, _explained(instance, bool(routes)), fontsize=6.2, va="bottom")


def _explained(instance: SplittingInstance, with_routes: bool) -> str:
    shapes = {"o": "circle", "D": "diamond", "s": "square"}
    known = {board_of(node.rate) for node in instance.nodes}
    kinds = ", ".join(
        f"{shapes[MARKERS[board.name]]} {board.name}" for board in BOARDS if board.name in known
    )
    words = f"{kinds[0].upper()}{kinds[1:]}; larger: faster" if kinds else "Larger: faster"
    if any(node.rate == 0 for node in instance.nodes):
        words += "; cross: rate 0"
    return words + ("; filled: computes a layer." if with_routes else ".")


def _ends(
    axes: Any, instance: SplittingInstance, order: Sequence[int], places: NDArray[np.float64]
) -> None:
    """Write s1, t1, ... beside the nodes; those of one node stand below each other."""
    taken: dict[int, int] = {}
    for place, job in enumerate(order):
        for letter, node in (("s", instance.source[job]), ("t", instance.destination[job])):
            u = int(node)
            axes.annotate(
                f"{letter}{job + 1}",
                places[u],
                xytext=(7, 4 - 7 * taken.get(u, 0)),
                textcoords="offset points",
                fontsize=7,
                fontweight="bold",
                color=job_look(place)["color"],
                zorder=5,
            )
            taken[u] = taken.get(u, 0) + 1


def _legend(
    axes: Any, instance: SplittingInstance, routes: Sequence[Route], order: Sequence[int]
) -> None:
    handles = [
        Line2D(
            [], [], label=f"{instance.jobs[j].name}: {_where(instance, routes[j])}", **job_look(p)
        )
        for p, j in enumerate(order[:LEGEND_JOBS])
    ]
    more = f" (first {LEGEND_JOBS})" if len(order) > LEGEND_JOBS else ""
    axes.legend(
        handles=handles,
        loc="upper right",
        frameon=False,
        fontsize=6.5,
        title="job: nodes that compute" + more,
        title_fontsize=7,
        handlelength=2.6,
    )


def _where(instance: SplittingInstance, route: Route) -> str:
    names: list[str] = []
    for u in route.nodes:
        if not names or names[-1] != instance.nodes[u].name:
            names.append(instance.nodes[u].name)
    text = " > ".join(names)
    return text if len(text) <= 28 else text[:25] + "..."
