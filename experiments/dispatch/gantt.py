"""The Gantt chart of a dispatch schedule: a lane per node, the power under the cap below."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.dispatch.gantt_lanes import Bar, bars_of, power_profile
from experiments.drawing import FILLS, HATCHES, INK, ink_on, plain_style, save_figure
from models.dispatch import DispatchInstance, DispatchSchedule

__all__ = ["plot_schedule"]

WIDTH = 7.5
LEFT, RIGHT = 0.09, 0.985
STRIP, HEAD, FOOT, GAP = 1.15, 0.62, 0.4, 0.12  # inches
LOWEST, HIGHEST, MOST_LANES_HEIGHT = 0.085, 0.34, 7.0  # inches, of a lane and of all
FONT_SIZE = 6.0
MOST_IN_LEGEND = 8
OVER = "#D55E00"
UNITS = ((2 * 86400, 86400, "days"), (2 * 3600, 3600, "hours"), (180, 60, "minutes"))


def plot_schedule(
    instance: DispatchInstance, schedule: DispatchSchedule, path: str | Path | None = None
) -> Figure:
    """Draw a schedule.

    A bar is a unit of a job in the lane of its node, as high as its largest share of what the
    node has, coloured by queue. Below, the power that idle nodes and running jobs draw (a plan's
    is predicted, a simulation's is real) against the cap; what lies above it is marked.

    Parameters
    ----------
    instance : DispatchInstance
    schedule : DispatchSchedule
        Need not be feasible.
    path : path, optional
        Also write it here, as ``.png`` or ``.svg``. The same schedule gives the same bytes.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot.

    Raises
    ------
    InputError
        If the schedule names jobs or nodes that the instance does not have, or for the path.
    """
    bars = bars_of(instance, schedule)
    times, watts = power_profile(instance, schedule)
    second, unit = next(
        ((size, name) for least, size, name in UNITS if times[-1] - times[0] >= least),
        (1, "seconds"),
    )
    lanes = instance.number_of_nodes
    lane = max(min(HIGHEST, MOST_LANES_HEIGHT / lanes), min(LOWEST, 2 * MOST_LANES_HEIGHT / lanes))
    height = HEAD + lane * lanes + GAP + STRIP + FOOT
    with plain_style():
        figure = Figure(figsize=(WIDTH, height))
        width = RIGHT - LEFT
        bottom = (FOOT + STRIP + GAP) / height
        top = figure.add_axes((LEFT, bottom, width, lane * lanes / height))
        strip = figure.add_axes((LEFT, FOOT / height, width, STRIP / height), sharex=top)
        top.set_xlim(times[0] / second, times[-1] / second)
        points = 72 * WIDTH * width * second / (times[-1] - times[0]) / second, 72 * lane
        legend = _draw_bars(top, instance, bars, second, points)
        _name_lanes(top, instance, lane)
        _draw_power(strip, instance, np.asarray(times) / second, np.asarray(watts))
        strip.set_xlabel(f"time [{unit}]")
        figure.text(
            LEFT,
            1 - 0.08 / height,
            f"{schedule.policy[:40]}: weighted queue time {schedule.objective:.6g} s",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
        outcome = _outcome(instance, schedule)
        figure.text(LEFT, 1 - 0.28 / height, outcome, va="top", fontsize=7)
        if legend:
            figure.legend(
                handles=legend,
                loc="upper left",
                bbox_to_anchor=(LEFT - 0.01, 1 - 0.38 / height),
                ncols=len(legend),
                frameon=False,
                fontsize=7,
                borderaxespad=0,
            )
    if path is not None:
        save_figure(figure, path)
    return figure


def _draw_bars(
    axes: Axes,
    instance: DispatchInstance,
    bars: list[Bar],
    second: int,
    points: tuple[float, float],
) -> list[Patch]:
    """Draw bars, and names where there is room; returns the legend's entries.

    `points` are those of one second and of one lane.
    """
    queues = [job.queue or "(no queue)" for job in instance.jobs]
    frequent = [name for name, _ in Counter(queues).most_common(MOST_IN_LEGEND - 1)]
    frequent = [name for name in dict.fromkeys(queues) if name in frequent]
    looks = {
        name: (FILLS[k % len(FILLS)], HATCHES[k // len(FILLS)]) for k, name in enumerate(frequent)
    }
    other = ("#FFFFFF", HATCHES[2])
    groups: dict[str, list[Bar]] = defaultdict(list)
    for bar in bars:
        name = queues[bar.job]
        groups[name if name in looks else "other queues"].append(bar)
    legend = []
    for name in [*frequent, "other queues"]:
        if not groups[name]:
            continue
        fill, hatch = looks.get(name, other)
        axes.add_collection(
            PolyCollection(
                [_corners(bar, second) for bar in groups[name]],
                facecolor=fill,
                edgecolor=INK,
                linewidth=0.3,
                hatch=hatch or None,
            ),
            autolim=False,
        )
        legend.append(Patch(facecolor=fill, edgecolor=INK, hatch=hatch or None, label=name[:24]))
        for bar in groups[name]:
            text = instance.jobs[bar.job].name
            wide = (bar.end - bar.start) * points[0] >= 0.62 * FONT_SIZE * len(text) + 2
            if wide and bar.height * points[1] >= FONT_SIZE + 0.5:
                axes.text(
                    (bar.start + bar.end) / 2 / second,
                    bar.node + bar.bottom + bar.height / 2,
                    text,
                    ha="center",
                    va="center_baseline",
                    fontsize=FONT_SIZE,
                    color=ink_on(fill),
                    clip_on=True,
                )
    return legend


def _corners(bar: Bar, second: int) -> list[tuple[float, float]]:
    start, end = bar.start / second, bar.end / second
    bottom, top = bar.node + bar.bottom, bar.node + bar.bottom + bar.height
    return [(start, bottom), (end, bottom), (end, top), (start, top)]


def _name_lanes(axes: Axes, instance: DispatchInstance, lane: float) -> None:
    """Separate the lanes; as many have their name as there is room for."""
    number = instance.number_of_nodes
    axes.set_ylim(number, 0)
    step = max(1, int(np.ceil((FONT_SIZE + 1) / (72 * lane))))
    named = range(0, number, step)
    axes.set_yticks([n + 0.5 for n in named], [instance.nodes[n].name[:10] for n in named])
    axes.tick_params(axis="y", length=0, labelsize=FONT_SIZE)
    axes.tick_params(axis="x", labelbottom=False)
    if number <= 400:
        axes.hlines(range(1, number), *axes.get_xlim(), color="#CCCCCC", linewidth=0.3, zorder=0)


def _draw_power(
    axes: Axes, instance: DispatchInstance, times: np.ndarray, watts: np.ndarray
) -> None:
    """Draw the power in kilowatts: idle nodes grey, jobs blue, above the cap hatched."""
    idle, cap, level = instance.idle_power / 1000, instance.power_cap, watts / 1000
    most = max(float(level.max()), idle, 1e-9)
    axes.stairs(level, times, baseline=idle, fill=True, color="#56B4E9", label="jobs")
    axes.stairs(np.full(len(level), idle), times, fill=True, color="#BBBBBB", label="idle nodes")
    axes.stairs(level, times, baseline=None, color=INK, linewidth=0.6)
    if cap is not None:
        limit = cap / 1000
        if (watts > cap * (1 + 1e-6)).any():
            axes.stairs(
                np.maximum(level, limit),
                times,
                baseline=limit,
                fill=True,
                facecolor="#FFFFFF",
                edgecolor=OVER,
                hatch="////",
                linewidth=0.0,
                label="above the cap",
            )
        axes.axhline(limit, color=OVER, linewidth=1.2, linestyle="--", label="cap")
        most = max(most, limit)
    axes.set_ylim(0, most * 1.3)
    axes.set_ylabel("power [kW]")
    axes.legend(loc="upper right", ncols=4, frameon=False, fontsize=7, borderaxespad=0.1)


def _outcome(instance: DispatchInstance, schedule: DispatchSchedule) -> str:
    """Say how many jobs run, on how many nodes, and whether this is a plan."""
    started = sum(job.start is not None for job in schedule.jobs)
    what = {"plan": "planned with estimates", "simulated": "simulated, real run times and power"}
    parts = [f"{started} of {len(schedule.jobs)} jobs started", what[schedule.mode]]
    if started < len(schedule.jobs):
        parts.insert(1, f"{len(schedule.jobs) - started} impossible")
    return ", ".join([*parts, f"{instance.number_of_nodes} nodes"])
