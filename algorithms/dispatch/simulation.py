"""The on-line simulator: the policy sees estimates and predictions, the world has its own numbers.

Events are submits and real ends. At an event the policy starts what it would start now, given
what is known then: estimates of how long jobs take, predicted power of jobs that have not started,
and, of those that run, the power that they are seen to draw. Of jobs that are not yet submitted it
knows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from algorithms.dispatch.hybrid import HYBRID, HybridParameters
from algorithms.dispatch.hybrid.online import OnlineRun, dispatch_hybrid
from algorithms.dispatch.kernels import dispatch
from algorithms.dispatch.lists import ALL, LIST_RULES, make_problem, submit_order
from algorithms.dispatch.metrics import Metrics, measure
from algorithms.dispatch.problem import NEVER, Reality
from algorithms.policy import NoSolution, Parameters, Policy, Run
from models.dispatch import DispatchInstance, build_schedule
from models.files import InputError

__all__ = ["REASONS", "SimulationLog", "SimulationSettings", "simulate_policy"]

REASONS = ("resource", "power", "priority")
"""Why a job waits, as the kernel numbers it."""

BUDGET = 300
"""Orders that the hybrid tries at an event."""

ONLINE = (*LIST_RULES, HYBRID.name)


class SimulationSettings(Parameters):
    """What the world and the dispatcher are like, besides the policy's own parameters."""

    overrun: Literal["killed", "extended"] = Field(
        default="killed", description="what becomes of a job that outruns its estimate"
    )
    margin: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="share by which predicted power is raised before a job is started",
    )
    depth: int | None = Field(
        default=None, ge=1, description="waiting jobs that are tried at an event; none: all"
    )
    budget: int | None = Field(
        default=None,
        ge=0,
        le=10**9,
        description=f"hybrid: orders that are tried at an event; none: {BUDGET}",
    )


@dataclass(frozen=True)
class SimulationLog:
    """What happened.

    Attributes
    ----------
    metrics : Metrics
        With real run times and power.
    events, tried : int
    start, end : int array, shape (J,)
        Real ones [s]; the start is -1 for a job that never runs.
    waited : int array, shape (J, 3)
        Seconds by reason, see `REASONS`. Power is looked at first: a job that waits for power may
        lack room on the nodes as well. Who is not tried, or would be in the way of one that goes
        first, waits for priority.
    promised : int array, shape (J,)
        The start [s] that EASY first reserved for a job, -1 if it never did.
    killed : tuple of str
        Jobs that were stopped at the end of their estimate.
    impossible : tuple of (str, str)
        Jobs that can never run, and why.
    """

    metrics: Metrics
    events: int
    tried: int
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    waited: NDArray[np.int64]
    promised: NDArray[np.int64]
    killed: tuple[str, ...]
    impossible: tuple[tuple[str, str], ...]


def simulate_policy(
    policy: Policy,
    instance: DispatchInstance,
    parameters: Parameters,
    seed: int = 0,
    settings: SimulationSettings | None = None,
) -> Run:
    """Simulate a policy on-line.

    Parameters
    ----------
    policy : Policy
        One that can work on-line: prb, fcfs, easy; of the hybrid, its search on nodes.
    instance : DispatchInstance
    parameters : Parameters
        Of the policy.
    seed : int
        Of the hybrid's draws.
    settings : SimulationSettings, optional

    Returns
    -------
    Run
        ``solution`` in mode "simulated", ``log`` a `SimulationLog`, ``counters`` with the metrics.

    Raises
    ------
    InputError
        If the policy only makes plans, or has no budget.
    NoSolution
        If the idle system is above the cap.
    """
    if policy.name not in ONLINE:
        rule = f"must be one of {', '.join(ONLINE)} on-line"
        raise InputError(rule, field="policy", value=policy.name)
    chosen = SimulationSettings() if settings is None else settings
    if policy.name in LIST_RULES and chosen.budget is not None:
        raise InputError("goes with the hybrid only", field="budget", value=chosen.budget)
    if instance.why_infeasible:
        raise NoSolution(instance.why_infeasible)
    arrays = instance.arrays
    # A margin never makes a possible job impossible: alone, every one of them may start.
    raised = np.minimum(arrays.power * (1 + chosen.margin), arrays.headroom)
    asked = np.maximum(arrays.power, raised)
    real = np.array(arrays.real_duration)
    if chosen.overrun == "killed":
        real = np.minimum(real, arrays.duration)
    reality = Reality(real, np.array(arrays.real_power))
    depth = ALL if chosen.depth is None else chosen.depth
    if isinstance(parameters, HybridParameters):
        budget = BUDGET if chosen.budget is None else chosen.budget
        found = dispatch_hybrid(
            instance, parameters.nodes, asked, arrays.headroom_limit, reality, budget, depth, seed
        )
    else:
        order, mode = LIST_RULES[policy.name](arrays, parameters)
        problem = make_problem(instance, order.sign)._replace(power=asked)
        admitted = submit_order(instance)
        found = OnlineRun(
            *dispatch(problem, order, np.array(arrays.submit), admitted, mode, reality, depth)
        )
    start, end, nodes, events, tried, waited, promise = found
    metrics = measure(instance, start, end, arrays.real_power)
    cut = (start >= 0) & (real < arrays.real_duration)
    reasons = zip(instance.jobs, instance.why_impossible, strict=True)
    log = SimulationLog(
        metrics=metrics,
        events=int(events),
        tried=int(tried),
        start=start,
        end=end,
        waited=waited,
        promised=np.where(promise < NEVER, promise, -1),
        killed=tuple(instance.jobs[j].name for j in np.flatnonzero(cut).tolist()),
        impossible=tuple((job.name, why) for job, why in reasons if why is not None),
    )
    counted = {"events": log.events, "tried": log.tried, "killed": len(log.killed)}
    solution = build_schedule(instance, policy.name, start, nodes, end)
    return Run(solution, log, {**counted, **metrics.counters()})
