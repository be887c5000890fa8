"""dispatch/feedback and dispatch/anytime: what each part of the hybrid brings, and how soon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.judging import compare, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["ANYTIME", "ENGINES", "FEEDBACK", "PARTS", "TRACE"]

SYSTEM: dict[str, Any] = {"nodes": 64, "jobs": 100}
QUICK_SYSTEM: dict[str, Any] = {"nodes": 8, "jobs": 20}
CAPS = ("35%", "100%")
ENGINES = ("set-times", "time-indexed", "cp-sat")
ROUNDS: dict[str, Any] = {"rounds": 8, "draws": 2000, "work": 0.3, "polish": 0}
POLISH = 3000

PARTS: dict[str, dict[str, Any]] = {
    "set times, one round": {"engine": "set-times", "rounds": 1},
    "with restarts": {"engine": "set-times", "feedback": False, "tighten": False},
    "with conflict sets": {"engine": "set-times", "tighten": False},
    "with tightening": {"engine": "set-times", "feedback": False},
    "with both": {"engine": "set-times"},
    "drawn by weight": {"engine": "set-times", "bias": "weight"},
    "time-indexed LP": {"engine": "time-indexed"},
    "CP-SAT": {"engine": "cp-sat"},
    "polish of PRB alone": {"engine": "none", "polish": POLISH},
    "set times and polish": {"engine": "set-times", "polish": POLISH},
}
"""Parameters by the name of the row; what is not named is in `ROUNDS` or a default."""

TRACE = (1, 16, 64, 256, 1024, 4096, 16384)
"""Orders after which the best plan is noted."""

ORDERS = TRACE[-1] + 1


def feedback_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Every set of parts at a cap that binds and at none that does."""
    system = QUICK_SYSTEM if quick else SYSTEM
    return [
        {**system, "cap": cap, "part": name, **ROUNDS, **own}
        for cap in CAPS
        for name, own in PARTS.items()
    ]


