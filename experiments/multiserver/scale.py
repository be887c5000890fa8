"""multiserver/scale: rewards and CPU time per slot as L, R, K and the density grow."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.intervals import mean_interval
from experiments.judging import Comparison, verdict_of
from experiments.multiserver.comparisons_judging import judge_heuristics

if TYPE_CHECKING:
    import pandas

__all__ = ["AXES", "SCALE", "time_exponents"]

SLOTS, QUICK_SLOTS = 500, 50
BASE: dict[str, int] = {"ports": 20, "instances": 40, "resources": 6, "degree": 5}
AXES: dict[str, tuple[int, ...]] = {
    "instances": (10, 20, 40, 80, 160),
    "resources": (1, 3, 6, 12),
    "degree": (2, 5, 10, 20),
}
"""Varied one at a time; with the instances there are half as many ports."""
BAND = 0.2  # around 1, for an exponent that counts as linear


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """One axis at a time around the base."""
    points = []
    for axis, values in AXES.items():
        for value in values[:2] if quick else values:
            changed = {axis: value, **({"ports": value // 2} if axis == "instances" else {})}
            slots = QUICK_SLOTS if quick else SLOTS
            points.append({"axis": axis, **BASE, **changed, "slots": slots})
    return points


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Compare all policies, and measure OGA's CPU time."""
    from algorithms.multiserver import run
    from experiments.multiserver.instances import draw_instance
    from experiments.multiserver.outcomes import compare_task

    row = compare_task(parameters, seed)
    instance = draw_instance(parameters, seed)
    spent = []
    for _ in range(3):
        began = time.process_time()
        run(instance, "oga")
        spent.append(time.process_time() - began)
    return {
        **row,
        "channels": instance.number_of_edges * instance.number_of_resources,
        # The least of three: others on the machine only add to it.
        "policy_seconds": min(spent) / instance.slots,
    }


def time_exponents(rows: pandas.DataFrame) -> list[float]:
    """Least-squares slope of log CPU time per slot over log (edges x K), one per seed."""
    import numpy as np

    found = []
    for _, own in rows.groupby("seed"):
        logs = np.log(own[["channels", "policy_seconds"]].to_numpy(dtype=float))
        if len(set(logs[:, 0])) > 1:
            found.append(float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0]))
    return found


def judge_time(rows: pandas.DataFrame) -> Verdict:
    """Judge "the time of a slot is linear in edges x K"."""
    slopes = time_exponents(rows)
    if not slopes:
        return Verdict("Too few sizes to fit an exponent.", "not-run")
    mean, low, high = mean_interval(slopes)
    inside = 1 - BAND <= low and high <= 1 + BAND
    status: Status = "reproduced" if inside else "not-reproduced"
    if not inside and high <= 1 + BAND:
        status = "partly"
    ends = rows.groupby("channels")["policy_seconds"].median() * 1e6
    text = (
        f"Exponent {mean:.2f} [{low:.2f}, {high:.2f}] from {ends.index[0]:g} to "
        f"{ends.index[-1]:g} channels x resources: {ends.iloc[0]:.1f} to {ends.iloc[-1]:.0f} us "
        "per slot on one core of our machine (median)."
    )
    return verdict_of(
        rows.drop_duplicates("seed"), text, status, Comparison("exponent", mean, low, high)
    )


SCALE = Experiment(
    name="multiserver/scale",
    revision=1,
    summary="rewards of OGA and the heuristics, and OGA's time per slot, over L, R, K and degree",
    paper="arXiv 2305.06572, experiments on scale",
    grid=grid,
    task=task,
    figure="experiments.multiserver.scale_drawing:draw",
    claims=(
        Claim(
            "scale/time",
            "The time of a slot grows linearly in edges x K.",
            "slope of log CPU time over log (edges x K) over all sizes, one per seed; reproduced "
            f"if its t interval is within {BAND:g} of 1, partly if it is below that",
            judge_time,
        ),
        Claim(
            "scale/better",
            "OGA earns more than the four heuristics at every size (linear gains).",
            "difference of total rewards over the reward of y*, paired by seed, t intervals "
            "corrected for all comparisons; reproduced if all are above 0, partly if at least half",
            partial(judge_heuristics, axes=("axis", "channels"), suffix=""),
        ),
    ),
    metrics={
        "best": "total reward of y*, lower value",
        "oga": "total reward of OGA",
        "channels": "edges times resources",
        "policy_seconds": "OGA's CPU time per slot [s]",
    },
    cost="work",
    policies=("oga", "fairness", "drf", "binpacking", "spreading"),
    expected_seconds=250.0,
    quick_seconds=30.0,
)
