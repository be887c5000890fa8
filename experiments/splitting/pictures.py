"""A routing as a picture: the network with the jobs' paths, and when each job does what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch

from experiments.drawing import FILLS, INK, plain_style, save_figure
from models.splitting import Queues, Route, SplittingInstance, SplittingRouting, routes_of

__all__ = ["Step", "plot_routing", "steps_of"]

Doing = Literal["waiting", "sending", "computing"]
LOOKS: dict[Doing, tuple[str, str]] = {
    "waiting": ("#FFFFFF", "...."),
    "sending": ("#BBBBBB", ""),
    "computing": ("#0072B2", ""),
}
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1, 1, 1)))
MOST_NAMES = 60
MOST_LANES = 60
NAMED_WIDTH = 0.06  # of the time axis, for a layer's number in its bar


@dataclass(frozen=True)
class Step:
    """A part of a job's time in the fictitious system.

    Attributes
    ----------
    begin, end : float
        Seconds.
    doing : str
    layer : int
        The layer computed, or whose output is sent.
    """

    begin: float
    end: float
    doing: Doing
    layer: int


def steps_of(instance: SplittingInstance, job: int, route: Route, queues: Queues) -> list[Step]:
    """Split a job's completion time into waiting, sending and computing, in order.

    A node's waiting stands before the first layer that it computes, a link's before each
    traversal.
    """
    data = instance.jobs[job]
    steps: list[Step] = []
    now = 0.0

    def add(seconds: float, doing: Doing, layer: int) -> None:
        nonlocal now
        if seconds > 0:
            steps.append(Step(now, now + seconds, doing, layer))
            now += seconds

    hops = list(route.hops)
    waited: set[int] = set()
    for layer in range(data.number_of_layers + 1):
        if layer > 0:
            u = route.nodes[layer - 1]
            if u not in waited:
                add(float(queues.node[u] / instance.node_rate[u]), "waiting", layer)
                waited.add(u)
            add(float(data.compute[layer - 1] / instance.node_rate[u]), "computing", layer)
        while hops and hops[0][1] == layer:
            link, _ = hops.pop(0)
            add(float(queues.link[link] / instance.link_rate[link]), "waiting", layer)
            add(float(data.data[layer] / instance.link_rate[link]), "sending", layer)
    return steps


def plot_routing(instance: SplittingInstance, routing: SplittingRouting, path: str | Path) -> None:
    """Draw a routing: the network with the paths, and a lane per job below.

    Parameters
    ----------
    instance : SplittingInstance
    routing : SplittingRouting
    path : str or Path
        Ends in .png or .svg.

    Raises
    ------
    InputError
        If the routing is not one of this instance, or the path has another ending.
    """
    routes = routes_of(instance, routing)
    order = _order(instance, routing)
    lanes = len(order)
    with plain_style():
        low = min(max(0.9 + 0.2 * lanes, 1.6), 12.0)
        figure = Figure(figsize=(7.5, 4.6 + low))
        height = 4.6 + low
        network = figure.add_axes((0.02, (low + 0.25) / height, 0.96, 4.0 / height))
        timeline = figure.add_axes((0.12, 0.5 / height, 0.85, (low - 0.75) / height))
        _network(network, instance, routes, order)
        _timeline(timeline, instance, routes, order, routing)
        figure.text(0.02, 1 - 0.1 / height, _title(routing), fontsize=10, va="top", weight="bold")
    save_figure(figure, path)


def _title(routing: SplittingRouting) -> str:
    what = "largest completion" if routing.problem == "completion" else "total service"
    return f"{routing.policy}: {what} {routing.objective:.4g} s"


def _order(instance: SplittingInstance, routing: SplittingRouting) -> list[int]:
    """Jobs by priority, or as in the file where there are none."""
    place = {job.name: job.priority for job in routing.jobs}
    jobs = range(instance.number_of_jobs)
    if any(place[instance.jobs[j].name] is None for j in jobs):
        return list(jobs)
    return sorted(jobs, key=lambda j: (place[instance.jobs[j].name], j))


def _look(place: int) -> dict[str, Any]:
    """Colour and dashes of a job's path; colours repeat with other dashes."""
    return {
        "color": FILLS[1:][place % (len(FILLS) - 1)],
        "linestyle": DASHES[place // (len(FILLS) - 1) % len(DASHES)],
    }


def _positions(instance: SplittingInstance) -> np.ndarray:
    """Places of the nodes in a square; the same network is always drawn the same."""
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


def _network(
    axes: Any, instance: SplittingInstance, routes: Sequence[Route], order: Sequence[int]
) -> None:
    places = _positions(instance)
    axes.set_axis_off()
    axes.set_xlim(-0.08, 1.3)
    axes.set_ylim(-0.1, 1.1)
    for u, v in {
        (min(u, v), max(u, v))
        for u, v in zip(instance.link_start.tolist(), instance.link_end.tolist(), strict=True)
    }:
        axes.plot(*places[[u, v]].T, color="#EFEFEF", linewidth=1.0, zorder=1)
    for place, job in enumerate(order):
        # Arcs bend differently from job to job, so that equal paths do not hide each other.
        bend = 0.06 + 0.05 * (place % 6)
        for link, _ in routes[job].hops:
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
                    **_look(place),
                )
            )
    _nodes(axes, instance, routes, places)
    shown = list(order[:25])
    handles = [
        Line2D([], [], label=f"{instance.jobs[j].name}: {_where(instance, routes[j])}", **_look(p))
        for p, j in enumerate(shown)
    ]
    if handles:
        axes.legend(
            handles=handles,
            loc="upper right",
            frameon=False,
            fontsize=6.5,
            title="job: nodes that compute" + (" (first 25)" if len(order) > 25 else ""),
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


def _nodes(axes: Any, instance: SplittingInstance, routes: Sequence[Route], places: Any) -> None:
    """Circles, larger for faster nodes; filled where a layer is computed."""
    computing = {u for route in routes for u in route.nodes}
    rates = np.where(np.isfinite(instance.node_rate), instance.node_rate, 0.0)
    fastest = max(float(rates.max(initial=0.0)), 1e-300)
    for u, node in enumerate(instance.nodes):
        share = 1.0 if math.isinf(instance.node_rate[u]) else rates[u] / fastest
        axes.scatter(
            *places[u],
            s=35 + 110 * share,
            color="#F0E442" if u in computing else "white",
            edgecolor=INK,
            linewidth=1.0,
            marker="o" if instance.node_rate[u] > 0 else "X",
            zorder=3,
        )
        if instance.number_of_nodes <= MOST_NAMES:
            axes.annotate(node.name, places[u], ha="center", va="center", fontsize=6, zorder=4)
    axes.text(
        -0.06,
        -0.09,
        "Larger circle: faster node; filled: computes a layer; cross: rate 0. Grey: unused links.",
        fontsize=6.5,
        va="bottom",
    )


def _timeline(
    axes: Any,
    instance: SplittingInstance,
    routes: Sequence[Route],
    order: Sequence[int],
    routing: SplittingRouting,
) -> None:
    with_priorities = routing.problem == "completion"
    queues = Queues.initial(instance)
    if not with_priorities:  # service time alone: nobody waits
        queues = Queues(np.zeros_like(queues.node), np.zeros_like(queues.link))
    lanes: list[list[Step]] = []
    for job in order:
        lanes.append(steps_of(instance, job, routes[job], queues))
        if with_priorities:
            queues.add(instance, job, routes[job])
    longest = max((lane[-1].end for lane in lanes if lane), default=0.0) or 1.0
    for y, lane in enumerate(lanes[:MOST_LANES]):
        for step in lane:
            fill, hatch = LOOKS[step.doing]
            axes.barh(
                y,
                step.end - step.begin,
                left=step.begin,
                height=0.7,
                color=fill,
                hatch=hatch,
                edgecolor=INK,
                linewidth=0.4,
            )
            if step.doing == "computing" and step.end - step.begin > NAMED_WIDTH * longest:
                middle = (step.begin + step.end) / 2
                axes.text(
                    middle, y, str(step.layer), color="white", ha="center", va="center", fontsize=6
                )
    shown = min(len(order), MOST_LANES)
    axes.set_yticks(range(shown), [instance.jobs[j].name for j in order[:shown]], fontsize=6.5)
    axes.set_ylim(max(shown, 1) - 0.4, -0.6)
    axes.set_xlim(0, longest * 1.01)
    ranked = ", highest priority on top; fictitious system" if with_priorities else ""
    axes.set_xlabel(f"seconds{ranked}; numbers: layers", fontsize=7)
    handles = [
        Patch(facecolor=fill, hatch=hatch, edgecolor=INK, label=name)
        for name, (fill, hatch) in LOOKS.items()
    ]
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=3,
        frameon=False,
        fontsize=6.5,
        borderaxespad=0.1,
    )
