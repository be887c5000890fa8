"""The paper of a Gantt chart: sizes, axes, title and legend, before anything is drawn."""

from __future__ import annotations

import math
from functools import lru_cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FixedLocator

from experiments.drawing import INK
from experiments.training.gantt_bands import Style
from models.training import TrainingInstance

__all__ = ["FONT_SIZE", "Page", "legend_name", "shortened", "text_width"]

FONT_SIZE = 7.0
MOST_LEGEND_ENTRIES = 60
MOST_GRID_LINES = 200
LONGEST_NAME = 200
LEGEND_POINTS = 70.0
KEY = "job workers+PSs; height: dominant share of the machine; dark bar: the job completes"


class Page:
    """The empty figure, sized by the instance.

    Attributes
    ----------
    figure : Figure
    cells, strip : Axes
        The chart, and below it the resources in use.
    cell_points : (float, float)
        Width and height of a cell in points.
    """

    def __init__(self, instance: TrainingInstance) -> None:
        slots, machines = instance.slots, instance.number_of_machines
        names = [shortened(machine.name, 80.0) for machine in instance.machines]
        self.left = 0.55 + max(text_width(name) for name in names) / 72
        self.right = 0.25 + (
            max(text_width(legend_name(name)) for name in instance.resources) / 72 + 0.45
        )
        self.width = min(max(0.42 * slots, 4.6), 14.0)
        # Rows of up to 100 machines are high enough for a name.
        self.height = max(0.8, min(0.42 * machines, max(10.0, min(0.14 * machines, 14.0))))
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
        if max(slots, len(names)) <= MOST_GRID_LINES:
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
        labels = [legend_name(name) for name, _ in shown]
        if len(entries) > len(shown):
            handles.append(Patch(alpha=0))
            labels.append(f"and {len(entries) - len(shown)} more")
        column = max(text_width(label) for label in labels) / 72 + 0.5
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


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Width in points, in the current style's font."""
    width, _, _ = TextToPath().get_text_width_height_descent(
        text, FontProperties(size=FONT_SIZE), False
    )
    return float(width)


def shortened(text: str, points: float) -> str:
    """Take out the middle of a text that is wider than that; line breaks become spaces.

    Names that differ only in a number at the end still differ.
    """
    text = " ".join(text.split())
    if len(text) <= LONGEST_NAME and text_width(text) <= points:
        return text
    kept = min(len(text), LONGEST_NAME)
    while kept:
        kept -= 1
        head = text[: (kept + 1) // 2]
        shorter = f"{head}…{text[len(text) - kept // 2 :]}"
        if text_width(shorter) <= points:
            return shorter
    return "…"


def legend_name(name: str) -> str:
    """Shorten a name for a legend, where one that begins with _ would be left out."""
    name = shortened(name, LEGEND_POINTS)
    return f" {name}" if name.startswith("_") else name
