"""When each job computes, sends and waits: in the fictitious system, and in the real network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.patches import Patch

from algorithms.splitting.simulation import RealRun, tasks_of
from experiments.drawing import INK
from models.splitting import Queues, Route, SplittingInstance

__all__ = ["Step", "draw_lanes", "fictitious_lanes", "real_lanes", "steps_of"]

Doing = Literal["waiting", "sending", "computing"]
LOOKS: dict[Doing, tuple[str, str]] = {
    "waiting": ("#FFFFFF", "////"),
    "sending": ("#BBBBBB", ""),
    "computing": ("#0072B2", ""),
}
MOST_LANES = 60
ROUNDING = 1e-12
NAMED_WIDTH = 0.06  # of the time axis, for a layer's number in its bar


@dataclass(frozen=True)
class Step:
    """A part of a job's time.

    Attributes
    ----------
    begin, end : float
        Seconds.
    doing : str
    layer : int
        The layer computed, or whose output is sent; what is waited for when waiting.
    """

    begin: float
    end: float
    doing: Doing
    layer: int


def steps_of(instance: SplittingInstance, job: int, route: Route, queues: Queues) -> list[Step]:
    """Split a job's time in the fictitious system into waiting, sending and computing, in order.

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


def fictitious_lanes(
    instance: SplittingInstance, routes: Sequence[Route], order: Sequence[int], *, waits: bool
) -> list[list[Step]]:
    """Return the steps of all jobs, by the order given.

    Parameters
    ----------
    instance : SplittingInstance
    routes : sequence of Route
    order : sequence of int
        From the highest priority to the lowest.
    waits : bool
        Without it there is service time alone, as in problem "service".
    """
    queues = Queues.initial(instance)
    if not waits:
        queues = Queues(np.zeros_like(queues.node), np.zeros_like(queues.link))
    lanes: list[list[Step]] = []
    for job in order:
        lanes.append(steps_of(instance, job, routes[job], queues))
        if waits:
            queues.add(instance, job, routes[job])
    return lanes


def real_lanes(
    instance: SplittingInstance, routes: Sequence[Route], order: Sequence[int], real: RealRun
) -> list[list[Step]]:
    """Return the steps of all jobs in a simulated run, by the order given.

    Between two pieces of work a job waits: for others to be served, or to be let on again.
    """
    pieces: dict[int, list[tuple[float, float, int]]] = {job: [] for job in order}
    for piece in real.pieces:
        pieces[piece.job].append((piece.begin, piece.end, piece.resource))
    lanes = []
    for job in order:
        steps: list[Step] = []
        layers = _layers(instance, job, routes[job])
        left = [seconds for _, seconds in tasks_of(instance, job, routes[job])]
        now, at = 0.0, 0
        for begin, end, resource in sorted(pieces[job]):
            if end <= begin:  # a task without work
                continue
            while at < len(left) - 1 and (layers[at][0] != resource or left[at] <= 0):
                at += 1
            doing: Doing = "computing" if resource < instance.number_of_nodes else "sending"
            layer = layers[at][1]
            if begin > now:
                steps.append(Step(now, begin, "waiting", layer))
            steps.append(Step(begin, end, doing, layer))
            left[at] -= end - begin
            if left[at] <= ROUNDING * end:
                left[at] = 0.0
            now = end
        lanes.append(steps)
    return lanes


def _layers(instance: SplittingInstance, job: int, route: Route) -> list[tuple[int, int]]:
    """Resource and layer of each of a job's tasks, in the order of `tasks_of`."""
    found = []
    for layer in range(instance.jobs[job].number_of_layers + 1):
        found += [
            (instance.number_of_nodes + link, layer)
            for link, carried in route.hops
            if carried == layer
        ]
        if layer < instance.jobs[job].number_of_layers:
            found.append((route.nodes[layer], layer + 1))
    return found


def draw_lanes(
    axes: Any, names: Sequence[str], lanes: Sequence[Sequence[Step]], label: str, until: float = 0.0
) -> None:
    """Draw a lane per job.

    Parameters
    ----------
    axes : matplotlib axes
    names : sequence of str
        One per lane.
    lanes : sequence of sequences of Step
        The first `MOST_LANES` are drawn.
    label : str
        Of the time axis.
    until : float
        End of the time axis [s], at least; otherwise that of the last step.
    """
    longest = max([until, *(lane[-1].end for lane in lanes if lane)]) or 1.0
    for y, lane in enumerate(lanes[:MOST_LANES]):
        for step in lane:
            _bar(axes, y, step, longest)
    shown = min(len(lanes), MOST_LANES)
    axes.set_yticks(range(shown), names[:shown], fontsize=6.5)
    axes.set_ylim(max(shown, 1) - 0.4, -0.6)
    axes.set_xlim(0, longest * 1.01)
    axes.set_xlabel(label, fontsize=7)
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


def _bar(axes: Any, y: int, step: Step, longest: float) -> None:
    fill, hatch = LOOKS[step.doing]
    width = step.end - step.begin
    axes.barh(
        y,
        width,
        left=step.begin,
        height=0.7,
        color=fill,
        hatch=hatch,
        edgecolor=INK,
        linewidth=0.4,
    )
    if step.doing == "computing" and width > NAMED_WIDTH * longest:
        middle = (step.begin + step.end) / 2
        axes.text(middle, y, str(step.layer), color="white", ha="center", va="center", fontsize=6)
