"""Pictures of a routing: the network with the paths, the layered graph, and who does what when."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from matplotlib.figure import Figure

from algorithms.splitting.simulation import simulate
from experiments.drawing import plain_style, save_figure
from experiments.splitting.layered_picture import add_layered_axes, draw_layered
from experiments.splitting.network_picture import draw_network, layout
from experiments.splitting.timeline_picture import draw_lanes, fictitious_lanes, real_lanes
from models.files import InputError
from models.splitting import Route, SplittingInstance, SplittingRouting, audit, routes_of

__all__ = ["KINDS", "Kind", "draw_picture", "order_of", "plot_routing"]

Kind = Literal["network", "layered", "timeline"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_LAYERED = 60  # nodes
FICTITIOUS = "seconds, highest priority on top; numbers: layers"


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
        If the routing is not one of this instance or its paths are broken, or the path has
        another ending.
    """
    routes, order = _routes(instance, routing), order_of(instance, routing)
    with plain_style():
        low = _lane_height(len(order))
        height = 4.6 + low
        figure = Figure(figsize=(7.5, height))
        network = figure.add_axes((0.02, (low + 0.25) / height, 0.96, 4.0 / height))
        timeline = figure.add_axes((0.12, 0.5 / height, 0.85, (low - 0.75) / height))
        draw_network(network, instance, routes, order)
        _fictitious(timeline, instance, routing, routes, order)
        figure.text(0.02, 1 - 0.1 / height, _title(routing), fontsize=10, va="top", weight="bold")
    save_figure(figure, path)


def draw_picture(
    kind: Kind,
    instance: SplittingInstance,
    routing: SplittingRouting | None,
    path: str | Path,
    *,
    jobs: Sequence[str] = (),
) -> None:
    """Draw one kind of picture alone.

    Parameters
    ----------
    kind : {"network", "layered", "timeline"}
        The network with the paths; the layered graph with the paths, in three dimensions; a lane
        per job of computing, sending and waiting, in the fictitious system and, below it, in the
        real network with preemptive priorities.
    instance : SplittingInstance
    routing : SplittingRouting, optional
        Without it there are no paths, but sources and destinations; a timeline needs it.
    path : str or Path
        Ends in .png or .svg.
    jobs : sequence of str
        Names of those to show; all (layered: the first 5) by default.

    Raises
    ------
    InputError
        If the routing is not one of this instance, a job is unknown, the network is too large for
        the layered graph, or the path has another ending.
    """
    routes = [] if routing is None else _routes(instance, routing)
    everything = (
        list(range(instance.number_of_jobs)) if routing is None else order_of(instance, routing)
    )
    chosen = _chosen(instance, everything, jobs)
    with plain_style():
        if kind == "timeline":
            figure = _timelines(instance, routing, routes, everything, chosen)
        else:
            figure = Figure(figsize=(7.5, 5.0 if kind == "network" else 8.0))
            if kind == "network":
                axes = figure.add_axes((0.02, 0.02, 0.96, 0.9))
                draw_network(axes, instance, routes, chosen, ends=routing is None)
            else:
                _layered(figure, instance, routes, chosen if jobs else sorted(chosen)[:5])
        title = "without a routing" if routing is None else _title(routing)
        height = float(figure.get_size_inches()[1])
        figure.text(0.02, 1 - 0.1 / height, title, fontsize=10, va="top", weight="bold")
    save_figure(figure, path)


def order_of(instance: SplittingInstance, routing: SplittingRouting) -> list[int]:
    """Return the jobs by priority, or as in the file where there are none."""
    place = {job.name: job.priority for job in routing.jobs}
    jobs = range(instance.number_of_jobs)
    if any(place[instance.jobs[j].name] is None for j in jobs):
        return list(jobs)
    return sorted(jobs, key=lambda j: (place[instance.jobs[j].name], j))


