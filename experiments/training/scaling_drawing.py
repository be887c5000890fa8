"""Draws training/scaling: counters and seconds over T, H and Q, with fitted exponents."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.intervals import mean_interval
from experiments.training.theory_lines import line_of
from experiments.training.theory_names import SCALING_LINES
from experiments.training.theory_work import COUNTERS, exponents
from experiments.versions import versions

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

_AXES = (("slots", "T, slots"), ("machines", "H, machines"), ("levels", "Q, workload levels"))
_STYLES: dict[str, dict[str, Any]] = {
    "choices": {"color": INK, "marker": "o", "linestyle": "-"},
    "lps_solved": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "iterations": {"color": "#D55E00", "marker": "^", "linestyle": "-."},
    "policy_seconds": {"color": "#888888", "marker": "x", "linestyle": ":"},
}


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, its rows as CSV."""
    part = rows[rows["part"] == "scaling"]
    write_table(part, destination)
    with plain_style():
        figure = Figure(figsize=(8.2, 3.5))
        foot = put_caption(figure, _caption(part, context))
        height = float(figure.get_size_inches()[1])
        axes = figure.subplots(1, 3, sharey=True)
        figure.subplots_adjust(
            left=0.075, right=0.985, wspace=0.08, bottom=foot + 0.45 / height, top=1 - 0.45 / height
        )
        for place, (axis, label) in zip(axes, _AXES, strict=True):
            _panel(place, part, axis, label)
        axes[0].set_ylabel("work, relative to the smallest size")
        figure.text(
            0.02,
            1 - 0.07 / height,
            "Work of PD-ORS as the problem grows (Theorem 7)",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
    save_figure(figure, destination)


def _panel(axes: Any, rows: pandas.DataFrame, axis: str, label: str) -> None:
    """Geometric means over seeds, relative to the smallest size."""
    part = rows[rows["axis"] == axis]
    for column, style in _STYLES.items():
        positive = part[part[column] > 0]
        logs = np.log(positive[column].astype(float)).groupby(positive[axis]).mean()
        if not len(logs):
            continue
        slopes = exponents(rows, axis, column)
        name = COUNTERS.get(column, "seconds")
        if slopes:
            mean, low, high = mean_interval(slopes)
            name += f": {mean:.2f} ({low:.2f} to {high:.2f})"
        axes.plot(
            logs.index.astype(float),
            np.exp(logs - logs.iloc[0]),
            markersize=4,
            linewidth=1.3,
            label=name,
            **style,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xticks(sorted(set(part[axis])), [f"{v:g}" for v in sorted(set(part[axis]))])
    axes.set_ylim(0.3, 1000)
    axes.grid(color="#E4E4E4", linewidth=0.5)
    axes.set_xlabel(label)
    axes.legend(frameon=False, fontsize=6, loc="upper left", title="exponent", title_fontsize=6)


def _caption(rows: pandas.DataFrame, context: Context) -> str:
    used = versions()
    text = (
        f"{'Quick grid. ' if context.quick else ''}Preset calibrated, mix default, I = 8; around "
        f"T = 10, H = 5, Q = 20; S = 10 draws and no further attempts; {rows['seed'].nunique()} "
        f"seeds. Exponents: least squares on logarithms, per seed; mean with 95 % t interval. "
        f"Slots of equal allocation share their LPs, so that few are solved. Seconds are of one "
        f"machine. schedlab {used['schedlab']}, HiGHS {used['highspy']}."
    )
    lines = textwrap.wrap(text, LINE)
    for name in SCALING_LINES:
        line = line_of(name, rows)
        lines += textwrap.wrap(f"{line.promise} {line.verdict.upper()}: {line.observed}.", LINE)
    return "\n".join(lines)
