"""Draws the comparisons of OGA with the four heuristics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Context, Experiment
from experiments.multiserver import comparisons
from experiments.multiserver.comparisons_judging import HEURISTICS, column_of
from experiments.multiserver.outcomes import checkpoints
from experiments.multiserver.panels import Line, Panel, caption, draw_panels

if TYPE_CHECKING:
    import pandas

__all__ = ["draw_arrival", "draw_contention", "draw_reward", "draw_utilities"]

LIMITS = {"": "requests limit channels", "-job": "requests limit jobs"}
OWN = ("oga", "oga-lookahead")
YLABEL = "reward / reward of y*"
TITLES = {
    "linear": "linear gains",
    "mixed": "four kinds by turns",
    "log": "log gains",
    "full": "linear, jobs in all slots",
}


def draw_reward(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Draw average rewards so far over t."""
    slots = checkpoints(int(rows["slots"].iloc[0]))
    decades = {float(t): f"{t:g}" for t in slots if str(t).strip("0") == "1"}
    panels = []
    for suffix, limit in LIMITS.items():
        for setting in comparisons.SETTINGS:
            chosen = rows[rows["setting"] == setting].set_index("seed")
            lines = [
                Line(name, slots, [chosen[f"{column}@{t}"] for t in slots])
                for name, column in _columns(suffix)
            ]
            title = f"{TITLES[setting]};\n{limit}"
            panels.append(
                Panel(title, "t, slots", YLABEL, lines, ticks=decades, logx=True, level=1.0)
            )
    title = "Average reward so far (times t: cumulative)"
    _draw(comparisons.REWARD, panels, rows, destination, context, title, columns=4)


def draw_utilities(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Draw total rewards by kind of gain."""
    places = {gain: float(i) for i, gain in enumerate(comparisons.GAINS)}
    panels = []
    for suffix, limit in LIMITS.items():
        for form in comparisons.FORMS:
            chosen = rows[rows["form"] == form]
            lines = []
            for shift, (name, column) in enumerate(_columns(suffix)):
                table = _relative(chosen, column, "gain")
                x = [places[gain] + 0.11 * (shift - 2.5) for gain in places]
                lines.append(Line(name, x, [table[gain] for gain in places]))
            ticks = {place: gain for gain, place in places.items()}
            title = f"form {form}; {limit}"
            panels.append(
                Panel(title, "gain", YLABEL, lines, ticks=ticks, level=1.0, joined=False, wide=True)
            )
    _draw(
        comparisons.UTILITIES,
        panels,
        rows,
        destination,
        context,
        "Total reward by kind of gain (axis logarithmic beyond 1)",
    )


def draw_contention(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Draw total rewards over contention."""
    panels = _along(rows, "contention", "contention (requests over capacity)", logx=True)
    title = "Total reward over the scarcity of capacity"
    _draw(comparisons.CONTENTION, panels, rows, destination, context, title)


def draw_arrival(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Draw total rewards over the probability of a job."""
    panels = _along(rows, "probability", "probability of a job, by port and slot", logx=False)
    title = "Total reward over the arrival probability"
    _draw(comparisons.ARRIVAL, panels, rows, destination, context, title)


def _columns(suffix: str) -> list[tuple[str, str]]:
    """Names of lines with the columns of the rows."""
    return [*((n, n) for n in OWN), *((n, column_of(n, suffix)) for n in HEURISTICS)]


def _relative(rows: pandas.DataFrame, column: str, axis: str) -> pandas.DataFrame:
    shown = rows.assign(shown=rows[column] / rows["best"])
    return shown.pivot_table(index="seed", columns=axis, values="shown")


def _along(rows: pandas.DataFrame, axis: str, xlabel: str, logx: bool) -> list[Panel]:
    panels = []
    for suffix, limit in LIMITS.items():
        for gain in comparisons.PANELS:
            chosen = rows[rows["gain"] == gain]
            tables = {name: _relative(chosen, column, axis) for name, column in _columns(suffix)}
            lines = [Line(n, list(table), [table[v] for v in table]) for n, table in tables.items()]
            ticks = {float(v): f"{v:g}" for v in tables["oga"]}
            title = f"{TITLES[gain]}; {limit}"
            panels.append(Panel(title, xlabel, YLABEL, lines, ticks=ticks, logx=logx, level=1.0))
    return panels


def _draw(
    experiment: Experiment,
    panels: list[Panel],
    rows: pandas.DataFrame,
    destination: Path,
    context: Context,
    title: str,
    columns: int = 2,
) -> None:
    first = rows.iloc[0]
    text = (
        f"{'Quick grid. ' if context.quick else ''}L = {first['ports']}, R = "
        f"{first['instances']}, K = {first['resources']}, T = {first['slots']}, contention 2, jobs "
        f"in 70 % of slots and form sum where nothing else is said; {rows['seed'].nunique()} "
        "seeds, the same instance and arrivals for all policies; means with 95 % t intervals, in "
        "rewards of y*, the best allocation that is the same in all slots. OGA: committed (it does "
        "not see x(t)) with the theory's steps and exact projection; the heuristics see x(t) and "
        "may use idle ports' shares, so they can beat y*. Percentages of a heuristic's reward, as "
        "the paper gives them, mean nothing where it is negative. Where a request limits a "
        "channel, bin packing and spreading coincide; fairness has no limit per job."
    )
    words = caption(text, experiment.claims, rows)
    draw_panels(
        title + ": OGA and four heuristics", panels, words, rows, destination, columns=columns
    )
