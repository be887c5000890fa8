"""The Gantt chart of a training schedule: machines by slots, coloured by job."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from experiments.drawing import INK, ink_on, plain_style, save_figure
from experiments.training.gantt_bands import (
    Band,
    Cells,
    Style,
    bands_of,
    cells_of,
    runs_of,
    share_in_use,
    styles_of,
)
from experiments.training.gantt_page import FONT_SIZE, Page, legend_name, shortened, text_width
from models.training import TrainingInstance, TrainingSchedule

__all__ = ["plot_schedule"]

LINES = ("-", "--", ":", "-.")
LINE_COLOURS = ("black", "#0072B2", "#D55E00")
MOST_RESOURCES = 6


def plot_schedule(
    instance: TrainingInstance, schedule: TrainingSchedule, path: str | Path | None = None
) -> Figure:
    """Draw a schedule.

    A cell is a machine in a slot and as high as the machine's capacity; each job in it is a band
    as high as its dominant share of the machine (but never too thin to see, and pressed together
    if the bands need more than the cell). A dark bar ends the bands of a job's last slot if the
    job completes. Below, each resource's use over all machines.

    Parameters
    ----------
    instance : TrainingInstance
    schedule : TrainingSchedule
        Need not be feasible; what lies outside the horizon is counted and left out.
    path : path, optional
        Also write it here, as ``.png`` or ``.svg``. The same schedule gives the same bytes.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot.

    Raises
    ------
    InputError
        If the schedule names jobs or machines that the instance does not have, or for the path.
    """
    cells = cells_of(instance, schedule)
    with plain_style():
        page = Page(instance)
        bands = bands_of(instance, cells)
        styles = styles_of(bands)
        labelled = _draw_bands(page.cells, instance, bands, styles, page.cell_points)
        _mark_completions(page.cells, instance, schedule, bands, page.cell_points)
        _draw_use(page.strip, instance, cells)
        page.legend(
            [(instance.jobs[i].name, style) for i, style in styles.items() if i not in labelled]
        )
        page.title(_headline(schedule), _outcome(instance, schedule))
    if path is not None:
        save_figure(page.figure, path)
    return page.figure


def _draw_bands(
    axes: Axes,
    instance: TrainingInstance,
    bands: list[Band],
    styles: dict[int, Style],
    cell_points: tuple[float, float],
) -> set[int]:
    """Draw the bands and their labels; returns the jobs that got a label."""
    by_style: dict[Style, list[Band]] = defaultdict(list)
    for band in bands:
        by_style[styles[band.job]].append(band)
    rim = 0.5 if cell_points[1] >= 12 else 0.3 if cell_points[1] >= 4 else 0.0
    for (fill, hatch), members in by_style.items():
        outlines = [_rectangle(band, band.start) for band in members]
        axes.add_collection(
            PolyCollection(
                outlines, facecolor=fill, edgecolor=INK, linewidth=rim, hatch=hatch or None
            ),
            autolim=False,
        )
    labelled: set[int] = set()
    for run in runs_of(bands):
        band = max(run, key=lambda b: ((b.stop - b.start) * (b.bottom - b.top), -b.start))
        label = _label(instance.jobs[band.job].name, band, cell_points)
        if not label:
            continue
        labelled.add(band.job)
        fill, hatch = styles[band.job]
        axes.text(
            (band.start + band.stop) / 2,
            (band.top + band.bottom) / 2,
            label,
            ha="center",
            va="center_baseline",
            fontsize=FONT_SIZE,
            color=ink_on(fill),
            # Letters on a hatch need ground of their own.
            bbox={"facecolor": fill, "edgecolor": "none", "pad": 0.4} if hatch else None,
        )
    return labelled


def _rectangle(band: Band, start: float) -> list[tuple[float, float]]:
    """Corners of a band from `start` on."""
    return [
        (start, band.top),
        (band.stop, band.top),
        (band.stop, band.bottom),
        (start, band.bottom),
    ]


def _label(name: str, band: Band, cell_points: tuple[float, float]) -> str:
    """Name and counts as far as the band has room for them, empty if not even for the name."""
    width = (band.stop - band.start) * cell_points[0] - 7.0
    if (band.bottom - band.top) * cell_points[1] < FONT_SIZE + 0.5:
        return ""
    name = " ".join(name.split())
    for label in (f"{name} {band.workers:g}+{band.ps:g}", name):
        if text_width(label) <= width:
            return label
    return ""


def _mark_completions(
    axes: Axes,
    instance: TrainingInstance,
    schedule: TrainingSchedule,
    bands: list[Band],
    cell_points: tuple[float, float],
) -> None:
    """End the bands of a completed job's last slot with a dark bar on a light ground."""
    jobs = {job.name: i for i, job in enumerate(instance.jobs)}
    ends = {
        (jobs[job.name], job.completion + 1) for job in schedule.jobs if job.completion is not None
    }
    last = [band for band in bands if (band.job, band.stop) in ends]
    for points, colour in ((3.2, "white"), (2.2, "black")):
        width = points / cell_points[0]
        bars = [_rectangle(band, band.stop - width) for band in last]
        axes.add_collection(PolyCollection(bars, facecolor=colour, edgecolor="none"), autolim=False)


def _draw_use(axes: Axes, instance: TrainingInstance, cells: Cells) -> None:
    """Draw each resource's share in use per slot, and the largest of them as a grey area."""
    share = share_in_use(instance, cells)
    edges = np.arange(instance.slots + 1)
    largest = share.max(axis=1, initial=0.0)
    axes.stairs(largest, edges, fill=True, color="#DDDDDD")
    # With many resources only the busiest are named.
    busiest = np.argsort(-share.sum(axis=0), kind="stable")[:MOST_RESOURCES]
    for place, r in enumerate(sorted(busiest.tolist())):
        axes.stairs(
            share[:, r],
            edges,
            baseline=None,
            color=LINE_COLOURS[place % len(LINE_COLOURS)],
            linestyle=LINES[place % len(LINES)],
            linewidth=1.1,
            label=legend_name(instance.resources[r]),
        )
    axes.set_ylim(0, max(1.0, float(largest.max(initial=0.0))) * 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("in use")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.legend(
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        fontsize=FONT_SIZE,
        handlelength=2.2,
        labelspacing=0.25,
    )


def _headline(schedule: TrainingSchedule) -> str:
    return f"{shortened(schedule.policy, 200.0)}: total utility {schedule.objective:.6g}"


def _outcome(instance: TrainingInstance, schedule: TrainingSchedule) -> str:
    """Say how many jobs completed and why the others did not."""
    total = len(schedule.jobs)
    completed = sum(job.completion is not None for job in schedule.jobs)
    reasons = Counter(job.reason or "unfinished" for job in schedule.jobs if job.completion is None)
    impossible, unfinished = reasons.pop("impossible", 0), reasons.pop("unfinished", 0)
    parts = [f"{completed} of {total} jobs completed"]
    if impossible:
        parts.append(f"{impossible} impossible")
    if reasons:
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
        parts.append(f"{sum(reasons.values())} rejected ({why})")
    if unfinished:
        parts.append(f"{unfinished} unfinished")
    text = ", ".join(parts)
    left_out = sum(
        not 0 <= item.slot < instance.slots for job in schedule.jobs for item in job.allocation
    )
    if left_out:
        text += f"; {left_out} allocations outside the horizon are not drawn"
    return text
