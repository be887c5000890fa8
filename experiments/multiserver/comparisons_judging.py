"""Verdicts on OGA against the four heuristics, at all points of a grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from experiments.declaration import Verdict
from experiments.judging import Comparison, compare, status_of, verdict_of
from experiments.policy_names import label

if TYPE_CHECKING:
    import pandas

__all__ = ["HEURISTICS", "column_of", "judge_heuristics"]

HEURISTICS = ("fairness", "drf", "binpacking", "spreading")


def column_of(name: str, suffix: str) -> str:
    """Return the rows' column; fairness has no limit per job."""
    return name if name == "fairness" else name + suffix


def judge_heuristics(rows: pandas.DataFrame, axes: tuple[str, ...], suffix: str) -> Verdict:
    """Judge "OGA (committed) earns more" at every point against every heuristic.

    Parameters
    ----------
    rows : DataFrame
        With a column of total rewards per policy, and ``best``, that of y*.
    axes : tuple of str
        Columns that make a point.
    suffix : str
        "" for requests per channel, "-job" per job.
    """
    tables = {
        name: rows.assign(gain_over=(rows["oga"] - rows[column_of(name, suffix)]) / rows["best"])
        .pivot_table(index="seed", columns=list(axes), values="gain_over")
        .dropna()
        for name in HEURISTICS
    }
    found = compare(
        [
            (f"{name}|{_point(point)}", table[point])
            for name, table in tables.items()
            for point in table
        ]
    )
    sure = sum(c.surely_positive for c in found)
    overall = compare([(label(name), table.mean(axis=1)) for name, table in tables.items()])
    parts = [
        _listed(found, "better", lambda c: c.surely_positive),
        _listed(found, "worse", lambda c: c.surely_negative),
    ]
    text = (
        f"OGA is {'; '.join(parts)}, of {len(found)} comparisons. Mean advantage in rewards of y*: "
        f"{'; '.join(map(str, overall))}."
    )
    weakest = min(overall, key=lambda c: c.mean)
    return verdict_of(next(iter(tables.values())), text, status_of(sure, len(found)), weakest)


def _point(point: object) -> str:
    values = point if isinstance(point, tuple) else (point,)
    return " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def _listed(found: list[Comparison], word: str, chosen: Callable[[Comparison], bool]) -> str:
    """Name the points at which all heuristics are chosen, and count the rest."""
    number = sum(map(chosen, found))
    points = list(dict.fromkeys(c.name.partition("|")[2] for c in found))
    whole = [
        point for point in points if all(chosen(c) for c in found if c.name.endswith("|" + point))
    ]
    where = f" (against all four at: {', '.join(whole)})" if whole else ""
    return f"surely {word} in {number}{where}"
