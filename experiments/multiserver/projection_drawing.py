"""Draws multiserver/projection and writes the note with the smallest counterexample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Context
from experiments.multiserver.panels import Line, Panel, caption, draw_panels
from experiments.multiserver.projection import GAINS, PROJECTION
from experiments.multiserver.projection_note import note
from models.files import write_atomic

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure, its rows as CSV and the note as Markdown, all beside each other."""
    rows = rows.assign(gained=rows["paper"] / rows["best"], fair=rows["exact"] / rows["best"])
    panels = [
        _panel(rows, "wrong calls", "share of calls", {"": "wrong"}),
        _panel(rows, "slots that break (5) or (6)", "share of slots", {"": "slots_infeasible"}),
        _panel(rows, "largest excess over a request", "in units of the request", {"": "excess"}),
        _panel(
            rows,
            "reward of OGA: loop (lines), exact (grey)",
            "reward / reward of y*",
            {"": "gained", "exact": "fair"},
        ),
    ]
    first = rows.iloc[0]
    text = (
        f"{'Quick grid. ' if context.quick else ''}L = {first['ports']}, R = "
        f"{first['instances']}, K = {first['resources']}, T = {first['slots']}, jobs in 70 % of "
        f"slots, form sum; {rows['seed'].nunique()} seeds; means with 95 % t intervals. Calls are "
        "those of the exact run (protocol committed, the theory's steps) where a job has arrived. "
        "The loop looks at one port's request only, and has no guard against rho < 0: then it "
        "hands out all capacity there is. Its reward is that of allocations above the "
        "requests."
    )
    title = "The paper's projection loop is not a projection"
    words = caption(text, PROJECTION.claims, rows)
    draw_panels(title, panels, words, rows, destination, columns=2)
    write_atomic(destination.with_suffix(".md"), note())


def _panel(rows: pandas.DataFrame, title: str, ylabel: str, columns: dict[str, str]) -> Panel:
    lines = []
    for style, column in columns.items():
        for gain in GAINS:
            chosen = rows[rows["gain"] == gain]
            table = chosen.pivot_table(index="seed", columns="contention", values=column)
            name = style or f"gain-{gain}"
            lines.append(Line(name, list(table), [table[value] for value in table]))
    ticks = {float(value): f"{value:g}" for value in sorted(set(rows["contention"]))}
    xlabel = "contention (requests over capacity)"
    return Panel(title, xlabel, ylabel, lines, ticks=ticks, logx=True)
