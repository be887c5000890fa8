"""dispatch/online: wrong power predictions, margins and a dispatcher's budget in the simulator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.judging import Comparison, better, compare, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

    from algorithms.policy import Run
    from models.dispatch import DispatchInstance

__all__ = [
    "BUDGET",
    "BUDGETS",
    "DEPTHS",
    "ERROR",
    "ERRORS",
    "LINES",
    "ONLINE",
    "by_budget",
    "by_depth",
    "by_error",
    "simulated",
]

SYSTEM: dict[str, Any] = {"nodes": 64, "jobs": 400, "cap": "35%", "days": 3}
QUICK_SYSTEM: dict[str, Any] = {"nodes": 8, "jobs": 50, "cap": "35%", "days": 3}
ERRORS = (0.0, 0.05, 0.10, 0.15, 0.22)
REALISTIC = (0.10, 0.15, 0.22)
ERROR = 0.15
MARGIN = 0.2
LINES = {
    "hybrid": ("hybrid", 0.0),
    "prb": ("prb", 0.0),
    "easy": ("easy", 0.0),
    "fcfs": ("fcfs", 0.0),
    "prb-margin-10": ("prb", 0.1),
    "prb-margin-20": ("prb", MARGIN),
}
"""Policies and margins by the name of their line."""

DEPTHS = (1, 2, 5, 10, 20, 50, 0)
"""Jobs tried at an event; 0 is all."""

BUDGETS = (0, 10, 30, 100, 300, 1000)
"""Orders that the hybrid tries at an event."""

BUDGET = 300  # at all errors
GAIN = 0.1  # over PRB, of the claim
ENOUGH = 20  # jobs tried, of the claim
TOLERATED = 0.05  # share of the queue time, of the claims
REMOVED = 0.9  # share of the energy over the cap, of the claim


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Every line over the error of predictions; the hybrid, PRB and EASY over their budgets."""
    base = QUICK_SYSTEM if quick else SYSTEM
    points = [
        {**base, **_line(policy), "margin": margin, "error": error, "depth": 0}
        for policy, margin in LINES.values()
        for error in ERRORS
    ]
    points += [
        {**base, **_line("hybrid"), "margin": 0.0, "error": ERROR, "depth": 0, "budget": budget}
        for budget in BUDGETS
        if budget != BUDGET
    ]
    points += [
        {**base, "policy": policy, "margin": 0.0, "error": ERROR, "depth": depth}
        for policy in ("prb", "easy")
        for depth in DEPTHS
        if depth
    ]
    return points


def _line(policy: str) -> dict[str, Any]:
    return {"policy": policy, "budget": BUDGET} if policy == "hybrid" else {"policy": policy}


@lru_cache(maxsize=2)
def _drawn(nodes: int, jobs: int, cap: str, days: int, seed: int) -> DispatchInstance:
    from models.dispatch.generator import generate

    return generate(nodes, jobs, cap=cap, span=days * 86400, seed=seed).instance


@lru_cache(maxsize=2)
def _with_error(
    nodes: int, jobs: int, cap: str, days: int, error: float, seed: int
) -> DispatchInstance:
    """The drawn instance with the drawn errors of power scaled: the same jobs for all errors."""
    from models.dispatch import DispatchInstance
    from models.dispatch.presets import POWER_ERROR

    drawn = _drawn(nodes, jobs, cap, days, seed)
    scale = error / POWER_ERROR
    changed = [
        job.model_copy(
            update={"actual_power": max(0.0, job.power + scale * (job.real_power - job.power))}
        )
        for job in drawn.jobs
    ]
    return DispatchInstance(
        resources=drawn.resources,
        power_cap=drawn.power_cap,
        nodes=drawn.nodes,
        jobs=tuple(changed),
    )


