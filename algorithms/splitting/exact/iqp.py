"""The policy `iqp`: the reference's placement, and the service time that it really has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from algorithms.policy import NoSolution, Parameters, Policy, Run
from algorithms.splitting.exact.answer import SOUGHT
from algorithms.splitting.exact.quadratic import solve_quadratic, why_no_quadratic_solver
from models.files import InputError
from models.solver import Engine, Status
from models.splitting import SplittingInstance, build_routing
from models.splitting.budgets import within_budgets
from models.splitting.hop_paths import HopPaths, hop_paths
from models.splitting.layered_graph import time_unit
from models.splitting.placement_iqp import (
    build_placement_iqp,
    placement_value,
    placements_of,
    possible_placements,
)

__all__ = ["IQP", "IqpLog", "IqpParameters", "run_iqp"]


class IqpParameters(Parameters):
    """Parameters of the IQP."""

    form: Annotated[
        Literal["linear", "raw"],
        Field(description="linear: products as flows, by HiGHS; raw: products, by SCIP"),
    ] = "linear"
    time_limit: Annotated[float, Field(gt=0, description="seconds; afterwards the best found")] = (
        60.0
    )


@dataclass(frozen=True)
class IqpLog:
    """What was proved of the IQP, whose value is not the service time of its placement.

    Attributes
    ----------
    status : {"optimal", "bounded"}
    lower, upper : float
        Interval of the IQP's own optimum [s]; upper is infinite if no placement was found.
    placements : tuple of tuple of int
        Nodes of each job's layers; empty if none was found.
    counters : mapping
    """

    status: Literal["optimal", "bounded"]
    lower: float
    upper: float
    placements: tuple[tuple[int, ...], ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)


def run_iqp(instance: SplittingInstance, parameters: IqpParameters, seed: int) -> Run:
    """Place all layers for the least time by the reference's measure, within the budgets.

    Parameters
    ----------
    instance : SplittingInstance
    parameters : IqpParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The routing over the paths with the fewest hops, with its true service time (None if time
        was up before a placement was found), and an `IqpLog`. Its counter ``model_objective`` is
        the time by the reference's measure [s].

    Raises
    ------
    NoSolution
        If the instance is proved infeasible.
    InputError
        If the raw form is asked for and there is no solver for it.
    """
    del seed
    if parameters.form == "raw":
        reason = why_no_quadratic_solver()
        if reason is not None:
            raise InputError(reason, field="form", value="raw")
    paths = hop_paths(instance)
    allowed = possible_placements(instance, paths)
    for job, table in zip(instance.jobs, allowed, strict=True):
        if not table.any(axis=1).all():
            raise NoSolution(f"job {job.name} has no route within the nodes' budgets")
    log = _solve(instance, parameters, paths, _unit(instance, allowed))
    if not log.placements and instance.jobs:
        return Run(None, log, dict(log.counters))
    routes = [paths.route(instance, j, nodes) for j, nodes in enumerate(log.placements)]
    return Run(build_routing(instance, IQP.name, routes), log, dict(log.counters))


def _unit(instance: SplittingInstance, allowed: list[np.ndarray]) -> float:
    """Seconds near the largest computing time of a job at the slowest nodes that it may use."""
    rate = np.where(instance.node_rate > 0, instance.node_rate, np.inf)
    longest = [
        float(np.where(table, job.compute[:, None] / rate, 0.0).max(axis=1).sum())
        for job, table in zip(instance.jobs, allowed, strict=True)
    ]
    return time_unit(max(longest, default=0.0))


def _solve(
    instance: SplittingInstance, parameters: IqpParameters, paths: HopPaths, unit: float
) -> IqpLog:
    if not instance.jobs:
        return IqpLog("optimal", 0.0, 0.0, (), {"mips": 0, "model_objective": 0.0})
    raw = parameters.form == "raw"
    model = build_placement_iqp(instance, raw=raw, paths=paths, unit=unit)
    counters: dict[str, float] = {"mips": 1}
    if raw:
        outcome = solve_quadratic(model, time_limit=parameters.time_limit)
        status, bound = outcome.status, outcome.bound
        found = not math.isnan(outcome.objective)
    else:
        result = Engine(model).solve(
            time_limit=parameters.time_limit, mip_gap=SOUGHT, mip_gap_abs=1e-12
        )
        status, bound, found = result.status, result.bound, result.has_solution
        counters["nodes"] = result.nodes
        if found:
            result.load_into(model)
    if status is Status.INFEASIBLE:
        raise NoSolution("the budgets are too small")
    lower = max(0.0, bound * unit) if math.isfinite(bound) else 0.0
    placements = tuple(placements_of(model, instance)) if found else ()
    if not placements or not within_budgets(
        instance, [paths.route(instance, j, nodes) for j, nodes in enumerate(placements)]
    ):
        return IqpLog("bounded", lower, math.inf, (), counters)
    value = sum(placement_value(instance, paths, j, nodes) for j, nodes in enumerate(placements))
    counters["model_objective"] = value
    closed = status is Status.OPTIMAL
    return IqpLog(
        "optimal" if closed else "bounded", min(lower, value), value, placements, counters
    )


IQP = Policy(
    name="iqp",
    summary="the reference's quadratic program: layers placed for paths with the fewest hops",
    parameters=IqpParameters,
    run=run_iqp,
    counters={
        "mips": "integer programs solved",
        "nodes": "branch-and-bound nodes (linear form)",
        "model_objective": "time of the placement by the program's own measure [s]",
    },
)