def _routes(instance: SplittingInstance, routing: SplittingRouting) -> list[Route]:
    """Return the routes, if jobs can take them; budgets may be broken."""
    routes = routes_of(instance, routing)
    for violation in audit(instance, routing).violations:
        if violation.constraint in ("path", "layers"):
            rule = f"cannot be drawn: {violation.constraint}: {violation.where}"
            raise InputError(rule)
    return routes


def _chosen(
    instance: SplittingInstance, everything: Sequence[int], names: Sequence[str]
) -> list[int]:
    known = [job.name for job in instance.jobs]
    for name in names:
        if name not in known:
            rule = f"must be one of {', '.join(known) or '(there are no jobs)'}"
            raise InputError(rule, field="jobs", value=name)
    return [job for job in everything if not names or known[job] in names]


def _title(routing: SplittingRouting) -> str:
    what = "largest completion" if routing.problem == "completion" else "total service"
    return f"{routing.policy}: {what} {routing.objective:.4g} s"


def _lane_height(lanes: int) -> float:
    """Inches for a timeline with its labels."""
    return min(max(0.9 + 0.2 * lanes, 1.6), 12.0)


def _fictitious(
    axes: Any,
    instance: SplittingInstance,
    routing: SplittingRouting,
    routes: Sequence[Route],
    order: Sequence[int],
    chosen: Sequence[int] | None = None,
) -> float:
    """Draw the lanes of the fictitious system, or of service alone; return when the last ends."""
    ranked = routing.problem == "completion"
    lanes = fictitious_lanes(instance, routes, order, waits=ranked)
    shown = [k for k, job in enumerate(order) if chosen is None or job in chosen]
    label = f"fictitious system: {FICTITIOUS}" if ranked else "seconds of service; numbers: layers"
    names = [instance.jobs[order[k]].name for k in shown]
    draw_lanes(axes, names, [lanes[k] for k in shown], label)
    return max((lanes[k][-1].end for k in shown if lanes[k]), default=0.0)


def _timelines(
    instance: SplittingInstance,
    routing: SplittingRouting | None,
    routes: Sequence[Route],
    order: Sequence[int],
    chosen: Sequence[int],
) -> Figure:
    if routing is None:
        raise InputError("needs a solution", field="timeline")
    low = _lane_height(len(chosen))
    if routing.problem == "service":  # without priorities there is nothing to simulate
        figure = Figure(figsize=(7.5, low + 0.4))
        axes = figure.add_axes((0.12, 0.5 / (low + 0.4), 0.85, (low - 0.75) / (low + 0.4)))
        _fictitious(axes, instance, routing, routes, order, chosen)
        return figure
    height = 2 * low + 0.4
    figure = Figure(figsize=(7.5, height))
    upper = figure.add_axes((0.12, (low + 0.5) / height, 0.85, (low - 0.75) / height))
    lower = figure.add_axes((0.12, 0.5 / height, 0.85, (low - 0.75) / height))
    last = _fictitious(upper, instance, routing, routes, order, chosen)
    run = simulate(instance, routes, order)
    lanes = real_lanes(instance, routes, order, run)
    shown = [k for k, job in enumerate(order) if job in chosen]
    names = [instance.jobs[order[k]].name for k in shown]
    label = f"real network: {FICTITIOUS}"
    draw_lanes(lower, names, [lanes[k] for k in shown], label, until=last)
    return figure


def _layered(
    figure: Figure, instance: SplittingInstance, routes: Sequence[Route], jobs: Sequence[int]
) -> None:
    if instance.number_of_nodes > MOST_LAYERED:
        rule = f"can be drawn in layers up to {MOST_LAYERED}"
        raise InputError(rule, field="nodes", value=instance.number_of_nodes)
    axes = add_layered_axes(figure, (0.0, 0.03, 1.0, 0.92))
    draw_layered(axes, instance, routes, jobs, layout(instance))
    said = ", ".join(f"{j + 1}: {instance.jobs[j].name}" for j in jobs)
    text = "Straight down: a layer is computed; within a layer: its output is sent."
    figure.text(0.02, 0.01, f"{text} Jobs {said}" if said else text, fontsize=6.5, va="bottom")
