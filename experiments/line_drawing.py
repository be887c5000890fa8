"""Draws a `LineFigure`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.captions import line_style, put_caption, write_table
from experiments.declaration import Context, resolve
from experiments.drawing import INK, plain_style, save_figure
from experiments.intervals import mean_interval
from experiments.line_figure import LineFigure, Panel
from experiments.policy_names import label

if TYPE_CHECKING:
    import pandas

__all__ = ["draw_lines", "plot_means"]

DODGE = 0.012  # of the axis, between lines, so that intervals do not hide one another


def draw_lines(
    declared: LineFigure, rows: pandas.DataFrame, destination: Path, context: Context
) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    shown = rows if declared.derive is None else declared.derive(rows)
    if declared.default is not None:
        filled = shown[declared.x] if declared.x in shown else shown["seed"] * math.nan
        shown = shown.assign(**{declared.x: filled.astype(float).fillna(declared.default)})
    with plain_style():
        figure = Figure(figsize=(7.5, 3.4))
        foot = put_caption(
            figure, resolve(declared.caption)(rows, context, declared.claims, declared.note)
        )
        axes = figure.subplots(1, len(declared.panels), squeeze=False)[0]
        height = float(figure.get_size_inches()[1])
        figure.subplots_adjust(
            left=0.085,
            right=0.985,
            bottom=foot + 0.45 / height,
            top=1 - 0.62 / height,
            wspace=0.27,
        )
        names = list(dict.fromkeys(shown[declared.lines]))
        for panel, place in zip(declared.panels, axes, strict=True):
            _panel(place, declared, panel, shown, names)
        handles, texts = axes[0].get_legend_handles_labels()
        figure.legend(
            handles,
            texts,
            loc="upper left",
            bbox_to_anchor=(0.075, 1 - 0.27 / height),
            ncols=min(len(names), 7),
            frameon=False,
            fontsize=7,
            handlelength=3.4,
            borderaxespad=0,
        )
        figure.text(
            0.085, 1 - 0.08 / height, declared.title, fontsize=10, fontweight="bold", va="top"
        )
    save_figure(figure, destination)


def _panel(
    axes: Any,
    declared: LineFigure,
    panel: Panel,
    rows: pandas.DataFrame,
    names: list[str],
) -> None:
    table = rows.pivot_table(index="seed", columns=[declared.lines, declared.x], values=panel.y)
    columns = set(table.columns)
    values = sorted({float(value) for _, value in table.columns})
    reach = values[-1] - values[0] or 1.0
    for place, name in enumerate(names):
        if name == panel.minus:
            continue
        ours = [v for v in values if (name, v) in columns]
        found = [table[name, v] for v in ours]
        if panel.minus:
            found = [table[panel.minus, v] - series for v, series in zip(ours, found, strict=True)]
        shift = (place - (len(names) - 1) / 2) * DODGE * reach if len(names) > 1 else 0.0
        plot_means(axes, [v + shift for v in ours], found, name, geometric=panel.geometric)
    if panel.minus:
        axes.axhline(0, color=INK, linewidth=0.7)
    elif panel.geometric:
        axes.axhline(1, color=INK, linewidth=0.7)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xticks(values, [f"{v:g}" for v in values])
    axes.set_xlabel(declared.xlabel)
    axes.set_ylabel(panel.ylabel)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)


def plot_means(
    axes: Any,
    places: list[float],
    samples: list[pandas.Series],
    name: str,
    *,
    geometric: bool = False,
) -> None:
    """Draw the means of samples with their 95 % t intervals as one line of the legend."""
    centres, below, above = [], [], []
    for sample in samples:
        values = sample.dropna().to_numpy(dtype=float)
        if geometric:
            values = np.log(values)
        interval = mean_interval(values.tolist()) if len(values) else (math.nan,) * 3
        if geometric:
            interval = tuple(math.exp(v) for v in interval)  # type: ignore[assignment]
        centres.append(interval[0])
        below.append(0.0 if math.isnan(interval[1]) else interval[0] - interval[1])
        above.append(0.0 if math.isnan(interval[2]) else interval[2] - interval[0])
    axes.errorbar(
        places,
        centres,
        yerr=(below, above),
        label=label(name),
        elinewidth=0.7,
        capsize=1.8,
        capthick=0.7,
        **line_style(name),
    )
