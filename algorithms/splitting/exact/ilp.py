"""The policy `ilp`: least total service time within the nodes' budgets, eqs. (1)-(5)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from algorithms.policy import NoSolution, Parameters, Policy, Run
from algorithms.splitting.exact.answer import Answer
from algorithms.splitting.exact.integer_columns import solve_columns
from algorithms.splitting.exact.service_arcs import solve_arcs
from models.splitting import SplittingInstance, build_routing

__all__ = ["ILP", "IlpParameters", "run_ilp"]


class IlpParameters(Parameters):
    """Parameters of the integer program."""

    method: Annotated[
        Literal["columns", "arcs"],
        Field(description="columns: paths by column generation; arcs: the program as printed"),
    ] = "columns"
    time_limit: Annotated[float, Field(gt=0, description="seconds; afterwards the best found")] = (
        60.0
    )


def run_ilp(instance: SplittingInstance, parameters: IlpParameters, seed: int) -> Run:
    """Find the routes of least total service time.

    Parameters
    ----------
    instance : SplittingInstance
    parameters : IlpParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The routing (None if time was up before one was found), and an `Answer` as the log.

    Raises
    ------
    NoSolution
        If the instance is proved infeasible.
    """
    del seed
    solve = solve_columns if parameters.method == "columns" else solve_arcs
    answer: Answer = solve(instance, time_limit=parameters.time_limit)
    if answer.status == "infeasible":
        raise NoSolution(answer.reason)
    routing = None if answer.routes is None else build_routing(instance, ILP.name, answer.routes)
    return Run(routing, answer, dict(answer.counters))


ILP = Policy(
    name="ilp",
    summary="least total service time within the budgets, (1)-(5), with a proved gap",
    parameters=IlpParameters,
    run=run_ilp,
    counters={
        "lps": "linear programs solved",
        "columns": "paths of jobs generated",
        "mips": "integer programs over paths solved",
        "arc_mips": "integer programs over arcs solved",
        "nodes": "branch-and-bound nodes",
        "iterations": "iterations of linear programs",
    },
)
