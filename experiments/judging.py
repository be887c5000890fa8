"""Verdicts on policy runs: differences paired by seed, with intervals for all comparisons at once.

Every seed is one independent instance on which all policies ran, so differences are taken seed by
seed and a seed is one measurement. The intervals of the k comparisons of a claim are Student t
intervals at level 1 - 0.05/k (Bonferroni): with probability 95 % all of them hold together. The
rules are fixed here, before rows are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.declaration import Status, Verdict
from experiments.intervals import mean_interval
from experiments.policy_names import label

if TYPE_CHECKING:
    import pandas

__all__ = [
    "LEAST_SEEDS",
    "Comparison",
    "Judge",
    "axis_values",
    "best_at",
    "better",
    "compare",
    "gap_grows",
    "rises_then_flattens",
    "status_of",
    "verdict_of",
]

LEVEL = 0.95
LEAST_SEEDS = 20
"""A claim is judged on at least so many seeds (training.md, section 5)."""

Judge = Callable[["pandas.DataFrame"], Verdict]


@dataclass(frozen=True)
class Comparison:
    """A mean difference and its interval.

    Attributes
    ----------
    name : str
        Of what is compared.
    mean, low, high : float
    """

    name: str
    mean: float
    low: float
    high: float

    @property
    def surely_positive(self) -> bool:
        """Whether the interval is clear of zero, above."""
        return self.low > 0

    @property
    def surely_negative(self) -> bool:
        """Whether the interval is clear of zero, below."""
        return self.high < 0

    def __str__(self) -> str:
        return f"{self.name} {_signed(self.mean)} [{_signed(self.low)}, {_signed(self.high)}]"


def compare(differences: Sequence[tuple[str, Sequence[float]]]) -> list[Comparison]:
    """Return the mean of each list of differences, with intervals that hold together."""
    level = 1 - (1 - LEVEL) / max(len(differences), 1)
    return [
        Comparison(name, *mean_interval([float(v) for v in values], level))
        for name, values in differences
    ]


def better(metric: str, axis: str, others: Sequence[str], *, policy: str, sign: int = 1) -> Judge:
    """Judge "the policy is better than the others" at every point of an axis.

    Reproduced if the policy is surely better in every comparison (others x points), partly if in
    at least half of them. Estimate and interval are those of the mean difference over the axis
    to the strongest of the others; sign -1 if less is better.
    """

    def judge(rows: pandas.DataFrame) -> Verdict:
        table = _table(rows, metric, axis)
        values = axis_values(table)
        at_points = compare(
            [
                (f"{other}|{value:g}", sign * (table[value, policy] - table[value, other]))
                for other in others
                for value in values
            ]
        )
        overall = compare(
            [
                (
                    label(other),
                    sign * sum(table[v, policy] - table[v, other] for v in values) / len(values),
                )
                for other in others
            ]
        )
        sure = sum(c.surely_positive for c in at_points)
        status = status_of(sure, len(at_points))
        strongest = min(overall, key=lambda c: c.mean)
        where = [
            *_places(at_points, axis, "surely worse than", lambda c: c.surely_negative),
            *_places(
                at_points,
                axis,
                "undecided against",
                lambda c: not c.surely_positive and not c.surely_negative,
            ),
        ]
        text = (
            f"{label(policy)} is surely better in {sure} of {len(at_points)} comparisons"
            f"{'; ' + '; '.join(where) if where else ''}. Mean advantage in "
            f"{metric.replace('_', ' ')} over the grid against {'; '.join(map(str, overall))}."
        )
        return verdict_of(table, text, status, strongest)

    return judge


def gap_grows(metric: str, axis: str, others: Sequence[str], *, policy: str) -> Judge:
    """Judge "the gain over the others grows along the axis".

    The statistic is the least-squares slope of the paired difference over the axis, one slope
    per seed. Reproduced if it is surely positive for each of the others and the gain itself is
    nowhere surely negative; partly if the slope is surely positive for at least half of them.
    Estimate and interval are those of the smallest slope, per unit of the axis.
    """

    def judge(rows: pandas.DataFrame) -> Verdict:
        table = _table(rows, metric, axis)
        values = axis_values(table)
        centred = np.array(values, dtype=float) - np.mean(values)
        weights = centred / (centred**2).sum()
        slopes = compare(
            [
                (
                    label(other),
                    sum(
                        w * (table[v, policy] - table[v, other])
                        for w, v in zip(weights, values, strict=True)
                    ),
                )
                for other in others
            ]
        )
        gains = compare(
            [
                (f"{other}|{value:g}", table[value, policy] - table[value, other])
                for other in others
                for value in values
            ]
        )
        losses = _places(gains, axis, "a loss against", lambda c: c.surely_negative)
        sure = sum(c.surely_positive for c in slopes)
        status = status_of(sure, len(slopes))
        if losses and status == "reproduced":
            status = "partly"
        text = (
            f"The gain of {label(policy)} grows surely against {sure} of {len(slopes)}; slope per "
            f"unit of {axis} ({values[0]:g} to {values[-1]:g}) against "
            f"{'; '.join(map(str, slopes))}.{' The gain is surely ' if losses else ''}"
            f"{'; '.join(losses)}{'.' if losses else ''}"
        )
        return verdict_of(table, text, status, min(slopes, key=lambda c: c.mean))

    return judge


def best_at(metric: str, axis: str, best: float, default: float) -> Judge:
    """Judge "the metric is best where the axis has this value".

    Reproduced if the value is surely better than every other one, partly if no other value has
    a larger mean. Estimate and interval are those of the difference to the strongest other.
    """

    def judge(rows: pandas.DataFrame) -> Verdict:
        table = _table(rows.assign(**{axis: rows[axis].fillna(default)}), metric, axis)
        columns = {value: table[value].mean(axis=1) for value in axis_values(table)}
        found = compare(
            [(f"{v:g}", columns[best] - columns[v]) for v in columns if not math.isclose(v, best)]
        )
        strongest = min(found, key=lambda c: c.mean)
        status: Status = "not-reproduced"
        if all(c.surely_positive for c in found):
            status = "reproduced"
        elif all(c.mean >= 0 for c in found):
            status = "partly"
        name = axis.removeprefix("set_")
        text = (
            f"Mean {metric} at {name} = {best:g} is {columns[best].mean():.4g}; "
            f"minus that at {name} = {'; '.join(map(str, found))}."
        )
        return verdict_of(table, text, status, strongest)

    return judge


def rises_then_flattens(metric: str, axis: str, start: float, knee: float, end: float) -> Judge:
    """Judge "the metric rises from the start, and flattens near the knee".

    Three differences, of values and of slopes per unit of the axis: the rise from start to knee;
    the slope before the knee (from start) minus that after it (to the end); the same with the
    slope from the last third of the way before the knee. All surely positive: reproduced, since
    then the bend is not much earlier than the knee; the first two: partly; else not. Estimate
    and interval are those of the rise.
    """

    def judge(rows: pandas.DataFrame) -> Verdict:
        table = _table(rows, metric, axis)
        at = {value: table[value].mean(axis=1) for value in axis_values(table)}
        near = max(v for v in at if v <= start + (knee - start) * 2 / 3)
        after = (at[end] - at[knee]) / (end - knee)
        found = compare(
            [
                (f"rise from {start:g} to {knee:g}", at[knee] - at[start]),
                (
                    f"slope before {knee:g} minus after",
                    (at[knee] - at[start]) / (knee - start) - after,
                ),
                (
                    f"slope from {near:g} to {knee:g} minus after",
                    (at[knee] - at[near]) / (knee - near) - after,
                ),
            ]
        )
        status: Status = "not-reproduced"
        if found[0].surely_positive and found[1].surely_positive:
            status = "reproduced" if found[2].surely_positive else "partly"
        means = ", ".join(f"{value:g}: {series.mean():.4g}" for value, series in at.items())
        text = f"Mean {metric} by ratio {means}. {'; '.join(map(str, found))}."
        return verdict_of(table, text, status, found[0])

    return judge


def _table(rows: pandas.DataFrame, metric: str, axis: str) -> pandas.DataFrame:
    """Seeds by (axis, policy); only seeds that have every point."""
    return rows.pivot_table(index="seed", columns=[axis, "policy"], values=metric).dropna()


def axis_values(table: pandas.DataFrame) -> list[float]:
    """Return the values of the axis that a table by (axis, policy) has."""
    return sorted(set(table.columns.get_level_values(0)))


def _places(
    comparisons: Sequence[Comparison], axis: str, words: str, chosen: Callable[[Comparison], bool]
) -> list[str]:
    """Say against whom and where, for the comparisons (named other|value) that are chosen."""
    where: dict[str, list[str]] = {}
    for comparison in comparisons:
        other, _, value = comparison.name.partition("|")
        if chosen(comparison):
            where.setdefault(other, []).append(value)
    return [
        f"{words} {label(other)} at {axis} = {', '.join(found)}" for other, found in where.items()
    ]


def status_of(sure: int, comparisons: int) -> Status:
    """Reproduced if all comparisons are sure, partly if at least half of them are."""
    if sure == comparisons:
        return "reproduced"
    return "partly" if 2 * sure >= comparisons else "not-reproduced"


def verdict_of(table: pandas.DataFrame, text: str, status: Status, estimate: Comparison) -> Verdict:
    """Return a verdict with its numbers; below `LEAST_SEEDS` rows of the table, not judged."""
    n = len(table)
    text = f"{text} n = {n} seeds."
    numbers = {"n": n, "estimate": estimate.mean, "low": estimate.low, "high": estimate.high}
    if n < LEAST_SEEDS:
        return Verdict(f"Not judged below {LEAST_SEEDS} seeds. {text}", "not-run", numbers)
    return Verdict(text, status, numbers)


def _signed(value: float) -> str:
    return f"{value:+.0f}" if abs(value) >= 100 else f"{value:+.3g}"
