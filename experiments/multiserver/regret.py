"""multiserver/regret: regret of OGA over T, its exponent, and Theorem 1's bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.intervals import mean_interval
from experiments.judging import Comparison, status_of, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["LARGEST_EXPONENT", "REGRET", "SETTINGS", "STATEMENTS", "exponents", "task"]

SIZE = {"ports": 5, "instances": 8, "resources": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "coin": {"stream": "coin"},
    "fair": {**SIZE, "probability": 0.5},
    "busy": {**SIZE, "probability": 0.7},
    "log": {**SIZE, "probability": 0.5, "gain": "log"},
    "channel": {**SIZE, "probability": 0.5, "gain": "mixed", "form": "channel"},
}
STATEMENTS = {
    "coin": "two equal ports, room for one, fair coins",
    "fair": "linear gains, fair coins",
    "busy": "linear gains, jobs in 70 % of slots",
    "log": "log gains (sum), fair coins",
    "channel": "mixed gains (channel), fair coins",
}
SLOTS = (100, 316, 1000, 3162, 10000, 31623, 100000)
QUICK_SLOTS = (100, 400)
FITTED_FROM = 1000
LARGEST_EXPONENT = 0.55


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Every setting at every T."""
    slots = QUICK_SLOTS if quick else SLOTS
    return [
        {"setting": name, "slots": number, **setting}
        for name, setting in SETTINGS.items()
        for number in slots
    ]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run OGA (committed, theory, exact) and find y*."""
    from experiments.multiserver.instances import draw_instance
    from experiments.multiserver.outcomes import audited_run, best_fixed

    instance = draw_instance(parameters, seed)
    best = best_fixed(instance, tolerance=1e-6)
    reward = audited_run(instance, "oga").objective
    constant = instance.diameter * instance.gradient_bound
    return {
        "reward": reward,
        "best": best.lower,
        # The upper value of y*, so that the regret is not understated.
        "regret": best.upper - reward,
        "bound": constant * math.sqrt(instance.slots),
        # The bound promises a reward above 0 once D G sqrt(T) < v T, v being y*'s per slot.
        "says_from": (constant * instance.slots / best.lower) ** 2,
        "work": instance.number_of_edges * instance.number_of_resources * instance.slots,
    }


def exponents(rows: pandas.DataFrame, column: str = "regret") -> list[float]:
    """Least-squares slope of log regret over log T >= 1000, one per seed with all T positive."""
    import numpy as np

    table = rows.pivot_table(index="seed", columns="slots", values=column).dropna()
    chosen = [slots for slots in table if slots >= FITTED_FROM]
    if len(chosen) < 2:
        return []
    positive = table[chosen][(table[chosen] > 0).all(axis=1)]
    logs = np.log(np.array(chosen, dtype=float))
    return [
        float(np.polyfit(logs, np.log(values), 1)[0]) for values in positive.to_numpy(dtype=float)
    ]


def judge_bound(rows: pandas.DataFrame) -> Verdict:
    """Judge "the regret is at most D G sqrt(T)", run by run."""
    share = rows["regret"] / rows["bound"]
    within = int((share <= 1).sum())
    status: Status = "reproduced" if within == len(rows) else "not-reproduced"
    says = rows.groupby("setting", sort=False)["says_from"].median()
    listed = ", ".join(f"{value:.0f} ({STATEMENTS[name]})" for name, value in says.items())
    text = (
        f"{within} of {len(rows)} runs are within the bound; regret / bound has median "
        f"{share.median():.2g} and is at most {share.max():.2g}. The bound promises a reward "
        f"above 0, which allocating nothing has, from T = {listed}; medians."
    )
    largest = float(share.max())
    estimate = Comparison("regret / bound", float(share.mean()), float(share.min()), largest)
    return verdict_of(rows.drop_duplicates("seed"), text, status, estimate)


def judge_exponent(rows: pandas.DataFrame) -> Verdict:
    """Judge "the regret grows like sqrt(T)", by fitted exponents."""
    found, level = [], 1 - 0.05 / len(SETTINGS)
    for name in SETTINGS:
        slopes = exponents(rows[rows["setting"] == name])
        if slopes:
            found.append(Comparison(name, *mean_interval(slopes, level)))
    sure = sum(c.high <= LARGEST_EXPONENT for c in found)
    text = (
        f"Exponent of T fitted from T = {FITTED_FROM}, surely at most {LARGEST_EXPONENT:g} in "
        f"{sure} of {len(found)} settings: "
        + "; ".join(f"{c.name} {c.mean:.3f} [{c.low:.3f}, {c.high:.3f}]" for c in found)
        + "."
    )
    if not found:
        return Verdict("Too few T to fit an exponent.", "not-run")
    worst = max(found, key=lambda c: c.mean)
    return verdict_of(rows.drop_duplicates("seed"), text, status_of(sure, len(found)), worst)


REGRET = Experiment(
    name="multiserver/regret",
    revision=1,
    summary="regret of OGA over T on i.i.d. arrivals, its exponent, and the bound",
    paper="arXiv 2305.06572, Theorem 1",
    grid=grid,
    task=task,
    figure="experiments.multiserver.regret_drawing:draw",
    claims=(
        Claim(
            "regret/bound",
            "The regret of OGA with the theory's steps is at most D G sqrt(T).",
            "regret against the upper value of y*, protocol committed; reproduced if every run is "
            "within the bound, else not; estimate, low and high are the mean, least and greatest "
            "share of the bound",
            judge_bound,
        ),
        Claim(
            "regret/exponent",
            "The regret grows like the square root of T.",
            "slope of log regret over log T from T = 1000, one per seed; reproduced if the t "
            f"interval (corrected for the settings) ends at {LARGEST_EXPONENT:g} or below in all "
            "settings, partly if in at least half",
            judge_exponent,
        ),
    ),
    metrics={
        "reward": "total reward of OGA",
        "best": "total reward of y*, lower value",
        "regret": "upper value of y* minus reward",
        "bound": "D G sqrt(T)",
        "says_from": "T from which the bound is below the reward of y* [slots]",
    },
    cost="work",
    policies=("oga",),
    expected_seconds=700.0,
    quick_seconds=40.0,
)
