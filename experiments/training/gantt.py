"""The Gantt chart of a training schedule: machines by slots, coloured by job."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FixedLocator, PercentFormatter
from numpy.typing import NDArray

from experiments.drawing import FILLS, HATCHES, INK, ink_on, plain_style, save_figure
from models.files import InputError
from models.training import TrainingInstance, TrainingSchedule

__all__ = ["plot_schedule"]

GAP = 0.06  # of a row's height, above and below its bands
THINNEST = 0.12  # of a row's height: what is there can be seen
FONT_SIZE = 7.0
LINES = ("-", "--", ":", "-.")
MOST_RESOURCES = 6
MOST_LEGEND_ENTRIES = 60
KEY = "job workers+PSs; height: dominant share of the machine; dark bar: the job completes"


@dataclass(frozen=True)
class _Band:
    """What a job has on a machine in the slots start..stop-1, and where it is drawn."""

    job: int
    machine: int
    start: int
    stop: int
    top: float
    bottom: float
    workers: float
    ps: float


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
    use = _use(instance, schedule)
    with plain_style():
        page = _Page(instance, schedule)
        bands = _bands(instance, use)
        styles = _styles(bands)
        labelled = _draw_bands(page.cells, instance, bands, styles, page.cell_points)
        _mark_completions(page.cells, instance, schedule, bands, page.cell_points)
        _draw_use(page.strip, instance, use)
        page.legend(
            [(instance.jobs[i].name, style) for i, style in styles.items() if i not in labelled]
        )
        page.title(_headline(schedule), _outcome(schedule, _left_out(instance, schedule)))
    if path is not None:
        save_figure(page.figure, path)
    return page.figure


Use = dict[tuple[int, int], dict[int, tuple[float, float]]]
Style = tuple[str, str]  # fill, hatch


def _use(instance: TrainingInstance, schedule: TrainingSchedule) -> Use:
    """Workers and PSs of each job by (machine, slot)."""
    machines = {machine.name: h for h, machine in enumerate(instance.machines)}
    jobs = {job.name: i for i, job in enumerate(instance.jobs)}
    use: Use = defaultdict(dict)
    for j, outcome in enumerate(schedule.jobs):
        if outcome.name not in jobs:
            raise InputError(
                "is not a job of the instance", field=f"jobs[{j}].name", value=outcome.name
            )
        for k, item in enumerate(outcome.allocation):
            if item.machine not in machines:
                raise InputError(
                    "is not a machine of the instance",
                    field=f"jobs[{j}].allocation[{k}].machine",
                    value=item.machine,
                )
            if 0 <= item.slot < instance.slots and (item.workers > 0 or item.ps > 0):
                cell = use[machines[item.machine], item.slot]
                workers, ps = cell.get(jobs[outcome.name], (0.0, 0.0))
                cell[jobs[outcome.name]] = (
                    workers + max(item.workers, 0),
                    ps + max(item.ps, 0),
                )
    return use


def _left_out(instance: TrainingInstance, schedule: TrainingSchedule) -> int:
    return sum(
        not 0 <= item.slot < instance.slots for job in schedule.jobs for item in job.allocation
    )


def _bands(instance: TrainingInstance, use: Use) -> list[_Band]:
    """Place the bands; equal neighbours in time become one."""
    first_slot: dict[int, int] = {}
    for (_, slot), cell in use.items():
        for i in cell:
            first_slot[i] = min(slot, first_slot.get(i, slot))
    order = {i: k for k, i in enumerate(sorted(first_slot, key=lambda i: (first_slot[i], i)))}
    bands: list[_Band] = []
    open_bands: dict[tuple[int, int], int] = {}  # (machine, job) -> index of its latest band
    for (machine, slot), cell in sorted(use.items()):
        present = sorted(cell, key=order.__getitem__)
        heights = np.array([max(_share(instance, machine, i, *cell[i]), THINNEST) for i in present])
        heights *= (1 - 2 * GAP) / max(1.0, heights.sum())
        bottom = machine + 1 - GAP
        for i, height in zip(present, heights.tolist(), strict=True):
            new = _Band(i, machine, slot, slot + 1, bottom - height, bottom, *cell[i])
            bottom -= height
            last = open_bands.get((machine, i))
            if last is not None and _continues(bands[last], new):
                old = bands[last]
                bands[last] = _Band(
                    i, machine, old.start, slot + 1, old.top, old.bottom, old.workers, old.ps
                )
            else:
                open_bands[machine, i] = len(bands)
                bands.append(new)
    return bands


def _continues(old: _Band, new: _Band) -> bool:
    same_place = abs(old.top - new.top) < 1e-9 and abs(old.bottom - new.bottom) < 1e-9
    same_counts = (old.workers, old.ps) == (new.workers, new.ps)
    return old.stop == new.start and same_place and same_counts


def _share(instance: TrainingInstance, h: int, i: int, workers: float, ps: float) -> float:
    """Dominant share of a machine; 1 where something is needed that it does not have."""
    need = workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
    capacity = instance.capacity[h]
    share = np.divide(need, capacity, out=(need > 0).astype(float), where=capacity > 0)
    return min(float(share.max()), 1.0)


def _styles(bands: Iterable[_Band]) -> dict[int, Style]:
    """Give each job, as they appear in time, a colour and a hatch."""
    jobs = dict.fromkeys(band.job for band in sorted(bands, key=lambda b: (b.start, b.job)))
    return {
        i: (FILLS[k % len(FILLS)], HATCHES[k // len(FILLS) % len(HATCHES)])
        for k, i in enumerate(jobs)
    }


class _Page:
    """The empty figure, sized by the instance."""

    def __init__(self, instance: TrainingInstance, schedule: TrainingSchedule) -> None:
        slots, machines = instance.slots, instance.number_of_machines
        names = [_shortened(machine.name, 80.0) for machine in instance.machines]
        self.left = 0.55 + max(_text_width(name) for name in names) / 72
        self.right = 0.25 + (
            max(_text_width(_shortened(name, 90.0)) for name in instance.resources) / 72 + 0.45
        )
        self.width = min(max(0.42 * slots, 4.6), 14.0)
        # Rows of up to 100 machines are high enough for a name.
        self.height = max(0.8, min(0.42 * machines, max(10.0, min(0.14 * machines, 14.0))))
        self.placed = sum(bool(job.allocation) for job in schedule.jobs)
        self.figure = Figure(figsize=(1, 1))
        self.cells = self.figure.add_axes((0, 0, 1, 1))
        self.strip = self.figure.add_axes((0, 0, 1, 1))
        self.cell_points = (72 * self.width / slots, 72 * self.height / machines)
        self._prepare(names, slots)
        self._place(0.0)

    def _place(self, legend_height: float) -> None:
        """Set the figure's size and the axes' places, all in inches."""
        above, between, strip, below = 0.75, 0.2, 0.9, 0.5
        total = above + self.height + between + strip + below + legend_height
        wide = self.left + self.width + self.right
        self.figure.set_size_inches(wide, total)
        self.cells.set_position(
            (
                self.left / wide,
                (below + legend_height + strip + between) / total,
                self.width / wide,
                self.height / total,
            )
        )
        self.strip.set_position(
            (
                self.left / wide,
                (below + legend_height) / total,
                self.width / wide,
                strip / total,
            )
        )

    def _prepare(self, names: list[str], slots: int) -> None:
        rows_per_name = max(1, math.ceil(9.0 / self.cell_points[1]))
        places = range(0, len(names), rows_per_name)
        self.cells.set_xlim(0, slots)
        self.cells.set_ylim(len(names), 0)
        self.cells.set_yticks([h + 0.5 for h in places], [names[h] for h in places])
        self.cells.tick_params(axis="y", length=0)
        self.cells.set_xticks([])
        self.cells.xaxis.set_minor_locator(FixedLocator(range(slots + 1)))
        self.cells.yaxis.set_minor_locator(FixedLocator(range(len(names) + 1)))
        self.cells.grid(which="minor", color="#DDDDDD", linewidth=0.4)
        self.cells.tick_params(which="minor", length=0)
        self.cells.set_axisbelow(True)
        every = next(
            n for n in (1, 2, 5, 10, 20, 50, 100, slots) if slots / n * 16 < 72 * self.width
        )
        self.strip.set_xlim(0, slots)
        shown = range(0, slots, every)
        self.strip.set_xticks([t + 0.5 for t in shown], [str(t) for t in shown])
        self.strip.tick_params(axis="x", length=2)
        self.strip.set_xlabel("slot")

    def legend(self, entries: list[tuple[str, Style]]) -> None:
        """Name the jobs for whose name no band had room."""
        if not entries:
            return
        shown = entries[:MOST_LEGEND_ENTRIES]
        handles = [Patch(facecolor=fill, hatch=hatch, edgecolor=INK) for _, (fill, hatch) in shown]
        labels = [_shortened(name, 60.0) for name, _ in shown]
        if len(entries) > len(shown):
            handles.append(Patch(alpha=0))
            labels.append(f"and {len(entries) - len(shown)} more")
        column = max(_text_width(label) for label in labels) / 72 + 0.5
        columns = max(1, int((self.left + self.width) / column))
        rows = math.ceil(len(labels) / columns)
        height = 0.16 * rows + 0.15
        self._place(height)
        self.figure.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0.01, 0.0),
            ncols=columns,
            frameon=False,
            fontsize=FONT_SIZE,
            handlelength=1.6,
            columnspacing=1.0,
            labelspacing=0.3,
        )

    def title(self, headline: str, outcome: str) -> None:
        """Write the lines above the chart."""
        x = self.cells.get_position().x0
        top = self.figure.get_figheight()
        self.figure.text(x, 1 - 0.1 / top, headline, va="top", fontsize=10, fontweight="bold")
        self.figure.text(x, 1 - 0.33 / top, outcome, va="top")
        self.figure.text(x, 1 - 0.51 / top, KEY, va="top", fontsize=6.5, color="#666666")


def _draw_bands(
    axes: Axes,
    instance: TrainingInstance,
    bands: list[_Band],
    styles: dict[int, Style],
    cell_points: tuple[float, float],
) -> set[int]:
    """Draw the bands and their labels; returns the jobs that got a label."""
    corners: dict[Style, list[list[tuple[float, float]]]] = defaultdict(list)
    for band in bands:
        corners[styles[band.job]].append(
            [
                (band.start, band.top),
                (band.stop, band.top),
                (band.stop, band.bottom),
                (band.start, band.bottom),
            ]
        )
    thin = 0.3 if cell_points[1] < 12 else 0.5
    for (fill, hatch), polygons in corners.items():
        axes.add_collection(
            PolyCollection(
                polygons, facecolor=fill, edgecolor=INK, linewidth=thin, hatch=hatch or None
            ),
            autolim=False,
        )
    labelled: set[int] = set()
    for run in _runs(bands):
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


def _runs(bands: list[_Band]) -> list[list[_Band]]:
    """Group what one job has on one machine without a break: it gets one label."""
    runs: list[list[_Band]] = []
    latest: dict[tuple[int, int], list[_Band]] = {}
    for band in bands:
        run = latest.get((band.machine, band.job))
        if run is not None and run[-1].stop == band.start:
            run.append(band)
        else:
            runs.append([band])
            latest[band.machine, band.job] = runs[-1]
    return runs


def _label(name: str, band: _Band, cell_points: tuple[float, float]) -> str:
    """Name and counts as far as the band has room for them, empty if not even for the name."""
    width = (band.stop - band.start) * cell_points[0] - 7.0
    if (band.bottom - band.top) * cell_points[1] < FONT_SIZE + 0.5:
        return ""
    name = " ".join(name.split())
    for label in (f"{name} {band.workers:g}+{band.ps:g}", name):
        if _text_width(label) <= width:
            return label
    return ""


def _mark_completions(
    axes: Axes,
    instance: TrainingInstance,
    schedule: TrainingSchedule,
    bands: list[_Band],
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
        axes.add_collection(
            PolyCollection(
                [
                    [
                        (band.stop - width, band.top),
                        (band.stop, band.top),
                        (band.stop, band.bottom),
                        (band.stop - width, band.bottom),
                    ]
                    for band in last
                ],
                facecolor=colour,
                edgecolor="none",
            ),
            autolim=False,
        )


def _draw_use(axes: Axes, instance: TrainingInstance, use: Use) -> None:
    """Draw each resource's share in use per slot, and the largest of them as a grey area."""
    total = instance.capacity.sum(axis=0)
    needed = np.zeros((instance.slots, len(instance.resources)))
    for (_, slot), cell in use.items():
        for i, (workers, ps) in cell.items():
            needed[slot] += workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
    there = np.flatnonzero(total > 0)
    share: NDArray[np.float64] = needed[:, there] / total[there]
    edges = np.arange(instance.slots + 1)
    largest = share.max(axis=1, initial=0.0)
    axes.stairs(largest, edges, fill=True, color="#DDDDDD")
    # With many resources only the busiest are named.
    busiest = sorted(range(len(there)), key=lambda k: (-share[:, k].sum(), k))[:MOST_RESOURCES]
    for place, k in enumerate(sorted(busiest)):
        axes.stairs(
            share[:, k],
            edges,
            baseline=None,
            color=("black", "#0072B2", "#D55E00")[place % 3],
            linestyle=LINES[place % len(LINES)],
            linewidth=1.1,
            label=_shortened(instance.resources[there[k]], 90.0),
        )
    axes.set_ylim(0, max(1.0, float(largest.max(initial=0.0))) * 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("in use")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.4)
    axes.set_axisbelow(True)
    if busiest:
        axes.legend(
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize=FONT_SIZE,
            handlelength=2.2,
            labelspacing=0.25,
        )


def _headline(schedule: TrainingSchedule) -> str:
    return f"{_shortened(schedule.policy, 200.0)}: total utility {schedule.objective:.6g}"


def _outcome(schedule: TrainingSchedule, left_out: int) -> str:
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
    if left_out:
        text += f"; {left_out} allocations outside the horizon are not drawn"
    return text


@lru_cache(maxsize=4096)
def _text_width(text: str) -> float:
    """Width in points."""
    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(size=FONT_SIZE), False
    )
    return float(width)


def _shortened(text: str, points: float) -> str:
    """Cut a text that is wider than that."""
    text = " ".join(text.split())
    if _text_width(text) <= points:
        return text
    while text and _text_width(text + "…") > points:
        text = text[:-1]
    return text + "…"
