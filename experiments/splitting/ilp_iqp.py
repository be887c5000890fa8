"""splitting/ilp-iqp: what the reference's IQP loses to the ILP, and how long both take (Fig. 5)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.declaration import Claim, Experiment, Verdict
from experiments.judging import Comparison, compare, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["AXES", "ILP_IQP", "METHODS", "along", "base_of"]

BASE: dict[str, Any] = {"nodes": 15, "jobs": 4, "gamma": 1.0, "ilp_limit": 2.0, "time_limit": 2.0}
QUICK_BASE: dict[str, Any] = {
    "nodes": 8,
    "jobs": 2,
    "gamma": 1.0,
    "ilp_limit": 1.0,
    "time_limit": 2.0,
}
AXES: dict[str, tuple[float, ...]] = {
    "gamma": (0.2, 0.5, 1.0, 2.0),
    "jobs": (2, 4, 8),
    "nodes": (15, 20),
}
QUICK_AXES: dict[str, tuple[float, ...]] = {"gamma": (0.2, 1.0), "jobs": (2, 3), "nodes": (8, 10)}
METHODS = {"ilp": "ILP, columns", "linear": "IQP, linearised", "raw": "IQP, raw products"}


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """One axis at a time; the raw form only where J is small, at the base's gamma and N."""
    base, axes = (QUICK_BASE, QUICK_AXES) if quick else (BASE, AXES)
    points: list[dict[str, Any]] = []
    for axis, values in axes.items():
        for value in values:
            point = {**base, axis: value}
            others = all(point[name] == base[name] for name in ("gamma", "nodes"))
            point["raw"] = others and point["jobs"] <= base["jobs"]
            if point not in points:
                points.append(point)
    return points


def base_of(rows: pandas.DataFrame) -> dict[str, float]:
    """The point on all axes, which most rows share with each axis."""
    return {axis: float(rows[axis].mode().iloc[0]) for axis in AXES}


def along(rows: pandas.DataFrame, axis: str, column: str) -> pandas.DataFrame:
    """Return a column by seed and value of one axis, the others at the base."""
    base = base_of(rows)
    chosen = rows
    for other in AXES:
        if other != axis:
            chosen = chosen[chosen[other] == base[other]]
    return chosen.pivot_table(index="seed", columns=axis, values=column).dropna()


