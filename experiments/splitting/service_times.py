"""splitting/lp-ilp-time: run times of (1)-(5) and of its LP (Fig. 7), and the paths (Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.declaration import Claim, Experiment, Verdict
from experiments.judging import compare, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["METHODS", "SERVICE_TIMES", "by_cell", "crowded"]

METHODS = {
    "lp_arcs": "LP, arcs",
    "lp_columns": "LP, columns",
    "arcs": "ILP, arcs",
    "columns": "ILP, columns",
}


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """N by J."""
    nodes, jobs = ((6, 10), (2, 4)) if quick else ((15, 24), (3, 6, 12))
    limit = 1.0
    return [{"nodes": n, "jobs": j, "time_limit": limit} for n in nodes for j in jobs]


def by_cell(rows: pandas.DataFrame, column: str) -> pandas.DataFrame:
    """Return a column by seed and (N, J); only seeds that have every cell."""
    return rows.pivot_table(index="seed", columns=["nodes", "jobs"], values=column).dropna()


def crowded(rows: pandas.DataFrame) -> tuple[int, int, int]:
    """Return the fewest and the most nodes, and the most jobs."""
    return int(rows["nodes"].min()), int(rows["nodes"].max()), int(rows["jobs"].max())


def judge_growth(rows: pandas.DataFrame) -> Verdict:
    """Judge "the ILP's time grows faster with J than the LP's", on logarithms, over arcs."""
    ilp, lp = (np.log(by_cell(rows, f"{name}_seconds")) for name in ("arcs", "lp_arcs"))
    few, many = int(rows["jobs"].min()), int(rows["jobs"].max())
    grown = [
        (f"N={n}", (ilp[n, many] - ilp[n, few]) - (lp[n, many] - lp[n, few]))
        for n in sorted(set(rows["nodes"]))
    ]
    found = compare(grown)
    sure = sum(c.surely_positive for c in found)
    text = (
        f"From J = {few} to {many}, logarithm of the ILP's growth over that of the LP: "
        f"{_listed(found)}. {_cut_off(rows)}"
    )
    return verdict_of(ilp, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


def judge_small(rows: pandas.DataFrame) -> Verdict:
    """Judge "with many jobs the ILP takes longer on the small network"."""
    small, large, jobs = crowded(rows)
    log = np.log(by_cell(rows, "arcs_seconds"))
    over_lp = log - np.log(by_cell(rows, "lp_arcs_seconds"))
    found = compare(
        [
            ("time", log[small, jobs] - log[large, jobs]),
            ("time over the LP's", over_lp[small, jobs] - over_lp[large, jobs]),
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = (
        f"At J = {jobs}, logarithm at N = {small} minus that at N = {large}: {_listed(found)}. "
        f"{_cut_off(rows)}"
    )
    status = status_of(2 if found[0].surely_positive else sure, 2)
    return verdict_of(log, text, status, found[0])


def judge_columns(rows: pandas.DataFrame) -> Verdict:
    """Judge "column generation solves the LP faster than the arcs", in every cell."""
    log = np.log(by_cell(rows, "lp_arcs_seconds")) - np.log(by_cell(rows, "lp_columns_seconds"))
    found = compare([(f"N={n} J={j}", log[n, j]) for n, j in log])
    sure = sum(c.surely_positive for c in found)
    factors = ", ".join(f"{c.name}: {np.exp(c.mean):.0f}" for c in found)
    text = f"Geometric mean of arcs over columns: {factors}. Logarithms: {_listed(found)}."
    return verdict_of(log, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


def judge_paths(rows: pandas.DataFrame) -> Verdict:
    """Judge "with many jobs, paths on a small network are more often cyclic"."""
    small, large, jobs = crowded(rows)
    table = 100 * by_cell(rows, "revisits") / jobs
    found = compare(
        [
            (f"N = {small} minus N = {large}", table[small, jobs] - table[large, jobs]),
            (f"at N = {small}", table[small, jobs]),
            (f"at N = {large}", table[large, jobs]),
        ]
    )
    text = f"Jobs [%] whose path comes back to a node, at J = {jobs}: {_listed(found)}."
    status = status_of(int(found[0].surely_positive), 1)
    return verdict_of(table, text, status, found[0])


def _cut_off(rows: pandas.DataFrame) -> str:
    """Say how many integer programs over arcs were cut off, by cell."""
    cells = rows.groupby(["nodes", "jobs"])["arcs_status"]
    cut = {key: int((cell != "optimal").sum()) for key, cell in cells if (cell != "optimal").any()}
    if not cut:
        return "No program was cut off."
    said = ", ".join(f"N={n} J={j}: {count}" for (n, j), count in cut.items())
    return f"Cut off after {rows['time_limit'].max():g} s of the solver: {said}."


def _listed(found: Sequence[object]) -> str:
    return "; ".join(map(str, found))


RULE = "t intervals of seeds' differences of logarithms, corrected"

SERVICE_TIMES = Experiment(
    name="splitting/lp-ilp-time",
    revision=1,
    summary="run times of (1)-(5) and its LP, over arcs and by column generation; paths",
    paper="arXiv 2111.07006, Figs. 7 and 8: run times of LP and ILP; paths for small and large N",
    grid=grid,
    task="experiments.splitting.service_times_task:task",
    figure="experiments.splitting.service_times_drawing:draw",
    claims=(
        Claim(
            "lp-ilp-time/growth",
            "The ILP's run time grows faster with the number of jobs than the LP's.",
            f"{RULE}; reproduced if surely positive at every N, partly if at half of them",
            judge_growth,
        ),
        Claim(
            "lp-ilp-time/small",
            "With many jobs the ILP takes longer on a small network than on a large one.",
            f"{RULE}; reproduced if the time is surely longer, partly if the time over the LP's is",
            judge_small,
        ),
        Claim(
            "lp-ilp-time/columns",
            "(Ours) Column generation solves the LP faster than the program over arcs.",
            f"{RULE}; reproduced if surely faster in every cell, partly if in half of them",
            judge_columns,
        ),
        Claim(
            "lp-ilp-time/paths",
            "With many jobs the paths on a small network are complicated, often with cycles; on a "
            "large one they are simple.",
            "share of jobs whose path in the network comes back to a node (a round trip to the "
            "source apart), paired by seed; reproduced if surely larger at the smallest N",
            judge_paths,
        ),
    ),
    metrics={
        "lp": "value of the LP [s]",
        "lp_arcs_seconds": "run time of the LP over arcs, with building [s]",
        "lp_columns_seconds": "run time of the LP by columns, with its tables [s]",
        "arcs_seconds": "run time of the ILP over arcs, with building [s]",
        "arcs_status": "optimal, or bounded if time was up",
        "columns_seconds": "run time of the ILP by columns [s]",
        "columns_status": "optimal, or bounded if time was up",
    },
    cost="programs",
    policies=("ilp",),
    seeds=20,
    expected_seconds=350.0,
    quick_seconds=20.0,
)