def simulated(parameters: Mapping[str, Any], seed: int) -> tuple[DispatchInstance, Run]:
    """Return the instance of a point and its simulation.

    Raises
    ------
    AssertionError
        If the schedule fails the audit.
    """
    from algorithms.dispatch import POLICIES
    from algorithms.dispatch.simulation import SimulationSettings, simulate_policy
    from models.dispatch import audit

    system = {name: parameters[name] for name in SYSTEM}
    instance = _with_error(**system, error=parameters["error"], seed=seed)
    policy = POLICIES[parameters["policy"]]
    settings = SimulationSettings(
        margin=parameters["margin"],
        depth=parameters["depth"] or None,
        budget=parameters.get("budget"),
    )
    found = simulate_policy(policy, instance, policy.make_parameters({}), seed, settings)
    report = audit(instance, found.solution)
    if not report.feasible:
        raise AssertionError(f"{policy.name}: {report.violations[0]}")
    return instance, found


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one simulation."""
    instance, found = simulated(parameters, seed)
    metrics = found.log.metrics
    started = max(1, int((found.log.start >= 0).sum()))
    cap = instance.power_cap or float("inf")
    return {
        "queue_time": metrics.weighted_queue_time / started / 3600,
        "mean_wait": metrics.mean_wait / 3600,
        "over_cap": 100 * metrics.seconds_over_cap / max(1, metrics.makespan),
        "energy_over_cap": metrics.energy_over_cap / 3.6e6,
        "peak": 100 * (metrics.peak_power / cap - 1),
        "cores": 100 * metrics.utilisation["cores"],
        "makespan": metrics.makespan / 3600,
        "impossible": instance.number_of_jobs - started,
        "killed": found.counters["killed"],
        "tried": found.counters["tried"],
    }


def by_error(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows where all jobs are tried, with the line's name as policy."""
    names = {line: name for name, line in LINES.items()}
    chosen = rows[(rows["depth"] == 0) & rows["budget"].isin([BUDGET, math.nan])]
    return chosen.assign(
        policy=[names[pair] for pair in zip(chosen["policy"], chosen["margin"], strict=True)]
    )


