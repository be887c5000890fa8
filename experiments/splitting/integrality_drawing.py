"""The figure of splitting/integrality, and the note beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.captions import write_table
from experiments.declaration import Context
from experiments.drawing import plain_style, save_figure
from experiments.intervals import binomial_interval
from experiments.splitting.integrality import INTEGRALITY, budget_cells, programs_of
from experiments.splitting.integrality_note import note
from experiments.splitting.looks import LOOKS, line_of_means
from experiments.splitting.page import assumed, caption, panels, plain_axis
from models.files import write_atomic

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

SOURCES = (
    ("hostile", "u-shaped", "hostile, U"),
    ("hostile", "shrinking", "hostile, shrinking"),
    ("greedy", "u-shaped", "greedy, U"),
    ("greedy", "shrinking", "greedy, shrinking"),
)


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure, its rows as CSV and the note as Markdown, all beside each other."""
    write_table(rows, destination)
    write_atomic(destination.with_suffix(".md"), note(rows))
    with plain_style():
        text = caption(rows, context, _how(rows), INTEGRALITY.claims)
        figure, axes = panels(3, "Integer optimum over its LP relaxation", text)
        _budgets(axes[0], rows)
        _layers(axes[1], rows)
        _near(axes[2], rows)
    save_figure(figure, destination)


def _how(rows: pandas.DataFrame) -> str:
    budgets = rows[rows["part"] == "budgets"]
    limit = budgets["time_limit"].max()
    return (
        f"Left, (1)-(5): best solution found in {limit:g} s over the LP (columns; layers that fit "
        "no node by themselves are left out, which makes it a little higher than as printed), "
        "means with 95 % t intervals. Middle, (6)-(10): share of programs with LP < ILP, "
        "with exact 95 % intervals as if all were independent. Greedy: all programs of Algorithm "
        "1 on generated networks; hostile: node rates over 10^7..10^9, link rates over "
        "10^5..10^7, half of the queues over 0.01..10 s, s = t. Right: all numbers of the "
        "smallest counterexample times exp(spread N(0, 1)); dots: the largest gap. "
        f"{rows['seed'].nunique()} seeds. {assumed()}."
    )


def _budgets(axes: Any, rows: pandas.DataFrame) -> None:
    cells = budget_cells(rows)
    for look, nodes in enumerate(sorted({n for n, _ in cells})):
        jobs = sorted(j for n, j in cells if n == nodes)
        samples = [cells[nodes, j]["ratio"] for j in jobs]
        line_of_means(axes, jobs, samples, look=look, name=f"N = {nodes}")
    plain_axis(axes, sorted({j for _, j in cells}), "jobs J")
    axes.set_ylabel("(1)-(5): best known / LP")
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.legend(frameon=False, fontsize=6.5)


def _layers(axes: Any, rows: pandas.DataFrame) -> None:
    layers = sorted(programs_of(rows, "greedy")["layers"].unique().tolist())
    for place, (look, (source, shape, name)) in enumerate(zip(LOOKS, SOURCES, strict=True)):
        table = programs_of(rows, source)
        table = table[table["shape"] == shape]
        shares, below, above = [], [], []
        for layer in layers:
            at = table[table["layers"] == layer]
            gaps, programs = int(at["gaps"].sum()), int(at["programs"].sum())
            low, high = binomial_interval(gaps, programs)
            share = gaps / max(programs, 1)
            shares.append(100 * share)
            below.append(100 * (share - low))
            above.append(100 * (high - share))
        axes.errorbar(
            [k + 0.12 * (place - 1.5) for k in range(len(layers))],
            shares,
            yerr=(below, above),
            label=name,
            markersize=3.5,
            elinewidth=0.7,
            capsize=1.8,
            color=look["color"],
            marker=look["marker"],
            linestyle="none",
        )
    axes.set_xticks(range(len(layers)), [f"{layer:g}" for layer in layers])
    axes.set_xlabel("layers L")
    axes.set_ylabel("(6)-(10): programs with a gap [%]")
    axes.set_ylim(top=1.5 * axes.get_ylim()[1])
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.legend(
        frameon=False, fontsize=6, loc="upper left", ncols=2, columnspacing=0.6, handletextpad=0.3
    )


def _near(axes: Any, rows: pandas.DataFrame) -> None:
    table = (
        programs_of(rows, "near")
        .groupby("spread")
        .agg(gaps=("gaps", "sum"), programs=("programs", "sum"), largest=("largest", "max"))
    )
    shares = 100 * table["gaps"] / table["programs"]
    axes.plot(table.index, shares, label="programs with a gap", markersize=4, **LOOKS[0])
    axes.plot(table.index, table["largest"], label="largest gap", markersize=4, **LOOKS[2])
    axes.set_xscale("log")
    plain_axis(axes, table.index.tolist(), "spread")
    axes.xaxis.set_minor_locator(_none())
    axes.set_ylim(0, 125)
    axes.set_ylabel("[%]", labelpad=1)
    axes.legend(frameon=False, fontsize=6.5, loc="upper right")


def _none() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
