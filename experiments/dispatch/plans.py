"""dispatch/hybrid-prb and dispatch/cap: plans of all policies, and what no plan can be below."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.dispatch.hybrid_runs import METRICS
from experiments.judging import Comparison, better, compare, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["CAP", "CAPS", "HYBRID_PRB", "JOBS", "POLICIES", "by_cap", "by_jobs"]

BASE: dict[str, Any] = {"nodes": 64, "jobs": 100, "cap": "35%"}
QUICK_BASE: dict[str, Any] = {"nodes": 8, "jobs": 20, "cap": "35%"}
JOBS = (50, 100, 150, 200)
CAPS = (15, 25, 35, 50, 70)
QUICK_JOBS, QUICK_CAPS = (10, 20), (35, 70)
POLICIES = ("hybrid", "prb", "easy", "fcfs")
ORDERS = 10_000  # that the hybrid's polish tries
STARTS = 40_000  # jobs times slots of the bound's LP
GAIN = 0.1  # of the claim


def _points(base: dict[str, Any], axis: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    for value in values:
        system = {**base, axis: value}
        for policy in POLICIES:
            own = {"polish": ORDERS} if policy == "hybrid" else {}
            points.append({**system, "policy": policy, **own})
        points.append({**system, "policy": "bound", "starts": STARTS})
    return points


def over_jobs(quick: bool) -> Sequence[dict[str, Any]]:
    """All policies over the length of the queue."""
    return _points(QUICK_BASE if quick else BASE, "jobs", QUICK_JOBS if quick else JOBS)


def over_caps(quick: bool) -> Sequence[dict[str, Any]]:
    """All policies over the cap."""
    caps = [f"{cap}%" for cap in (QUICK_CAPS if quick else CAPS)]
    return _points(QUICK_BASE if quick else BASE, "cap", caps)


def by_jobs(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return hours per job, and the bound as a policy of its own."""
    return _hours(rows)