def anytime_grid(quick: bool) -> Sequence[dict[str, Any]]:
    """The polish after each engine, and after none."""
    system = {**(QUICK_SYSTEM if quick else SYSTEM), "cap": "35%", **ROUNDS, "polish": ORDERS}
    return [{**system, "engine": engine} for engine in ("none", *ENGINES)]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run the hybrid on one drawn queue; return its gain over PRB, whole and by the way."""
    from experiments.dispatch.hybrid_runs import SYSTEM as DRAWN
    from experiments.dispatch.hybrid_runs import draw_instance, run_policy

    instance = draw_instance(parameters, seed)
    options = {name: v for name, v in parameters.items() if name not in (*DRAWN, "part")}
    outcome, row = run_policy(instance, "hybrid", seed, options)
    log = outcome.log
    row["orders"] = row.pop("work")  # a parameter has that name
    row |= {
        "gain": 100 * (1 - row["queue_time"] / log.prb),
        "rounds_done": len(log.rounds),
        "conflict_sets": outcome.counters["conflict_sets"],
        "postponed": sum(done.postponed for done in log.rounds),
        "gain_rounds": 100 * (1 - log.after_rounds / log.prb),
    }
    # Short traces (a perfect plan needs no polish) go on as they end.
    for orders in TRACE if log.trace else ():
        reached = log.trace[min(orders.bit_length() - 1, len(log.trace) - 1)]
        row[f"gain_{orders}"] = 100 * (1 - reached / log.prb)
    return row


def _pairs(rows: pandas.DataFrame, cap: str) -> pandas.DataFrame:
    chosen = rows[rows["cap"] == cap]
    return chosen.pivot_table(index="seed", columns="part", values="gain").dropna()


def judge_polish(rows: pandas.DataFrame) -> Verdict:
    """Judge "the search on nodes brings more than the rounds" at both caps."""
    tables = {cap: _pairs(rows, cap) for cap in CAPS}
    found = compare(
        [
            (f"cap {cap}", table["polish of PRB alone"] - table["with both"])
            for cap, table in tables.items()
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"Gain of the polish alone minus that of eight rounds [points]: {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables[CAPS[0]], text, status_of(sure, len(found)), weakest)


def judge_conflicts(rows: pandas.DataFrame) -> Verdict:
    """Judge "conflict sets help" at both caps."""
    tables = {cap: _pairs(rows, cap) for cap in CAPS}
    found = compare(
        [
            (f"cap {cap}", table["with conflict sets"] - table["with restarts"])
            for cap, table in tables.items()
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"Gain with conflict sets minus that with restarts only [points]: {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables[CAPS[0]], text, status_of(sure, len(found)), weakest)


def judge_tighten(rows: pandas.DataFrame) -> Verdict:
    """Judge "tightening does not lose": at most one point of gain at both caps."""
    tables = {cap: _pairs(rows, cap) for cap in CAPS}
    found = compare(
        [
            (f"cap {cap}", 1 + table["with tightening"] - table["with restarts"])
            for cap, table in tables.items()
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"One point plus gain with tightening minus that with restarts: {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables[CAPS[0]], text, status_of(sure, len(found)), weakest)


def judge_anytime(rows: pandas.DataFrame) -> Verdict:
    """Judge "in the end it hardly matters which engine came before" (within one point)."""
    table = rows.pivot_table(index="seed", columns="engine", values="gain").dropna()
    found = compare([(engine, 1 - (table[engine] - table["none"]).abs()) for engine in ENGINES])
    sure = sum(c.surely_positive for c in found)
    means = ", ".join(f"{name} {table[name].mean():.1f}" for name in ("none", *ENGINES))
    text = f"Final gain [%] {means}; one minus the absolute difference to none: {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(table, text, status_of(sure, len(found)), weakest)


def judge_soon(rows: pandas.DataFrame) -> Verdict:
    """Judge "a thousand orders bring nine tenths of what sixteen thousand do"."""
    tables = {
        metric: rows.pivot_table(index="seed", columns="engine", values=metric).dropna()
        for metric in ("gain_1024", "gain_16384")
    }
    engines = ("none", *ENGINES)
    found = compare(
        [(name, tables["gain_1024"][name] - 0.9 * tables["gain_16384"][name]) for name in engines]
    )
    sure = sum(c.surely_positive for c in found)
    text = f"Gain after 1,024 orders minus 0.9 of that after 16,384 [points]: {_listed(found)}."
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables["gain_1024"], text, status_of(sure, len(found)), weakest)


def _listed(found: Sequence[object]) -> str:
    return "; ".join(map(str, found))


_PAIRED = "paired by seed, t intervals corrected; reproduced if all are above 0, partly if half are"
_SHARED: dict[str, Any] = {
    "revision": 1,
    "paper": "thesis (Bologna 2017), chapter 5: the parts of the hybrid; statements are ours",
    "task": task,
    "cost": "orders",
    "policies": ("hybrid",),
    "seeds": 20,
}

FEEDBACK = Experiment(
    name="dispatch/feedback",
    summary="gain over PRB by part: engine, restarts, conflict sets, tightening, local search",
    grid=feedback_grid,
    figure="experiments.dispatch.parts_drawing:draw_feedback",
    claims=(
        Claim(
            "feedback/conflicts",
            "(ours) Conflict sets learned from failed mappings improve on restarts alone.",
            f"gain with them minus gain with restarts, {_PAIRED}",
            judge_conflicts,
        ),
        Claim(
            "feedback/tightening",
            "(ours) Tightening costs at most one point of gain.",
            f"one plus gain with it minus gain with restarts, {_PAIRED}",
            judge_tighten,
        ),
        Claim(
            "feedback/polish",
            "(ours) The search on nodes alone brings more than eight rounds of relaxed schedules.",
            f"gain of the polish of PRB minus gain of the rounds, {_PAIRED}",
            judge_polish,
        ),
    ),
    metrics={
        "gain": "weighted queue time below PRB's [%]",
        "orders": "orders that were decoded",
        "conflict_sets": "conflict sets learned",
        "postponed": "jobs that the strict mapper postponed, all rounds",
    },
    expected_seconds=900.0,
    quick_seconds=10.0,
    **_SHARED,
)

ANYTIME = Experiment(
    name="dispatch/anytime",
    summary="gain over PRB against orders tried, engines side by side",
    grid=anytime_grid,
    figure="experiments.dispatch.parts_drawing:draw_anytime",
    claims=(
        Claim(
            "anytime/engines",
            "(ours) After 16,384 orders it matters less than a point which engine came before.",
            f"one minus the absolute difference to no engine, {_PAIRED}",
            judge_anytime,
        ),
        Claim(
            "anytime/soon",
            "(ours) A thousand orders bring nine tenths of the gain that sixteen thousand do.",
            f"gain after 1,024 orders minus 0.9 of that after 16,384, {_PAIRED}",
            judge_soon,
        ),
    ),
    metrics={
        "gain": "weighted queue time below PRB's [%]",
        "orders": "orders that were decoded",
        "gain_rounds": "the same before the polish",
        **{f"gain_{orders}": f"the same after {orders} orders" for orders in TRACE},
    },
    expected_seconds=600.0,
    quick_seconds=10.0,
    **_SHARED,
)
