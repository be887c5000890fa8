"""The policy `optimal`: routes and priorities together, for the least largest completion time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.splitting.exact.priorities import solve_priorities
from models.splitting import SplittingInstance, build_routing

__all__ = ["OPT", "OptParameters", "run_opt"]


class OptParameters(Parameters):
    """Parameters of OPT."""

    time_limit: Annotated[float, Field(gt=0, description="seconds; afterwards the best found")] = (
        60.0
    )


def run_opt(instance: SplittingInstance, parameters: OptParameters, seed: int) -> Run:
    """Find routes and priorities of least largest completion time (appendix D).

    Parameters
    ----------
    instance : SplittingInstance
    parameters : OptParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The routing, and an `Answer` as the log: the interval that is proved.

    Raises
    ------
    NoSolution
        Naming the first job without a route.
    """
    del seed
    answer = solve_priorities(instance, time_limit=parameters.time_limit)
    assert answer.routes is not None
    routing = build_routing(instance, OPT.name, answer.routes, answer.order)
    return Run(routing, answer, dict(answer.counters))


OPT = Policy(
    name="optimal",
    summary="least largest completion time by one integer program (appendix D), with its interval",
    parameters=OptParameters,
    run=run_opt,
    counters={
        "mips": "integer programs solved",
        "nodes": "branch-and-bound nodes",
        "iterations": "iterations of linear programs",
    },
)
