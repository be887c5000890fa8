"""Draws multiserver/scale: rewards along three axes, and the time per slot over all sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Context
from experiments.multiserver.comparisons_judging import HEURISTICS
from experiments.multiserver.panels import Line, Panel, caption, draw_panels
from experiments.multiserver.scale import AXES, BASE, SCALE

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

LABELS = {
    "instances": "R, instances (L = R / 2)",
    "resources": "K, resources",
    "degree": "ports of an instance",
}


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    panels = [_rewards(rows[rows["axis"] == axis], axis) for axis in AXES]
    shown = rows.assign(us=rows["policy_seconds"] * 1e6)
    table = shown.pivot_table(index="seed", columns="channels", values="us", aggfunc="mean")
    times = Line("oga", list(table), [table[size] for size in table])
    panels.append(
        Panel("CPU time of OGA", "edges x K", "us per slot", [times], logx=True, logy=True)
    )
    base = ", ".join(f"{name} {value}" for name, value in BASE.items())
    text = (
        f"{'Quick grid. ' if context.quick else ''}One axis at a time around {base}; linear gains, "
        f"T = {rows['slots'].iloc[0]}, jobs in 70 % of slots, contention 2, a request limiting a "
        f"channel; {rows['seed'].nunique()} seeds; means with 95 % t intervals. So few slots are "
        "not enough for OGA to be near y*. Times on one core while other work ran on the machine: "
        "CPU time, the least of three runs, loading and result included. With 2 ports per instance "
        "(480) there are as many projections as with 5 (1200), each of fewer ports."
    )
    title = "Larger instances: reward and time per slot"
    words = caption(text, SCALE.claims, rows)
    draw_panels(title, panels, words, rows, destination, columns=2)


def _rewards(rows: pandas.DataFrame, axis: str) -> Panel:
    lines = []
    for name in ("oga", "oga-lookahead", *HEURISTICS):
        relative = rows.assign(shown=rows[name] / rows["best"])
        table = relative.pivot_table(index="seed", columns=axis, values="shown")
        lines.append(Line(name, list(table), [table[value] for value in table]))
    ticks = {float(value): f"{value:g}" for value in sorted(set(rows[axis]))}
    label = LABELS[axis]
    return Panel("", label, "reward / reward of y*", lines, ticks=ticks, logx=True, level=1.0)
