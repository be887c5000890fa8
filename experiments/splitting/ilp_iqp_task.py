"""One point of splitting/ilp-iqp: the ILP and both forms of the IQP on one instance, with times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from algorithms.policy import NoSolution
from algorithms.splitting import run
from experiments.splitting.greedy_optimal_task import audited
from models.splitting.generator import generate

__all__ = ["task"]

AGREE = 1e-5
COLUMNS = (
    *("ilp", "ilp_lower", "ilp_status", "ilp_seconds", "iqp", "iqp_value", "linear_status"),
    *("linear_seconds", "raw_status", "raw_seconds", "gap", "programs"),
)


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Solve one instance; what is not asked for, or has no solution, has no numbers.

    Raises
    ------
    AssertionError
        If a routing fails the audit, or two methods contradict each other.
    """
    run(generate(4, 2).instance, "ilp")  # compiles and imports, which is not counted
    run(generate(4, 1).instance, "iqp")
    instance = generate(
        parameters["nodes"], parameters["jobs"], gamma=parameters["gamma"], seed=seed
    ).instance
    limit = parameters["time_limit"]
    try:
        ilp, ilp_seconds = audited(instance, "ilp", time_limit=parameters["ilp_limit"])
        linear, linear_seconds = audited(instance, "iqp", time_limit=limit)
    except NoSolution:
        return dict.fromkeys(COLUMNS) | {"ilp_status": "infeasible", "programs": 1}
    row: dict[str, Any] = {
        "ilp": ilp.log.upper if ilp.solution is not None else None,
        "ilp_lower": ilp.log.lower,
        "ilp_status": ilp.log.status,
        "ilp_seconds": ilp_seconds,
        "iqp": None,
        "iqp_value": linear.counters.get("model_objective"),
        "linear_status": linear.log.status,
        "linear_seconds": linear_seconds,
        "raw_status": None,
        "raw_seconds": None,
        "gap": None,
        "programs": 2 + ilp.counters.get("mips", 0),
    }
    if linear.solution is not None:
        row["iqp"] = linear.solution.objective
        if row["iqp"] < ilp.log.lower * (1 - AGREE):
            raise AssertionError("the IQP's placement is better than the ILP's lower bound")
        if row["ilp"] is not None:
            row["gap"] = 100 * (row["iqp"] / row["ilp"] - 1)
    if parameters["raw"]:
        raw, row["raw_seconds"] = audited(instance, "iqp", form="raw", time_limit=limit)
        row["raw_status"] = raw.log.status
        ends = (raw.log.lower, raw.log.upper, linear.log.lower, linear.log.upper)
        if ends[0] > ends[3] * (1 + AGREE) or ends[2] > ends[1] * (1 + AGREE):
            raise AssertionError(f"the forms of the IQP contradict each other: {ends}")
    return row
