"""Draws training/theory: the table as a page, and beside it as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from experiments.captions import put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.training.theory_lines import Line, all_lines
from experiments.versions import versions
from models.files import write_atomic

if TYPE_CHECKING:
    import pandas

__all__ = ["draw", "markdown"]

WIDTH = 11.0  # inches
FONT = 6.6
LINE_HEIGHT = 0.125  # inches
MARGIN = 0.15
# Heading, left edge in inches, characters per line.
COLUMNS = (
    ("", 0.15, 22),
    ("what it promises", 1.5, 52),
    ("what was observed", 4.3, 68),
    ("vacuous?", 7.95, 12),
    ("Chernoff step?", 8.75, 14),
    ("verdict", 9.7, 20),
)
MARKS = {"holds": "#009E73", "fails": "#D55E00", "undecided": "#E69F00", "not run": "#BBBBBB"}
SYMBOLS = {"holds": "o", "fails": "X", "undecided": "D", "not run": "."}
CAPTION = 190  # characters of a line


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the table as a figure, as Markdown (.md), and the rows as CSV."""
    bulky = ("slots_", "along", "n_worst_", "arrivals_source", "draws", "width_")
    kept = rows.drop(columns=[name for name in rows if str(name).startswith(bulky)])
    write_table(kept, destination)
    lines = all_lines(rows)
    write_atomic(destination.with_suffix(".md"), markdown(lines))
    cells = [_wrapped(line) for line in lines]
    heights = [max(len(cell) for cell in row) * LINE_HEIGHT + 0.07 for row in cells]
    head = 0.75
    height = head + sum(heights) + MARGIN
    with plain_style():
        figure = Figure(figsize=(WIDTH, height))
        foot = put_caption(figure, "\n".join(textwrap.wrap(_caption(rows, context), CAPTION)))
        axes = figure.add_axes((0, foot, 1, 1 - foot))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height, 0)
        axes.axis("off")
        axes.text(
            MARGIN,
            0.2,
            "Lemmas and theorems of PD-ORS: what is promised, and what was observed",
            fontsize=10,
            fontweight="bold",
            va="center",
        )
        for title, x, _ in COLUMNS:
            axes.text(x, 0.55, title, fontsize=FONT + 0.6, fontweight="bold", va="center")
        y = head
        for k, (line, row, tall) in enumerate(zip(lines, cells, heights, strict=True)):
            _draw_line(axes, line, row, y, tall, shaded=k % 2 == 0)
            y += tall
    save_figure(figure, destination, text=True)


def markdown(lines: Sequence[Line]) -> str:
    """Return the table as Markdown."""
    rows = ["| | promise | observed | vacuous | Chernoff step valid | verdict |", "|" + "---|" * 6]
    for line in lines:
        cells = (line.name, line.promise, line.observed, line.vacuous, line.chernoff, line.verdict)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _wrapped(line: Line) -> list[list[str]]:
    texts = (line.name, line.promise, line.observed, line.vacuous, line.chernoff, line.verdict)
    return [
        textwrap.wrap(text, width) or [""]
        for text, (_, _, width) in zip(texts, COLUMNS, strict=True)
    ]


def _draw_line(
    axes: Any, line: Line, cells: list[list[str]], y: float, tall: float, *, shaded: bool
) -> None:
    if shaded:
        axes.add_patch(Rectangle((0.05, y), WIDTH - 0.1, tall, color="#F2F2F2", linewidth=0))
    for (_, x, _), texts in zip(COLUMNS, cells, strict=True):
        is_verdict = x == COLUMNS[-1][1]
        for k, text in enumerate(texts):
            axes.text(
                x + (0.16 if is_verdict else 0),
                y + 0.035 + (k + 0.5) * LINE_HEIGHT,
                text,
                fontsize=FONT,
                fontweight="bold" if is_verdict else "normal",
                va="center",
                color=INK,
            )
    axes.plot(
        COLUMNS[-1][1] + 0.05,
        y + 0.035 + 0.5 * LINE_HEIGHT,
        marker=SYMBOLS[line.outcome],
        color=MARKS[line.outcome],
        markersize=4.5,
    )


def _caption(rows: pandas.DataFrame, context: Context) -> str:
    runs = rows[rows["part"] == "run"]
    used = versions()
    sizes = ""
    if len(runs):
        shapes = sorted(
            {(int(r["jobs"]), int(r["slots"]), int(r["machines"])) for _, r in runs.iterrows()}
        )
        sizes = (
            "Runs: preset calibrated, arrivals of the Google trace, (I, T, H) = "
            + ", ".join(map(str, shapes))
            + f", {int(runs['impossible'].sum())} impossible jobs, optimum known to "
            f"[lower, upper] ({int((runs['opt_status'] == 'optimal').sum())} of {len(runs)} "
            "proved); slot programs: up to 12 drawn from each run, delta = 0.1. "
        )
    return (
        f"{'Quick grid. ' if context.quick else ''}{context.seeds} seeds. {sizes}"
        "Lemmas: random programs with given widths W_a and W_b, the same with every column split "
        "into 25, programs of a slot program's shape, delta = 0.1 and 1; separate equal rows "
        "(blocks) computed exactly. Intervals are exact binomial (Clopper-Pearson), for all "
        "programs of a line together at 95 %. Vacuous: the cover threshold is negative, the "
        "packing threshold above twice the capacity, 3G/delta below 1, or a ratio that no "
        "schedule could reach. Chernoff step: whether exp(-eps^2 mu/3) "
        "bounds the upper tail at the eps that the proof puts in (up to 1.817, G >= 0.355). "
        "Examples: bargain: a worthless job takes a whole machine at the price of an empty one; "
        "no-draw: an LP optimum of which no rounding is feasible; worker-only: a full machine's "
        "price does not keep out a worker whose PS is elsewhere. "
        f"schedlab {used['schedlab']}, HiGHS {used['highspy']}, numpy {used['numpy']}."
    )
