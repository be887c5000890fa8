"""training/feasibility: when the cover guarantee of the rounding lemma says anything (G <= 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict

if TYPE_CHECKING:
    import pandas

__all__ = ["CLAIMS", "FEASIBILITY", "crossings", "judge", "task"]

PACKING, PACKING_ROWS, COVER_ROWS = 15, 401, 1  # W_b, r and m of the paper's case


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Delta = 0.02 to 0.1 for several W_a (the paper does not state which)."""
    steps = 9 if quick else 33
    return [
        {"cover": cover, "delta": round(0.02 + 0.08 * k / (steps - 1), 6)}
        for cover in (15, 20, 25, 30, 35, 40, 45)
        for k in range(steps)
    ]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return G_delta of Lemma 1 and the right-hand side 3m / exp(G W_a / 2); nothing is drawn."""
    import math

    from algorithms.training.pdors.rounding import gain_favouring_packing

    gain = gain_favouring_packing(PACKING_ROWS, PACKING, parameters["delta"])
    right = 3 * COVER_ROWS / math.exp(gain * parameters["cover"] / 2)
    return {
        "gain": gain,
        "right_side": right,
        "meaningful": right <= parameters["delta"],
        "evaluations": 1,
    }


def crossings(rows: pandas.DataFrame) -> dict[int, float]:
    """Return for each W_a the delta at which the curve meets delta, where there is one."""
    found = {}
    curves = rows.drop_duplicates(["cover", "delta"]).sort_values("delta")
    for cover, curve in curves.groupby("cover"):
        delta = curve["delta"].to_numpy()
        excess = (curve["right_side"] - curve["delta"]).to_numpy()
        for k in range(1, len(delta)):
            if excess[k - 1] > 0 >= excess[k]:
                share = excess[k - 1] / (excess[k - 1] - excess[k])
                found[int(cover)] = float(delta[k - 1] + share * (delta[k] - delta[k - 1]))
                break
    return found


def judge(rows: pandas.DataFrame) -> Verdict:
    """Judge "larger W_a cross at smaller delta": exact curves, so nothing to test statistically."""
    at = crossings(rows)
    values = [at[cover] for cover in sorted(at)]
    falls = [earlier > later for earlier, later in pairwise(values)]
    covers = sorted(int(cover) for cover in set(rows["cover"]))
    lowest = rows.groupby("cover")["meaningful"]
    never = [cover for cover in covers if not lowest.any()[cover]]
    always = [cover for cover in covers if lowest.all()[cover]]
    status: Status = "not-reproduced"
    if len(values) >= 2 and all(falls):
        status = "reproduced"
    elif any(falls):
        status = "partly"
    text = (
        f"Crossings at {', '.join(f'W_a = {c}: delta = {at[c]:.3f}' for c in sorted(at))}. "
        f"Vacuous for all delta up to {rows['delta'].max():g} at W_a = "
        f"{', '.join(map(str, never)) or 'none'}, never at W_a = "
        f"{', '.join(map(str, always)) or 'none'}. G_delta is {rows['gain'].min():.3f} to "
        f"{rows['gain'].max():.3f}, at which the LP optimum is scaled so far down that draws "
        f"hardly ever meet the cover (training/sensitivity)."
    )
    differences = [later - earlier for earlier, later in pairwise(values)]
    numbers: dict[str, float] = {"n": len(values)}
    if differences:
        numbers |= {
            "estimate": sum(differences) / len(differences),
            "low": min(differences),
            "high": max(differences),
        }
    return Verdict(text, status, numbers)


CLAIMS = (
    Claim(
        "feasibility",
        "3m / exp(G W_a / 2) falls below delta at a smaller delta the larger W_a is.",
        "delta at which the exact curve crosses, for each W_a; reproduced if it falls from each "
        "W_a to the next, partly if somewhere; estimate: mean step, with the least and the "
        "greatest step",
        judge,
    ),
)

FEASIBILITY = Experiment(
    name="training/feasibility",
    revision=1,
    summary="3m / exp(G W_a / 2) against delta, W_b = 15, r = 401, m = 1",
    paper="arXiv 2108.02917, the feasibility study",
    grid=grid,
    task=task,
    figure="experiments.training.feasibility_drawing:draw",
    claims=CLAIMS,
    metrics={
        "gain": "G_delta of Lemma 1",
        "right_side": "3m / exp(G W_a / 2)",
        "meaningful": "whether it is at most delta, so that the lemma says something",
    },
    cost="evaluations",
    seeds=1,
    quick_seeds=1,
    expected_seconds=5.0,
    quick_seconds=3.0,
)
