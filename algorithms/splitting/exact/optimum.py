"""An interval that is proved to hold the optimum, for both problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from algorithms.policy import NoSolution
from algorithms.splitting.exact.answer import CLAIMED
from algorithms.splitting.exact.integer_columns import solve_columns
from algorithms.splitting.greedy import GreedyParameters, run_greedy
from algorithms.splitting.nfs import NfsParameters, run_nfs
from algorithms.splitting.single.label_setting import ExactRouter
from models.splitting import Queues, SplittingInstance, SplittingRouting, build_routing, routes_of

__all__ = ["Optimum", "optimum"]

Progress = Callable[[float, float, float], None]
EXACT = 1e-11  # relative error of a best route's time


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

    Problem "service" is solved by column generation and branching. Of problem "completion" the
    lower end is that no job completes before it would with the highest priority, and the upper
    end is the better of the greedy and NFS.

    Parameters
    ----------
    instance : SplittingInstance
    problem : {"completion", "service"}
    time_limit : float
        Seconds, for problem "service".
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
    if problem == "service":
        return _service(instance, time_limit)
    routings = [
        run_greedy(instance, GreedyParameters(), 0).solution,
        run_nfs(instance, NfsParameters(), 0).solution,
    ]
    best = min(routings, key=lambda routing: routing.objective)
    router, queues = ExactRouter(instance), Queues.initial(instance)
    alone = [router.route(job, queues) for job in range(instance.number_of_jobs)]
    lower = max((found.seconds for found in alone if found is not None), default=0.0)
    lower = min(lower * (1 - EXACT), best.objective)
    places = {job.name: job.priority for job in best.jobs}
    order = sorted(range(instance.number_of_jobs), key=lambda j: places[instance.jobs[j].name])
    routing = build_routing(instance, "optimal", routes_of(instance, best), order)
    return Optimum(
        _status(lower, routing.objective), lower, routing.objective, routing, "every job alone"
    )


def _service(instance: SplittingInstance, time_limit: float) -> Optimum:
    answer = solve_columns(instance, time_limit=time_limit)
    if answer.status == "infeasible":
        raise NoSolution(answer.reason)
    if answer.routes is None:
        return Optimum("bounded", answer.lower, float("inf"), None, "columns")
    routing = build_routing(instance, "ilp", answer.routes)
    lower = min(answer.lower, routing.objective)
    return Optimum(_status(lower, routing.objective), lower, routing.objective, routing, "columns")


def _status(lower: float, upper: float) -> Literal["optimal", "bounded"]:
    return "optimal" if upper - lower <= CLAIMED * upper else "bounded"
