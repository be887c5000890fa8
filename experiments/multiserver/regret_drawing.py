"""Draws multiserver/regret: one panel per setting, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Context
from experiments.intervals import mean_interval
from experiments.multiserver.panels import Line, Panel, caption, draw_panels
from experiments.multiserver.regret import REGRET, SETTINGS, STATEMENTS, exponents

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    panels = [_panel(rows[rows["setting"] == name], name) for name in SETTINGS]
    text = (
        f"{'Quick grid. ' if context.quick else ''}OGA from y(1) = 0, protocol committed, steps "
        f"of the theory (which know T), exact projection; {rows['seed'].nunique()} seeds, another "
        "instance and other arrivals for each; means with 95 % t intervals. L = 5, R = 8, K = 3 "
        "but for the first panel (L = 2, R = K = 1). y* by an LP, or by tangents to a relative "
        "gap of 1e-6; its upper value is used."
    )
    title = "Regret against the best fixed allocation, and what Theorem 1 allows"
    words = caption(text, REGRET.claims, rows)
    draw_panels(title, panels, words, rows, destination, columns=3)


def _panel(rows: pandas.DataFrame, name: str) -> Panel:
    lines = []
    for column, style in (("regret", "regret"), ("bound", "bound"), ("best", "best")):
        table = rows.pivot_table(index="seed", columns="slots", values=column)
        lines.append(Line(style, list(table), [table[slots] for slots in table]))
    slopes = exponents(rows)
    fitted = f"\nexponent {mean_interval(slopes)[0]:.2f}" if slopes else ""
    return Panel(f"{STATEMENTS[name]}{fitted}", "T, slots", "reward", lines, logx=True, logy=True)
