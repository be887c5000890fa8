"""One point of splitting/greedy-optimal: the greedy beside OPT on one instance, with times."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from algorithms.splitting import run
from models.splitting import SplittingInstance, SplittingRouting, audit
from models.splitting.generator import generate

__all__ = ["audited", "task"]


def audited(instance: SplittingInstance, policy: str, **options: Any) -> tuple[Any, float]:
    """Run a policy, audit its routing, and return its run and the seconds that it took.

    Raises
    ------
    AssertionError
        If the routing fails the audit.
    """
    began = time.perf_counter()
    outcome = run(instance, policy, **options)
    seconds = time.perf_counter() - began
    routing: SplittingRouting | None = outcome.solution
    if routing is not None:
        report = audit(instance, routing)
        if not report.feasible:
            raise AssertionError(f"{policy}: {report.violations[0]}")
    return outcome, seconds


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run the greedy, NFS and OPT; gaps in % of OPT's best value, and of its proved bound."""
    for policy in ("greedy", "nfs"):
        run(generate(8, 4).instance, policy)  # compiles, which is not counted
    instance = generate(parameters["nodes"], parameters["jobs"], seed=seed).instance
    greedy, greedy_seconds = audited(instance, "greedy")
    nfs, _ = audited(instance, "nfs")
    opt, opt_seconds = audited(instance, "optimal", time_limit=parameters["time_limit"])
    value, lower, upper = greedy.solution.objective, opt.log.lower, opt.log.upper
    closed = opt.log.status == "optimal"
    if upper > min(value, nfs.solution.objective) * (1 + 1e-9):
        raise AssertionError("OPT is worse than the greedy or NFS, from which it started")
    return {
        "greedy": value,
        "nfs": nfs.solution.objective,
        "upper": upper,
        "lower": lower,
        "status": opt.log.status,
        "gap": 100 * (value / upper - 1),
        "gap_high": 100 * (value / lower - 1),
        "greedy_seconds": greedy_seconds,
        # A program that could not be built in time was not tried: its time says nothing.
        "opt_seconds": opt_seconds if opt.counters["mips"] or closed else None,
        "mips": opt.counters["mips"],
    }