def by_depth(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows over the number of jobs tried, at one error."""
    lists = rows["policy"].isin(["prb", "easy"])
    return rows[(rows["error"] == ERROR) & (rows["margin"] == 0) & lists]


def by_budget(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return, by seed and budget, the hybrid's queue time over PRB's, at one error."""
    chosen = rows[(rows["error"] == ERROR) & (rows["margin"] == 0) & (rows["depth"] == 0)]
    hybrid = chosen[chosen["policy"] == "hybrid"]
    table = hybrid.pivot_table(index="seed", columns="budget", values="queue_time")
    prb = chosen[chosen["policy"] == "prb"].set_index("seed")["queue_time"]
    return table.div(prb, axis=0)


def judge_order(rows: pandas.DataFrame) -> Verdict:
    """Judge "PRB waits less than EASY and FCFS" at every error."""
    judge = better("queue_time", "error", ("easy", "fcfs"), policy="prb", sign=-1)
    return judge(by_error(rows))


def judge_hybrid(rows: pandas.DataFrame) -> Verdict:
    """Judge "the hybrid waits a tenth less than PRB" at every error."""
    table = by_error(rows).pivot_table(
        index="seed", columns=["error", "policy"], values="queue_time"
    )
    table = table.dropna()
    found = [(f"error {e:g}", (1 - GAIN) * table[e, "prb"] - table[e, "hybrid"]) for e in ERRORS]
    text = "0.9 times PRB's weighted queue time minus the hybrid's [h per job]"
    return _judged(table, compare(found), text)


def _margin(
    rows: pandas.DataFrame, metric: str, errors: Sequence[float], without: float
) -> tuple[pandas.DataFrame, list[Comparison]]:
    """`without` times the metric without a margin, minus the metric with it, by error."""
    table = by_error(rows).pivot_table(index="seed", columns=["error", "policy"], values=metric)
    table = table.dropna()
    found = [
        (f"error {e:g}", without * table[e, "prb"] - table[e, "prb-margin-20"]) for e in errors
    ]
    return table, compare(found)


def _judged(table: pandas.DataFrame, found: list[Comparison], text: str) -> Verdict:
    sure = sum(c.surely_positive for c in found)
    status: Status = status_of(sure, len(found))
    listed = "; ".join(map(str, found))
    text = f"{text}, surely at {sure} of {len(found)}: {listed}."
    return verdict_of(table, text, status, min(found, key=lambda c: c.mean))


def judge_margin(rows: pandas.DataFrame) -> Verdict:
    """Judge "the margin takes away nine tenths of the energy over the cap"."""
    table, found = _margin(rows, "energy_over_cap", REALISTIC, 1 - REMOVED)
    text = "A tenth of the energy over the cap without margin minus all of it with it [kWh]"
    return _judged(table, found, text)


def judge_price(rows: pandas.DataFrame) -> Verdict:
    """Judge "the margin costs at most 5 % of the queue time"."""
    table, found = _margin(rows, "queue_time", REALISTIC, 1 + TOLERATED)
    text = "1.05 times the weighted queue time without margin minus that with it [h per job]"
    return _judged(table, found, text)


def judge_depth(rows: pandas.DataFrame) -> Verdict:
    """Judge "20 jobs tried are enough"."""
    table = by_depth(rows).pivot_table(
        index="seed", columns=["policy", "depth"], values="queue_time"
    )
    table = table.dropna()
    found = compare(
        [(name, (1 + TOLERATED) * table[name, 0] - table[name, ENOUGH]) for name in ("prb", "easy")]
    )
    text = "1.05 times the weighted queue time with all jobs tried minus that with 20 [h per job]"
    return _judged(table, found, text)


ONLINE = Experiment(
    name="dispatch/online",
    revision=1,
    summary="on line: wrong power predictions, margins, and few jobs tried at an event",
    paper="thesis (Bologna 2017), chapter 5: the dispatchers on line; statements are ours",
    grid=grid,
    task=task,
    figure="experiments.dispatch.online_drawing:draw",
    claims=(
        Claim(
            "online/order",
            "(ours) On line, PRB has less weighted queue time than EASY and FCFS, whatever the "
            "error of predicted power.",
            "differences per job, paired by seed, t intervals corrected for all errors; "
            "reproduced if all are above 0, partly if at least half are",
            judge_order,
        ),
        Claim(
            "online/hybrid",
            "(ours) On line, the hybrid's search with 300 orders per event has at least 10 % less "
            "weighted queue time than PRB, whatever the error.",
            "0.9 times PRB's queue time minus the hybrid's, paired by seed, t intervals "
            "corrected; reproduced if all are above 0, partly if at least half are",
            judge_hybrid,
        ),
        Claim(
            "online/margin",
            "(ours) With realistic errors (10-22 %), a margin of 20 % on predicted power takes "
            "away nine tenths of the energy over the cap.",
            "0.1 times the energy over the cap without margin minus that with it, paired by "
            "seed, t intervals corrected; reproduced if all are above 0, partly if half are",
            judge_margin,
        ),
        Claim(
            "online/price",
            "(ours) This margin costs PRB at most 5 % of weighted queue time.",
            "1.05 times the queue time without margin minus that with it, paired by seed, t "
            "intervals corrected; reproduced if all are above 0, partly if half are",
            judge_price,
        ),
        Claim(
            "online/depth",
            "(ours) A dispatcher that tries only the first 20 waiting jobs at an event loses at "
            "most 5 % of weighted queue time.",
            "1.05 times the queue time with all jobs tried minus that with 20, paired by seed, "
            "t intervals corrected; reproduced if above 0 for PRB and EASY, partly if for one",
            judge_depth,
        ),
    ),
    metrics={
        "queue_time": "weighted queue time (5.2) per started job [h]",
        "over_cap": "share of the time until the last end in which power is over the cap [%]",
        "energy_over_cap": "energy over the cap [kWh]",
        "peak": "largest power over the cap, minus one [%]",
        "cores": "share of the cores in use [%]",
        "mean_wait": "mean wait [h]",
    },
    cost="tried",
    policies=("hybrid", "prb", "easy", "fcfs"),
    seeds=20,
    expected_seconds=900.0,
    quick_seconds=10.0,
)
