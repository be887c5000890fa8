"""multiserver/prices: the online dual view, prices of instances and resources over time.

The projection's multiplier tau, over the step eta, is what another unit of the resource would have
earned in the slot. Summed up over slots, y(t+1) = z - tau says that the average of tau / eta is
the average gradient wherever an allocation is at neither end; so it should approach the dual
prices of the capacities (6) at y*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.judging import compare, verdict_of

if TYPE_CHECKING:
    import pandas

    from models.multiserver import MultiserverInstance

__all__ = ["PRICES", "SHOWN", "dual_prices", "task"]

Reals = NDArray[np.float64]

SIZE: dict[str, Any] = {"ports": 5, "instances": 4, "resources": 3, "probability": 0.7}
GAINS = ("linear", "mixed")
SLOTS = (100, 300, 1000, 3000)
QUICK_SLOTS = (100, 300)
SHOWN: dict[str, Any] = {**SIZE, "gain": "mixed", "slots": 1000}
"""The run that the heat maps show, with seed 0."""


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Two kinds of gains at every T."""
    slots = QUICK_SLOTS if quick else SLOTS
    return [{**SIZE, "gain": gain, "slots": number} for gain in GAINS for number in slots]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Compare average prices of OGA with the dual prices of y*."""
    from experiments.multiserver.instances import draw_instance
    from experiments.multiserver.trajectory import trajectory

    instance = draw_instance(parameters, seed)
    dual = dual_prices(instance)
    mean = np.zeros_like(dual)
    reward = 0.0
    for slot in trajectory(instance):
        mean += slot.price / slot.step / instance.slots
        reward += slot.reward
    total = float((dual * instance.capacity).sum())
    return {
        "reward": reward,
        "distance": float((np.abs(mean - dual) * instance.capacity).sum()) / total,
        "value": float((mean * instance.capacity).sum()) / total,
        "work": instance.number_of_edges * instance.number_of_resources * instance.slots,
    }


def dual_prices(instance: MultiserverInstance) -> Reals:
    """Return the multipliers of (6) at y*, per unit and slot, shape (instances, resources).

    Concave gains are replaced by their tangents, which are dense where y* is: a price between
    two tangents' slopes is not known any better.
    """
    from experiments.multiserver.outcomes import best_fixed
    from models.multiserver.layout import edge_layout
    from models.multiserver.stationary import job_counts
    from models.multiserver.stationary_lp import build_stationary_lp, stationary_problem
    from models.solver import Engine

    layout = edge_layout(instance)
    problem = stationary_problem(layout, job_counts(instance))
    # There an amount is at most the request and the capacity; then the capacity itself would
    # be without a price where a request exceeds it.
    most = np.where(layout.capacity[layout.instance] > 0, layout.cap, 0.0)
    problem = replace(problem, most=most, reach=problem.amounts(most))
    amounts = problem.amounts(best_fixed(instance, tolerance=1e-7).allocation)
    tangents = [
        [0.0] if kind == 0 else _dense(at, reach)
        for kind, at, reach in zip(problem.kind, amounts, problem.reach, strict=True)
    ]
    model = build_stationary_lp(problem, tangents)
    engine = Engine(model)
    result = engine.solve(time_limit=60.0)
    assert result.dual is not None
    prices = np.zeros_like(layout.capacity)
    duals = np.abs(result.dual[engine.rows(model.capacity)])
    for (r, k), dual in zip(model.capacity, duals, strict=True):
        # The row is in shares of the capacity, the objective in units of model.unit.
        prices[r, k] = dual * model.unit / layout.capacity[r, k] / max(instance.slots, 1)
    return prices


def _dense(at: float, reach: float) -> list[float]:
    """Where to have tangents: all over 0..reach, and many near `at`."""
    near = at + 0.01 * reach * np.linspace(-1.0, 1.0, 101)
    everywhere = np.concatenate([np.linspace(0.0, reach, 50), near])
    return sorted({float(amount) for amount in np.clip(everywhere, 0.0, reach)})


def judge(rows: pandas.DataFrame) -> Verdict:
    """Judge "the average prices approach the duals", by their distance at the ends of T."""
    table = rows.pivot_table(index="seed", columns=["gain", "slots"], values="distance").dropna()
    slots = sorted(set(rows["slots"]))
    first, last = slots[0], slots[-1]
    found = compare([(gain, table[gain, first] - 2 * table[gain, last]) for gain in GAINS])
    status: Status = "not-reproduced"
    if all(c.surely_positive for c in found):
        status = "reproduced"
    elif any(c.surely_positive for c in found):
        status = "partly"
    means = "; ".join(
        f"{gain} " + ", ".join(f"{t:g}: {table[gain, t].mean():.3g}" for t in slots)
        for gain in GAINS
    )
    text = (
        f"Distance over the dual value of the capacities, by T: {means}. That at T = {first:g} "
        f"minus twice that at {last:g}: {'; '.join(map(str, found))}."
    )
    return verdict_of(table, text, status, min(found, key=lambda c: c.mean))


PRICES = Experiment(
    name="multiserver/prices",
    revision=1,
    summary="the projection's prices tau, allocations and rewards over time; prices against duals",
    paper="not in the paper: the dual view of its projection (problem 32)",
    grid=grid,
    task=task,
    figure="experiments.multiserver.prices_drawing:draw",
    claims=(
        Claim(
            "prices/dual",
            "(ours) The average of tau / eta approaches the dual prices of the capacities at y*.",
            "sum of |average - dual| times capacity over the duals' sum; reproduced if the "
            "distance surely more than halves from the smallest to the largest T for both kinds "
            "of gains, partly if for one",
            judge,
        ),
    ),
    metrics={
        "distance": "of average prices from duals, in values of the capacities",
        "value": "capacities at average prices over capacities at duals",
        "reward": "total reward",
    },
    cost="work",
    policies=("oga",),
    expected_seconds=60.0,
    quick_seconds=15.0,
)
