"""Lines of training/theory on Theorem 7: exponents fitted to counters, and to seconds beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from experiments.intervals import mean_interval
from experiments.training.theory_lines import Line, Outcome

if TYPE_CHECKING:
    import pandas

__all__ = ["COUNTERS", "MAKERS", "exponents"]

COUNTERS = {
    "choices": "sums in the DPs",
    "lps_solved": "LPs solved",
    "iterations": "simplex iterations",
}
MARGIN = 0.25
"""A fitted exponent is noisy (other T, other jobs): the promise is kept up to this."""


def exponents(rows: pandas.DataFrame, axis: str, column: str) -> list[float]:
    """Fit ln(column) on ln(axis) by least squares, for each seed by itself.

    Seeds with a single value, or with a count of 0, have no slope.
    """
    import numpy as np

    part = rows[rows["part"] == "scaling"]
    part = part[part["axis"] == axis] if len(part) else part
    slopes = []
    for _, group in part.groupby("seed"):
        if group[axis].nunique() > 1 and (group[column] > 0).all():
            x, y = np.log(group[axis].astype(float)), np.log(group[column].astype(float))
            slopes.append(float(np.polyfit(x, y, 1)[0]))
    return slopes


def _line(
    axis: str, promise: float, deciding: tuple[str, ...]
) -> Callable[[str, Any], Line | None]:
    def make(name: str, rows: pandas.DataFrame) -> Line | None:
        texts, intervals = [], []
        for column in (*deciding, "policy_seconds"):
            slopes = exponents(rows, axis, column)
            if not slopes:
                return None
            mean, low, high = mean_interval(slopes)
            texts.append(f"{COUNTERS.get(column, 'seconds')} {mean:.2f} ({low:.2f} to {high:.2f})")
            if column != "policy_seconds":
                intervals.append((mean, low, high, len(slopes)))
        worst = max(intervals, key=lambda entry: entry[2])
        outcome: Outcome = "undecided"
        if all(entry[2] <= promise + MARGIN for entry in intervals):
            outcome = "holds"
        elif any(entry[1] > promise for entry in intervals):
            outcome = "fails"
        text = f"exponents over {worst[3]} seeds: {', '.join(texts)}; promised {promise:g}"
        return Line(name, text, "no", "-", outcome, worst[3], *worst[:3])

    return make


MAKERS: dict[str, Callable[[str, Any], Line | None]] = {
    "theorem-7-slots": _line("slots", 1.0, ("choices", "lps_solved", "iterations")),
    "theorem-7-machines": _line("machines", 3.0, ("lps_solved", "iterations")),
    "theorem-7-levels": _line("levels", 2.0, ("choices", "lps_solved", "iterations")),
}
