"""Tasks of the figures about the hybrid: one policy's plan of one drawn queue, and its bound."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.dispatch import DispatchInstance

__all__ = ["METRICS", "draw_instance", "run_policy", "task"]

SYSTEM = ("nodes", "jobs", "cap")
NOT_OPTIONS = (*SYSTEM, "policy")

METRICS = {
    "queue_time": "weighted queue time (5.2) [s]",
    "bound": "lower bound of it, of the LP in coarse time; 0 where it was not asked for [s]",
    "makespan": "last end [s]",
    "peak": "largest power over the cap, minus one; 0 without cap [%]",
    "cores": "share of the cores in use until the last end [%]",
    "work": "orders, events or draws that the policy went through",
}


def draw_instance(parameters: Mapping[str, Any], seed: int) -> DispatchInstance:
    """Draw the queue of a point: all jobs are there at the start."""
    from models.dispatch.generator import generate

    system = {name: parameters[name] for name in SYSTEM}
    return generate(system["nodes"], system["jobs"], cap=system["cap"], seed=seed).instance


def run_policy(
    instance: DispatchInstance, policy: str, seed: int, options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Run a policy, audit its plan; return the run and its row.

    Raises
    ------
    AssertionError
        If the plan fails the audit.
    """
    from algorithms.dispatch import run
    from models.dispatch import audit

    began = time.perf_counter()
    outcome = run(instance, policy, seed=seed, **options)
    seconds = time.perf_counter() - began
    report = audit(instance, outcome.solution)
    if not report.feasible:
        raise AssertionError(f"{policy}: {report.violations[0]}")
    makespan = max((job.end for job in outcome.solution.jobs if job.end is not None), default=0)
    arrays = instance.arrays
    core = instance.resources.index("cores")
    used = (arrays.job_demand[:, core] * arrays.duration)[arrays.possible].sum()
    cap = instance.power_cap
    counters = outcome.counters
    return outcome, {
        "queue_time": report.objective,
        "bound": 0.0,
        "makespan": makespan,
        "peak": 0.0 if cap is None else 100 * (report.peak_power / cap - 1),
        "cores": 100 * used / (arrays.total_capacity[core] * max(makespan, 1)),
        "work": counters.get("events", 0) + counters.get("decoded", 0),
        "impossible": int((~arrays.possible).sum()),
        "policy_seconds": seconds,
    }


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one policy on one drawn queue; policy ``bound`` proves a lower bound."""
    instance = draw_instance(parameters, seed)
    options = {name: value for name, value in parameters.items() if name not in NOT_OPTIONS}
    if parameters["policy"] == "bound":
        return _bound(instance, int(options["starts"]))
    _, row = run_policy(instance, parameters["policy"], seed, options)
    return row


def _bound(instance: DispatchInstance, starts: int) -> dict[str, Any]:
    """The LP relaxation of the pooled model in coarse, optimistic time."""
    from algorithms.dispatch import run
    from models.dispatch.time_indexed import build_time_indexed
    from models.solver import solve_model

    began = time.perf_counter()
    plan = run(instance, "prb").solution
    last = max((job.start for job in plan.jobs if job.start is not None), default=0)
    jobs = max(1, int(instance.arrays.possible.sum()))
    slot = max(1, -(-jobs * (last + 1) // starts))
    model = build_time_indexed(instance, slot=slot, last_slot=last // slot + 1, integer=False)
    result = solve_model(model)
    bound = result.bound * (1 - 1e-7) if result.bound > 0 else 0.0
    row = dict.fromkeys(("queue_time", "makespan", "peak", "cores", "impossible"), 0.0)
    return {**row, "bound": bound, "work": slot, "policy_seconds": time.perf_counter() - began}
