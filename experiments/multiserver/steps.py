"""multiserver/steps: the four step rules on fair coins and on a stream that flips at T/4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.intervals import mean_interval
from experiments.judging import Comparison, compare, verdict_of
from experiments.multiserver.regret import LARGEST_EXPONENT, SIZE, exponents

if TYPE_CHECKING:
    import pandas

__all__ = ["RULES", "STEPS", "STREAMS", "task"]

STREAMS: dict[str, dict[str, Any]] = {
    "coin": {"stream": "coin"},
    "fair": {**SIZE, "probability": 0.5},
    "flip": {"stream": "flip"},
}
RULES: dict[str, dict[str, Any]] = {
    "theory": {"step": "theory"},
    "sqrt": {"step": "sqrt"},
    "adagrad": {"step": "adagrad"},
    "geometric": {"step": "geometric", "eta0": 1.0, "decay": 0.99},
    "geometric-slow": {"step": "geometric", "eta0": 1.0, "decay": 0.999},
}
SLOTS = (1000, 4000, 16000, 64000)
QUICK_SLOTS = (1000, 4000)
DYING = ("geometric", "geometric-slow")
LIVING = tuple(name for name in RULES if name not in DYING)


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Every stream at every T; a row holds all rules."""
    slots = QUICK_SLOTS if quick else SLOTS
    return [
        {"case": name, "slots": number, **stream}
        for name, stream in STREAMS.items()
        for number in slots
    ]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run OGA (committed, exact) with every rule on one instance, and find y*."""
    from experiments.multiserver.instances import draw_instance
    from experiments.multiserver.outcomes import audited_run, best_fixed

    instance = draw_instance(parameters, seed)
    best = best_fixed(instance)
    row = {
        "best": best.lower,
        "bound": instance.diameter * instance.gradient_bound * math.sqrt(instance.slots),
        "work": instance.number_of_edges * instance.number_of_resources * instance.slots,
    }
    for name, options in RULES.items():
        row[name] = best.upper - audited_run(instance, "oga", **options).objective
    return row


def judge_bound(rows: pandas.DataFrame) -> Verdict:
    """Judge "the theory's steps stay within the bound on every stream"."""
    share = rows["theory"] / rows["bound"]
    within = int((share <= 1).sum())
    others = {name: int((rows[name] <= rows["bound"]).sum()) for name in RULES if name != "theory"}
    text = (
        f"{within} of {len(rows)} runs with the theory's steps are within D G sqrt(T) (at most "
        f"{share.max():.2g} of it); of the other rules "
        + ", ".join(f"{name} {number}" for name, number in others.items())
        + "."
    )
    status: Status = "reproduced" if within == len(rows) else "not-reproduced"
    estimate = Comparison("", float(share.mean()), float(share.min()), float(share.max()))
    return verdict_of(rows.drop_duplicates("seed"), text, status, estimate)


def judge_exponent(rows: pandas.DataFrame) -> Verdict:
    """Judge "on fair coins the theory's steps have regret like sqrt(T)"."""
    found = []
    for case in ("coin", "fair"):
        slopes = exponents(rows[rows["case"] == case], "theory")
        if slopes:
            found.append(Comparison(case, *mean_interval(slopes, 0.975)))
    if len(found) < 2:
        return Verdict("Too few T to fit an exponent.", "not-run")
    worst = max(found, key=lambda c: c.high)
    status: Status = "reproduced" if worst.high <= LARGEST_EXPONENT else "not-reproduced"
    text = "Exponent of T: " + "; ".join(
        f"{c.name} {c.mean:.3f} [{c.low:.3f}, {c.high:.3f}]" for c in found
    )
    return verdict_of(rows.drop_duplicates("seed"), f"{text}.", status, worst)


def judge_flip(rows: pandas.DataFrame) -> Verdict:
    """Judge "geometric steps lose linearly on the flip, the others do not"."""
    flipped = rows[rows["case"] == "flip"]
    longest = flipped["slots"].max()
    last = flipped[flipped["slots"] == longest]
    per_slot = compare([(name, last[name] / last["best"]) for name in RULES])
    slopes = {name: exponents(flipped[flipped["slots"] >= longest / 16], name) for name in DYING}
    linear = {name: mean_interval(found) for name, found in slopes.items() if found}
    lost = {c.name: c for c in per_slot}
    status: Status = "not-reproduced"
    decayed = "geometric" in linear and linear["geometric"][1] >= 0.95
    if decayed and lost["geometric"].surely_positive:
        alive = [lost[name].high < 0 for name in LIVING]
        status = "reproduced" if all(alive) else "partly"
    text = (
        f"Regret over the reward of y* at T = {longest:g}: {'; '.join(map(str, per_slot))}. "
        "Exponent of T of the last factor of 16: "
        + "; ".join(f"{n} {v[0]:.3f} [{v[1]:.3f}, {v[2]:.3f}]" for n, v in linear.items())
        + "."
    )
    return verdict_of(flipped.drop_duplicates("seed"), text, status, lost["geometric"])


STEPS = Experiment(
    name="multiserver/steps",
    revision=1,
    summary="regret over T of four step rules, on fair coins and where arrivals flip at T/4",
    paper="arXiv 2305.06572, Theorem 1; the flip is ours",
    grid=grid,
    task=task,
    figure="experiments.multiserver.steps_drawing:draw",
    claims=(
        Claim(
            "steps/bound",
            "With the theory's steps the regret is within D G sqrt(T) whatever arrives.",
            "regret against the upper value of y*; reproduced if every run is within the bound; "
            "estimate, low and high are the mean, least and greatest share of the bound",
            judge_bound,
        ),
        Claim(
            "steps/exponent",
            "On fair coins the theory's steps have a regret like the square root of T.",
            "slope of log regret over log T, one per seed; reproduced if both t intervals "
            f"(corrected) end at {LARGEST_EXPONENT:g} or below",
            judge_exponent,
        ),
        Claim(
            "steps/flip",
            "(ours) Steps that shrink geometrically lose linearly in T after a flip, others not.",
            "regret over y*'s reward at the largest T, and the exponent over the last factor of "
            "16; reproduced if 0.99^t surely loses with an exponent of at least 0.95 and the three "
            "other rules surely gain, partly if only the first",
            judge_flip,
        ),
    ),
    metrics={
        "best": "total reward of y*, lower value",
        "bound": "D G sqrt(T)",
        **{name: f"regret with {options}" for name, options in RULES.items()},
    },
    cost="work",
    policies=("oga",),
    expected_seconds=60.0,
    quick_seconds=10.0,
)
