"""An interval that is proved to hold the optimum, for both problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from algorithms.policy import NoSolution
from algorithms.splitting.exact.integer_columns import solve_columns
from algorithms.splitting.exact.priorities import solve_priorities
from models.splitting import SplittingInstance, SplittingRouting, build_routing

__all__ = ["Optimum", "optimum"]

Progress = Callable[[float, float, float], None]
NAMES = {"completion": "optimal", "service": "ilp"}


@dataclass(frozen=True)
class Optimum:
    """An interval that holds the optimum.

    Attributes
    ----------
    status : {"optimal", "bounded"}
        Optimal iff the interval is closed within 1e-8.
    lower, upper : float
        Seconds; `upper` is the objective of `routing`.
    routing : SplittingRouting or None
        None if time was up before one was found; then `upper` is infinite.
    method : str
    """

    status: Literal["optimal", "bounded"]
    lower: float
    upper: float
    routing: SplittingRouting | None
    method: str


def optimum(
    instance: SplittingInstance,
    *,
    problem: Literal["completion", "service"] = "completion",
    time_limit: float = 60.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Optimum:
    """Bound the optimum, or find it.

    Problem "service" is solved by column generation and branching, problem "completion" by the
    integer program of appendix D between the bounds of `first_interval`.

    Parameters
    ----------
    instance : SplittingInstance
    problem : {"completion", "service"}
    time_limit : float
        Seconds.
    seed : int
        Without effect.
    progress : callable (lower, upper, seconds), optional
        Not called: neither end moves more than once.

    Raises
    ------
    NoSolution
        If the instance is proved infeasible.
    """
    del seed, progress
    solve = solve_columns if problem == "service" else solve_priorities
    answer = solve(instance, time_limit=time_limit)
    method = "columns" if problem == "service" else "priorities"
    if answer.status == "infeasible":
        raise NoSolution(answer.reason)
    if answer.routes is None:
        return Optimum("bounded", answer.lower, float("inf"), None, method)
    routing = build_routing(instance, NAMES[problem], answer.routes, answer.order)
    # The sum over the file's jobs may differ from the search's in the last digit.
    lower = min(answer.lower, routing.objective)
    return Optimum(answer.status, lower, routing.objective, routing, method)
