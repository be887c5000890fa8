"""What policies earn on one instance, beside the stationary optimum y*."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from algorithms.multiserver import run
from models.multiserver import MultiserverInstance, audit
from models.multiserver.layout import edge_layout
from models.multiserver.stationary import Stationary, job_counts, solve_stationary

__all__ = ["BASELINES", "POLICIES", "audited_run", "best_fixed", "checkpoints", "compare_task"]

BASELINES = ("fairness", "drf", "binpacking", "spreading")
POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "oga": ("oga", {}),
    "oga-lookahead": ("oga", {"protocol": "lookahead"}),
    **{name: (name, {}) for name in BASELINES},
    **{f"{name}-job": (name, {"per_job": True}) for name in BASELINES if name != "fairness"},
}
"""Names in the rows: policy and options; ``-job``: a[l,k] limits a job over all channels."""

TOLERANCE = 1e-5
CHECKPOINTS = (10, 30, 100, 300, 1000, 3000, 10000)


def checkpoints(slots: int) -> list[int]:
    """Those of `CHECKPOINTS` that a run of so many slots reaches."""
    return [number for number in CHECKPOINTS if number <= slots]


def best_fixed(instance: MultiserverInstance, tolerance: float = TOLERANCE) -> Stationary:
    """Return y* with lower and upper value.

    Raises
    ------
    AssertionError
        If they are further apart than ten times the tolerance: such rows would mean nothing.
    """
    found = solve_stationary(edge_layout(instance), job_counts(instance), tolerance=tolerance)
    if found.upper - found.lower > 10 * tolerance * found.upper:
        raise AssertionError(f"y* is only known to be in {found.lower}..{found.upper}")
    return found


def audited_run(instance: MultiserverInstance, policy: str, **options: Any) -> Any:
    """Run a policy and return its solution.

    Raises
    ------
    AssertionError
        If the solution fails the audit.
    """
    solution = run(instance, policy, **options).solution
    report = audit(instance, solution)
    if not report.feasible:
        raise AssertionError(f"{policy}: {report.violations[0]}")
    return solution


def compare_task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run all policies on one drawn instance.

    Parameters
    ----------
    parameters : mapping
        Of `instances.draw_instance`; ``running``: whether the average reward so far is kept
        too, after each of `CHECKPOINTS` slots, in units of y*'s reward per slot.
    """
    from experiments.multiserver.instances import draw_instance

    instance = draw_instance(parameters, seed)
    best = best_fixed(instance)
    row: dict[str, Any] = {
        "best": best.lower,
        "best_upper": best.upper,
        "work": instance.number_of_edges * instance.number_of_resources * instance.slots,
    }
    for name, (policy, options) in POLICIES.items():
        solution = audited_run(instance, policy, **options)
        row[name] = solution.objective
        if parameters.get("running"):
            so_far = np.cumsum(solution.rewards)
            for slots in checkpoints(instance.slots):
                per_slot = best.lower / instance.slots
                row[f"{name}@{slots}"] = float(so_far[slots - 1] / slots / per_slot)
    return row
