"""splitting/greedy-nfs: what NFS loses to the greedy, over gamma, N and J (Fig. 10)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.judging import compare, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["AXES", "GREEDY_NFS", "along", "grid"]

BASE: dict[str, Any] = {"nodes": 50, "jobs": 30, "gamma": 1.0}
QUICK_BASE: dict[str, Any] = {"nodes": 12, "jobs": 6, "gamma": 1.0}
AXES: dict[str, tuple[float, ...]] = {
    "gamma": (0.2, 0.5, 1.0, 2.0),
    "nodes": (20, 30, 40, 50),
    "jobs": (5, 10, 20, 30, 40, 50),
}
QUICK_AXES: dict[str, tuple[float, ...]] = {
    "gamma": (0.2, 1.0),
    "nodes": (8, 12),
    "jobs": (3, 6),
}


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """One axis at a time around N = 50, J = 30, gamma = 1; the middle point once."""
    base, axes = (QUICK_BASE, QUICK_AXES) if quick else (BASE, AXES)
    points: list[dict[str, Any]] = []
    for axis, values in axes.items():
        points += [point for v in values if (point := {**base, axis: v}) not in points]
    return points


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run both policies on one drawn instance.

    Raises
    ------
    AssertionError
        If a routing fails the audit.
    """
    from algorithms.splitting import run
    from models.splitting import audit
    from models.splitting.generator import generate

    instance = generate(
        parameters["nodes"], parameters["jobs"], gamma=parameters["gamma"], seed=seed
    ).instance
    row: dict[str, Any] = {}
    for policy in ("greedy", "nfs"):
        outcome = run(instance, policy)
        report = audit(instance, outcome.solution)
        if not report.feasible:
            raise AssertionError(f"{policy}: {report.violations[0]}")
        row |= {policy: outcome.solution.objective, **outcome.counters}
    return {**row, "excess": 100 * (row["nfs"] / row["greedy"] - 1)}


def along(rows: pandas.DataFrame, axis: str, column: str = "excess") -> pandas.DataFrame:
    """Return a column by seed and value of one axis, the others at the base."""
    # The base has most rows: all other axes leave it in place.
    others = [name for name in BASE if name != axis]
    chosen = rows
    for name in others:
        chosen = chosen[chosen[name] == rows[name].mode().iloc[0]]
    return chosen.pivot_table(index="seed", columns=axis, values=column).dropna()


def judge_better(rows: pandas.DataFrame) -> Verdict:
    """Judge "NFS completes later than the greedy" at every point."""
    tables = {axis: along(rows, axis) for axis in AXES}
    base = {axis: rows[axis].mode().iloc[0] for axis in AXES}  # on all axes, judged once
    found = compare(
        [
            (f"{axis} {v:g}", table[v])
            for axis, table in tables.items()
            for v in table
            if axis == "gamma" or v != base[axis]
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"NFS is surely later at {sure} of {len(found)} points; excess [%] {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables["gamma"], text, status_of(sure, len(found)), weakest)


def judge_gamma(rows: pandas.DataFrame) -> Verdict:
    """Judge "the excess grows as gamma falls", by every step of gamma."""
    table = along(rows, "gamma")
    values = sorted(table)
    steps = [
        (f"gamma {low:g} minus {high:g}", table[low] - table[high])
        for low, high in itertools.pairwise(values)
    ]
    found = compare(steps)
    sure = sum(c.surely_positive for c in found)
    text = f"The excess [%] surely grows in {sure} of {len(found)} steps: {_listed(found)}."
    return verdict_of(table, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


def _listed(found: Sequence[object]) -> str:
    return "; ".join(map(str, found))


GREEDY_NFS = Experiment(
    name="splitting/greedy-nfs",
    revision=1,
    summary="largest completion of NFS over the greedy's, over gamma, N and J",
    paper="arXiv 2111.07006, Fig. 10: greedy and node-first selection",
    grid=grid,
    task=task,
    figure="experiments.splitting.greedy_nfs_drawing:draw",
    claims=(
        Claim(
            "greedy-nfs/better",
            "NFS completes later than the greedy.",
            "mean of 100 (NFS / greedy - 1) of the largest fictitious completion, one value per "
            "seed, t intervals corrected for all points; reproduced if all are above 0, partly "
            "if at least half are",
            judge_better,
        ),
        Claim(
            "greedy-nfs/gamma",
            "The relative gap increases as the transmission rate (gamma) decreases.",
            "differences of the gap between neighbouring gammas, paired by seed, t intervals "
            "corrected; reproduced if all are above 0, partly if at least half are",
            judge_gamma,
        ),
    ),
    metrics={
        "greedy": "largest completion of the greedy's fictitious system [s]",
        "nfs": "largest completion of NFS's fictitious system [s]",
        "excess": "NFS over greedy, minus one [%]",
    },
    cost="evaluations",
    policies=("greedy", "nfs"),
    seeds=50,
    expected_seconds=60.0,
    quick_seconds=5.0,
)
