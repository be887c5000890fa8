"""The figure of dispatch/online: a stretch of one run, and means over errors and jobs tried."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from algorithms.dispatch.metrics import power_levels
from experiments.captions import LINE, line_style, put_caption, write_table
from experiments.declaration import Context
from experiments.dispatch.online import (
    BUDGET,
    BUDGETS,
    DEPTHS,
    ERROR,
    ERRORS,
    LINES,
    MARGIN,
    ONLINE,
    SYSTEM,
    by_budget,
    by_depth,
    by_error,
    simulated,
)
from experiments.drawing import INK, plain_style, save_figure
from experiments.line_drawing import plot_means

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

SEED = 0
STRETCH = (12, 60)  # hours shown
OVER = "#D55E00"
DODGE = 0.0012  # of error, between lines


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    with plain_style():
        figure = Figure(figsize=(7.5, 8.0))
        foot = put_caption(figure, _caption(rows, context))
        height = float(figure.get_size_inches()[1])
        top = 1 - 0.5 / height
        upper = figure.add_gridspec(
            2, 1, left=0.085, right=0.985, top=top, bottom=top - 2.5 / height, hspace=0.12
        )
        lower = figure.add_gridspec(
            2, 2, left=0.085, right=0.985, bottom=foot + 0.42 / height, top=top - 3.15 / height,
            wspace=0.2, hspace=0.35,
        )  # fmt: skip
        system = {name: rows[name].iloc[0] for name in SYSTEM}
        power = figure.add_subplot(upper[0])
        _draw_stretch(power, figure.add_subplot(upper[1], sharex=power), system)
        panels = [figure.add_subplot(lower[k // 2, k % 2]) for k in range(4)]
        shown = by_error(rows)
        _draw_errors(panels[0], shown, "over_cap", "time over the cap [%]")
        _draw_errors(panels[1], shown, "queue_time", "weighted queue time [h per job]")
        _draw_depths(panels[2], by_depth(rows))
        _draw_budgets(panels[3], by_budget(rows))
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="upper left", bbox_to_anchor=(0.075, top - 2.85 / height),
            ncols=len(labels), frameon=False, fontsize=7, handlelength=3.2, borderaxespad=0,
        )  # fmt: skip
        title = "On line: predicted power is wrong, and seen once a job runs"
        figure.text(0.085, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def _draw_stretch(power: Any, queue: Any, system: dict[str, Any]) -> None:
    """Of PRB and the hybrid in one run: power against the cap, waiting jobs, cores in use."""
    for name in ("prb", "hybrid"):
        policy, margin = LINES[name]
        point = {**system, "policy": policy, "margin": margin, "error": ERROR, "depth": 0}
        if policy == "hybrid":
            point["budget"] = BUDGET
        instance, found = simulated(point, SEED)
        arrays, log = instance.arrays, found.log
        ran = log.start >= 0
        start, end = log.start[ran], log.end[ran]
        colour = line_style(name)["color"]
        times, watts = power_levels(start, end, arrays.real_power[ran])
        _steps(power, times, (arrays.idle_power + watts) / 1000, colour, name)
        ones = np.ones(int(ran.sum()))
        times, jobs = power_levels(arrays.submit[ran], start, ones)
        _steps(queue, times, jobs, colour, f"{_name(name)}: waiting jobs")
        cores = arrays.job_demand[ran, instance.resources.index("cores")]
        times, used = power_levels(start, end, cores)
        share = 100 * used / arrays.total_capacity[instance.resources.index("cores")]
        _steps(queue, times, share, colour, f"{_name(name)}: cores in use [%]", ":")
    assert instance.power_cap is not None
    power.axhline(instance.power_cap / 1000, color=OVER, linewidth=1.0, linestyle="--", label="cap")
    power.set_ylabel("power [kW]")
    idle = instance.idle_power / 1000
    power.set_ylim(idle, instance.power_cap / 1000 + 0.3 * (instance.power_cap / 1000 - idle))
    power.tick_params(axis="x", labelbottom=False)
    queue.set_ylabel("jobs, %")
    queue.set_xlabel(f"time [h], seed {SEED}, error {100 * ERROR:g} %")
    queue.set_xlim(*STRETCH)
    queue.set_ylim(0, None)
    queue.set_ylim(0, 1.35 * queue.get_ylim()[1])
    for axes in (power, queue):
        axes.legend(loc="upper left", ncols=4, frameon=False, fontsize=6.5, borderaxespad=0.2)


def _steps(axes: Any, times: Any, values: Any, colour: str, name: str, style: str = "-") -> None:
    axes.step(
        times / 3600, values, where="post", color=colour, linewidth=0.9, linestyle=style,
        label=_name(name),
    )  # fmt: skip


def _name(line: str) -> str:
    from experiments.policy_names import label

    return label(line)


def _draw_errors(axes: Any, rows: pandas.DataFrame, metric: str, ylabel: str) -> None:
    table = rows.pivot_table(index="seed", columns=["policy", "error"], values=metric)
    for place, name in enumerate(LINES):
        shift = DODGE * (place - (len(LINES) - 1) / 2)
        plot_means(axes, [e + shift for e in ERRORS], [table[name, e] for e in ERRORS], name)
    axes.set_xticks(ERRORS, [f"{100 * e:g}" for e in ERRORS])
    axes.set_xlabel("error of predicted power [%]")
    axes.set_ylabel(ylabel)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)


def _draw_depths(axes: Any, rows: pandas.DataFrame) -> None:
    table = rows.pivot_table(index="seed", columns=["policy", "depth"], values="queue_time")
    places = list(range(len(DEPTHS)))
    for place, name in enumerate(("prb", "easy")):
        all_tried = table[name, 0]
        ratios = [table[name, depth] / all_tried for depth in DEPTHS]
        plot_means(axes, [p + 0.1 * (place - 0.5) for p in places], ratios, name, geometric=True)
    axes.axhline(1, color=INK, linewidth=0.7)
    axes.set_xticks(places, [str(depth) if depth else "all" for depth in DEPTHS])
    axes.set_xlabel("jobs tried at an event")
    axes.set_ylabel("queue time, all tried = 1")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)


def _draw_budgets(axes: Any, table: pandas.DataFrame) -> None:
    places = [float(k) for k in range(len(BUDGETS))]
    plot_means(axes, places, [table[b] for b in BUDGETS], "hybrid", geometric=True)
    axes.axhline(1, color=INK, linewidth=0.7)
    axes.set_xticks(places, [str(budget) for budget in BUDGETS])
    axes.set_xlabel("orders that the hybrid tries at an event")
    axes.set_ylabel("queue time, PRB = 1")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)


def _caption(rows: pandas.DataFrame, context: Context) -> str:
    system = {name: rows[name].iloc[0] for name in SYSTEM}
    text = (
        f"{'Quick grid. ' if context.quick else ''}{system['nodes']} nodes, {system['jobs']} jobs "
        f"submitted uniformly over {system['days']} days, cap {system['cap']}, "
        f"{rows['seed'].nunique()} seeds, the same jobs for all; means with 95 % t intervals "
        "(below: of ratios, geometric). The error is the standard deviation of real over "
        "predicted power; jobs take 0.2-1 times their estimate, 5 % outrun it and are killed. A "
        f"margin (10 %, {100 * MARGIN:g} %) raises predicted power before a job starts. Above: "
        f"hours {STRETCH[0]}-{STRETCH[1]} of one run, power from the idle system up."
    )
    lines = textwrap.wrap(text, LINE)
    for claim in ONLINE.claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)
