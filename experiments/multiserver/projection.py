"""multiserver/projection: the paper's projection loop against the exact one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.judging import compare, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["CONTENTIONS", "GAINS", "PROJECTION", "task"]

GAINS = ("linear", "log", "mixed")
CONTENTIONS = (1.0, 1.5, 2.0, 4.0, 8.0)
SIZE: dict[str, Any] = {"ports": 6, "instances": 6, "resources": 3, "slots": 500}
QUICK_SIZE = {**SIZE, "slots": 40}
WRONG = 1e-6  # of the largest of c, a and |z|: much more than rounding


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Every gain at every contention."""
    size = QUICK_SIZE if quick else SIZE
    contentions = CONTENTIONS[::2] if quick else CONTENTIONS
    return [
        {**size, "gain": gain, "contention": contention}
        for gain in GAINS
        for contention in contentions
    ]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Call the loop on all points that the exact OGA projects, and run OGA with it instead.

    Only calls where a job has arrived count: elsewhere there is nothing to project, and the loop
    changes the allocation nevertheless.
    """
    from algorithms.multiserver import run
    from experiments.multiserver.instances import draw_instance
    from experiments.multiserver.outcomes import audited_run, best_fixed
    from models.multiserver import audit

    instance = draw_instance(parameters, seed)
    best = best_fixed(instance)
    exact = audited_run(instance, "oga").objective
    paper = run(instance, "oga", projection="paper", history=True).solution
    violations = [v for v in audit(instance, paper).violations if v.constraint != "statement"]
    broken = {violation.where.split(",")[0] for violation in violations} - {"final"}
    counted = count_calls(instance)
    return {
        **counted,
        "best": best.lower,
        "exact": exact,
        "paper": paper.objective,
        "slots_infeasible": len(broken) / instance.slots,
    }


def count_calls(instance: Any) -> dict[str, float]:
    """Compare both projections on the points of the exact run.

    Returns
    -------
    dict
        ``calls``; shares of them that are ``wrong``, ``over_cap`` (5) or ``negative_price``
        (rho < 0: the loop hands out what nobody asked for); ``excess``, the largest amount above
        a cap in units of it.
    """
    import numpy as np

    from algorithms.multiserver.projection import project
    from experiments.multiserver.trajectory import trajectory
    from models.multiserver.layout import edge_layout

    layout = edge_layout(instance)
    calls = wrong = over = negative = 0
    excess = 0.0
    for slot in trajectory(instance, layout):
        for r in slot.moved.nonzero()[0]:
            rows = slice(layout.first[r], layout.first[r + 1])
            for k in range(layout.resources):
                z, a, c = slot.point[rows, k], layout.cap[rows, k], float(layout.capacity[r, k])
                theirs = project(z, a, c, method="paper")
                ours = project(z, a, c).amount
                scale = max(c, float(a.max()), float(np.abs(z).max()))
                above = float(((theirs.amount - a) / a).max())
                calls += 1
                wrong += bool(np.abs(theirs.amount - ours).max() > WRONG * scale)
                over += above > WRONG
                negative += theirs.price < -WRONG * scale
                excess = max(excess, above)
    shares = {"wrong": wrong, "over_cap": over, "negative_price": negative}
    return {
        "calls": calls,
        **{name: number / max(calls, 1) for name, number in shares.items()},
        "excess": excess,
    }


def judge_exact(rows: pandas.DataFrame) -> Verdict:
    """Judge "the loop finds the projection"."""
    table = rows.pivot_table(index="seed", columns=["gain", "contention"], values="wrong").dropna()
    found = compare([(f"{g} {c:g}", table[g, c]) for g, c in table])
    status: Status = "reproduced" if all(c.mean == 0 for c in found) else "not-reproduced"
    low, high = min(found, key=lambda c: c.mean), max(found, key=lambda c: c.mean)
    infeasible = rows.groupby("contention")["slots_infeasible"].mean()
    text = (
        f"It is wrong in {low.mean:.1%} ({low.name}) to {high.mean:.1%} ({high.name}) of the calls "
        f"(means over seeds; any single run: {rows['wrong'].min():.1%} to "
        f"{rows['wrong'].max():.1%}), above a request (5) in up to "
        f"{rows['over_cap'].max():.1%}, by up to {rows['excess'].max():.3g} times it; "
        f"a run by the loop breaks (5) or (6) in "
        f"{infeasible.min():.0%} to {infeasible.max():.0%} of its slots."
    )
    return verdict_of(table, text, status, high)


PROJECTION = Experiment(
    name="multiserver/projection",
    revision=1,
    summary="how often the paper's projection loop is wrong, by how much, and what it does",
    paper="arXiv 2305.06572, Algorithm 1, steps 7 to 30 (fast projection)",
    grid=grid,
    task=task,
    figure="experiments.multiserver.projection_drawing:draw",
    note="experiments.multiserver.projection_note:note",
    claims=(
        Claim(
            "projection/exact",
            "The loop of the fast projection solves problem (32).",
            f"calls on the exact run's points whose result is off by more than {WRONG:g} of the "
            "largest of c, a, |z|; reproduced if there are none",
            judge_exact,
        ),
    ),
    metrics={
        "wrong": "share of the loop's calls that are no projection",
        "over_cap": "share of calls with an amount above the request (5)",
        "negative_price": "share of calls that end with rho < 0",
        "excess": "largest amount above a request, in units of it",
        "slots_infeasible": "share of slots in which OGA by the loop breaks (5) or (6)",
        "best": "total reward of y*",
        "exact": "total reward of OGA with the exact projection",
        "paper": "total reward of OGA with the loop, infeasible allocations included",
    },
    cost="calls",
    policies=("oga",),
    expected_seconds=200.0,
    quick_seconds=20.0,
)