def judge_better(rows: pandas.DataFrame) -> Verdict:
    """Judge "the ILP's service time is less than the IQP's", at every point."""
    base = base_of(rows)
    tables = {axis: along(rows, axis, "gap") for axis in AXES}
    found = compare(
        [
            (f"{axis} {v:g}", table[v])
            for axis, table in tables.items()
            for v in table
            if axis == "gamma" or v != base[axis]
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"The gap [%] is surely positive at {sure} of {len(found)} points: {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables["gamma"], text, status_of(sure, len(found)), weakest)


def judge_gamma(rows: pandas.DataFrame) -> Verdict:
    """Judge "the gap is larger for small gamma"."""
    table = along(rows, "gamma", "gap")
    return _steps(table, "gamma", [(low, high) for low, high in itertools.pairwise(sorted(table))])


def judge_jobs(rows: pandas.DataFrame) -> Verdict:
    """Judge "the gap grows with J"."""
    table = along(rows, "jobs", "gap")
    return _steps(table, "J", [(high, low) for low, high in itertools.pairwise(sorted(table))])


def _steps(table: pandas.DataFrame, axis: str, pairs: Sequence[tuple[Any, Any]]) -> Verdict:
    """Judge that the first of each pair has the larger gap; and the ends, which say the most."""
    found = compare(
        [(f"{axis} {more:g} minus {less:g}", table[more] - table[less]) for more, less in pairs]
    )
    ends = sorted({value for pair in pairs for value in pair})
    most, least = (ends[0], ends[-1]) if pairs[0][0] < pairs[0][1] else (ends[-1], ends[0])
    (overall,) = compare([(f"{axis} {most:g} minus {least:g}", table[most] - table[least])])
    sure = sum(c.surely_positive for c in found)
    status = status_of(sure, len(found))
    if status == "not-reproduced" and overall.surely_positive:
        status = "partly"
    text = (
        f"The gap [%] surely grows in {sure} of {len(found)} steps: {_listed(found)}; from end to "
        f"end {overall}."
    )
    return verdict_of(table, text, status, overall)


def judge_time(rows: pandas.DataFrame) -> Verdict:
    """Judge "the ILP is solved much faster than the IQP", both forms, on logarithms."""
    said: list[Comparison] = []
    for form in ("linear", "raw"):
        table = along(rows, "jobs", f"{form}_seconds")
        ours = along(rows, "jobs", "ilp_seconds")
        logs = [(f"{METHODS[form]} J={v:g}", np.log(table[v] / ours[v])) for v in table]
        said += compare(logs)
    sure = sum(c.surely_positive for c in said)
    raw, linear = (along(rows, "jobs", f"{form}_seconds") for form in ("raw", "linear"))
    factors = "; ".join(
        f"J={v:g}: {np.exp(np.log(raw[v] / linear[v]).mean()):.1f}" for v in raw if v in linear
    )
    open_ones = {
        name: int((rows[f"{name}_status"] == "bounded").sum()) for name in ("ilp", "linear", "raw")
    }
    text = (
        f"Logarithm of the IQP's time over the ILP's: {_listed(said)}. Raw over linearised: "
        f"{factors}. Cut off: {', '.join(f'{METHODS[k]} {v}' for k, v in open_ones.items())}."
    )
    table = along(rows, "jobs", "gap")
    return verdict_of(table, text, status_of(sure, len(said)), min(said, key=lambda c: c.mean))


def _listed(found: Sequence[object]) -> str:
    return "; ".join(map(str, found))


STEPS = (
    "differences of 100 (IQP / ILP - 1) of the true service time between neighbouring values, "
    "paired by seed, t intervals corrected; reproduced if all are above 0, partly if at least "
    "half are or that from end to end is"
)

ILP_IQP = Experiment(
    name="splitting/ilp-iqp",
    revision=1,
    summary="true service time of the IQP's placement over the ILP's, and run times",
    paper="arXiv 2111.07006, Fig. 5: ILP and the IQP of its reference",
    grid=grid,
    task="experiments.splitting.ilp_iqp_task:task",
    figure="experiments.splitting.ilp_iqp_drawing:draw",
    claims=(
        Claim(
            "ilp-iqp/better",
            "The ILP finds less service time than the IQP.",
            "mean of 100 (IQP / ILP - 1) by point, t intervals corrected; reproduced if all are "
            "above 0, partly if at least half are",
            judge_better,
        ),
        Claim("ilp-iqp/gamma", "The gap is larger for small gamma.", STEPS, judge_gamma),
        Claim("ilp-iqp/jobs", "The gap increases with the number of jobs.", STEPS, judge_jobs),
        Claim(
            "ilp-iqp/time",
            "The ILP is solved much faster than the IQP.",
            "logarithms of run times paired by seed, t intervals corrected; reproduced if the "
            "ILP is surely faster than both forms at every J, partly if in half of these",
            judge_time,
        ),
    ),
    metrics={
        "ilp": "best service time of the ILP [s]",
        "ilp_lower": "what it proved [s]",
        "ilp_status": "optimal, or bounded if time was up",
        "ilp_seconds": "run time of the ILP by columns [s]",
        "iqp": "true service time of the IQP's placement [s]",
        "iqp_value": "its value by the IQP's own measure [s]",
        "linear_status": "of the IQP's own optimum",
        "linear_seconds": "run time of the linearised IQP, with building [s]",
        "gap": "iqp over ilp, minus one [%]",
    },
    cost="programs",
    policies=("ilp", "iqp"),
    seeds=20,
    expected_seconds=400.0,
    quick_seconds=25.0,
)
