"""Draws multiserver/steps: regret per sqrt(T) on coins, and per slot on the flip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Context
from experiments.multiserver.panels import Line, Panel, caption, draw_panels
from experiments.multiserver.steps import RULES, STEPS

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

TITLES = {
    "coin": "two equal ports, room for one,\nfair coins",
    "fair": "L = 5, R = 8, K = 3, linear gains,\nfair coins",
    "flip": "two ports: the first until T/4,\nthe second from then on",
}


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    panels = [_panel(rows[rows["case"] == case], case) for case in TITLES]
    text = (
        f"{'Quick grid. ' if context.quick else ''}OGA from y(1) = 0, protocol committed, exact "
        f"projection; {rows['seed'].nunique()} seeds; means with 95 % t intervals. Left and "
        "middle: regret over sqrt(T), level for regret like sqrt(T), beside Theorem 1's D G. "
        "Right: regret over the reward of y*, level for a loss linear in T; it is negative where "
        "a policy does better than y*, which must serve both ports' times with one allocation. "
        "0.99^t and 0.999^t begin at eta0 = 1 and die out; the theory's D/(G sqrt T) know T."
    )
    title = "Step rules: regret against the best fixed allocation"
    draw_panels(title, panels, caption(text, STEPS.claims, rows), rows, destination)


def _panel(rows: pandas.DataFrame, case: str) -> Panel:
    flip = case == "flip"
    unit = rows["best"] if flip else rows["slots"] ** 0.5
    lines = []
    for column in (*RULES, "bound"):
        if column == "bound" and flip:
            continue
        shown = rows.assign(shown=rows[column] / unit)
        table = shown.pivot_table(index="seed", columns="slots", values="shown")
        name = column if column == "bound" else f"step-{column}"
        lines.append(Line(name, list(table), [table[slots] for slots in table]))
    ylabel = "regret / reward of y*" if flip else "regret / sqrt(T)"
    return Panel(
        TITLES[case], "T, slots", ylabel, lines, logx=True, logy=not flip, level=0 if flip else None
    )