def by_cap(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return the same with the cap as a number [%]."""
    return _hours(rows).assign(cap=rows["cap"].str.removesuffix("%").astype(float))


def _hours(rows: pandas.DataFrame) -> pandas.DataFrame:
    # Each row has one of the two; the other is 0.
    total = rows["queue_time"] + rows["bound"]
    return rows.assign(
        policy=rows["policy"].replace("bound", "lower-bound"),
        hours=total / 3600 / (rows["jobs"] - rows["impossible"]),
        makespan_hours=(rows["makespan"] / 3600).where(rows["policy"] != "bound"),
        cores=rows["cores"].where(rows["policy"] != "bound"),
        peak_share=(100 + rows["peak"]).where(rows["policy"] != "bound"),
    )


def _table(rows: pandas.DataFrame, axis: str) -> pandas.DataFrame:
    shown = by_cap(rows) if axis == "cap" else by_jobs(rows)
    table = shown.pivot_table(index="seed", columns=[axis, "policy"], values="hours")
    return table.dropna()


def _gains(rows: pandas.DataFrame, axis: str) -> tuple[pandas.DataFrame, list[Comparison]]:
    """Gain over PRB [%], by value of the axis."""
    table = _table(rows, axis)
    values = sorted(set(table.columns.get_level_values(0)))
    gains = [(f"{axis} {v:g}", 100 * (1 - table[v, "hybrid"] / table[v, "prb"])) for v in values]
    return table, compare(gains)


def _judge_gain(rows: pandas.DataFrame, axis: str) -> Verdict:
    table, found = _gains(rows, axis)
    sure = sum(c.low > 100 * GAIN for c in found)
    text = f"Gain over PRB [%], surely above 10 at {sure} of {len(found)}: "
    text += "; ".join(map(str, found)) + "."
    return verdict_of(table, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


def judge_gain(rows: pandas.DataFrame) -> Verdict:
    """Judge "the hybrid waits a tenth less than PRB" at every length of the queue."""
    return _judge_gain(rows, "jobs")


def judge_gain_by_cap(rows: pandas.DataFrame) -> Verdict:
    """Judge the same at every cap."""
    return _judge_gain(rows, "cap")


def judge_growth(rows: pandas.DataFrame) -> Verdict:
    """Judge "the gain grows with the queue": the longest queue against the shortest."""
    table = _table(rows, "jobs")
    values = sorted(set(table.columns.get_level_values(0)))
    gain = {v: 100 * (1 - table[v, "hybrid"] / table[v, "prb"]) for v in values}
    found = compare(
        [(f"{b:g} minus {a:g} jobs", gain[b] - gain[a]) for a, b in itertools.pairwise(values)]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"The gain [%] surely grows in {sure} of {len(found)} steps: "
    text += "; ".join(map(str, found)) + "."
    return verdict_of(table, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


def judge_bound(rows: pandas.DataFrame) -> Verdict:
    """Judge "the hybrid halves PRB's distance to the lower bound"."""
    table = _table(rows, "jobs")
    values = sorted(set(table.columns.get_level_values(0)))
    found = compare(
        [
            (
                f"{v:g} jobs",
                0.5 * (table[v, "prb"] - table[v, "lower-bound"])
                - (table[v, "hybrid"] - table[v, "lower-bound"]),
            )
            for v in values
        ]
    )
    above = ", ".join(
        f"{v:g} jobs: {(100 * (table[v, 'hybrid'] / table[v, 'lower-bound'] - 1)).mean():.1f} and "
        f"{(100 * (table[v, 'prb'] / table[v, 'lower-bound'] - 1)).mean():.1f}"
        for v in values
    )
    sure = sum(c.surely_positive for c in found)
    text = (
        f"Hybrid and PRB above the bound [%] at {above}. Half of PRB's distance minus the "
        f"hybrid's [h per job], surely positive at {sure} of {len(found)}: "
        f"{'; '.join(map(str, found))}."
    )
    return verdict_of(table, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


def judge_order(rows: pandas.DataFrame) -> Verdict:
    """Judge "PRB waits less than EASY and FCFS" at every cap."""
    return better("hours", "cap", ("easy", "fcfs"), policy="prb", sign=-1)(by_cap(rows))


def judge_tightness(rows: pandas.DataFrame) -> Verdict:
    """Judge "a tighter cap costs queue time", with the hybrid, step by step."""
    table = _table(rows, "cap")
    values = sorted(set(table.columns.get_level_values(0)))
    found = compare(
        [
            (f"{low:g} minus {high:g} %", table[low, "hybrid"] - table[high, "hybrid"])
            for low, high in itertools.pairwise(values)
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"The hybrid's queue time [h per job] surely grows in {sure} of {len(found)} steps: "
    text += "; ".join(map(str, found)) + "."
    return verdict_of(table, text, status_of(sure, len(found)), min(found, key=lambda c: c.mean))


_CORRECTED = "paired by seed, t intervals corrected for all; reproduced if all are above"
_SHARED: dict[str, Any] = {
    "revision": 1,
    "paper": "thesis (Bologna 2017), chapter 5: hybrid and PRB; statements are ours",
    "task": "experiments.dispatch.hybrid_runs:task",
    "rows": "dispatch/plans",
    "metrics": METRICS,
    "cost": "work",
    "policies": POLICIES,
    "seeds": 20,
}

HYBRID_PRB = Experiment(
    name="dispatch/hybrid-prb",
    summary="weighted queue time of all policies over the queue's length, with a lower bound",
    grid=over_jobs,
    figure="experiments.dispatch.plans_drawing:draw_jobs",
    claims=(
        Claim(
            "hybrid-prb/gain",
            "(ours) The hybrid's weighted queue time is at least 10 % below PRB's.",
            f"100 (1 - hybrid / PRB), {_CORRECTED} 10, partly if at least half are",
            judge_gain,
        ),
        Claim(
            "hybrid-prb/growth",
            "(ours) The gain grows with the length of the queue.",
            f"differences between neighbouring lengths, {_CORRECTED} 0, partly if half are",
            judge_growth,
        ),
        Claim(
            "hybrid-prb/bound",
            "(ours) The hybrid at least halves PRB's distance to the lower bound.",
            f"half of PRB's distance minus the hybrid's, {_CORRECTED} 0, partly if half are",
            judge_bound,
        ),
    ),
    expected_seconds=600.0,
    quick_seconds=10.0,
    **_SHARED,
)

CAP = Experiment(
    name="dispatch/cap",
    summary="cap from tight to loose: queue time, makespan, cores in use, peak power",
    grid=over_caps,
    figure="experiments.dispatch.plans_drawing:draw_caps",
    claims=(
        Claim(
            "cap/gain",
            "(ours) The hybrid's weighted queue time is at least 10 % below PRB's at every cap.",
            f"100 (1 - hybrid / PRB), {_CORRECTED} 10, partly if at least half are",
            judge_gain_by_cap,
        ),
        Claim(
            "cap/order",
            "(ours) PRB has less weighted queue time than EASY and FCFS at every cap.",
            f"differences, {_CORRECTED} 0, partly if at least half are",
            judge_order,
        ),
        Claim(
            "cap/tightness",
            "(ours) Every tightening of the cap costs queue time, even with the hybrid.",
            f"differences between neighbouring caps, {_CORRECTED} 0, partly if half are",
            judge_tightness,
        ),
    ),
    expected_seconds=600.0,
    quick_seconds=10.0,
    **_SHARED,
)
