"""The greedy of the paper (Algorithm 1): the job that would finish first goes first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from algorithms.policy import NoSolution, Parameters, Policy, Run
from algorithms.splitting.single.answer import Router, SingleAnswer
from algorithms.splitting.single.label_setting import ExactRouter
from algorithms.splitting.single.per_visit import PerVisitRouter
from models.splitting import Queues, Route, SplittingInstance, build_routing

__all__ = ["GREEDY", "GreedyLog", "GreedyParameters", "run_greedy"]

STALE = 1e-9  # relative, taken off what was computed behind shorter queues: rounding errors


class GreedyParameters(Parameters):
    """Parameters of the greedy."""

    method: Annotated[
        Literal["lazy", "literal"],
        Field(description="lazy: look again only at jobs that may be first; literal: at all"),
    ] = "lazy"
    single: Annotated[
        Literal["exact", "per-visit"],
        Field(description="a job's best route: exact, or with waiting charged per visit"),
    ] = "exact"


@dataclass(frozen=True)
class GreedyLog:
    """What happened.

    Attributes
    ----------
    order : tuple of int
        Jobs from the highest priority to the lowest.
    completions : tuple of float
        The completion time for which each was chosen [s], in that order; they never fall.
    """

    order: tuple[int, ...]
    completions: tuple[float, ...]


def run_greedy(instance: SplittingInstance, parameters: GreedyParameters, seed: int) -> Run:
    """Give the next priority to the job that completes first behind all those chosen before.

    Parameters
    ----------
    instance : SplittingInstance
    parameters : GreedyParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The routing and a `GreedyLog`.

    Raises
    ------
    NoSolution
        Naming the first job without a route.

    Notes
    -----
    A job's best completion never falls as queues grow, so what was found for it earlier is a
    lower bound: the lazy method keeps these in a heap and gives the same routing.
    """
    del seed
    router: Router = (
        ExactRouter(instance) if parameters.single == "exact" else PerVisitRouter(instance)
    )
    chooser = _Chooser(instance, router)
    order: list[int] = []
    completions: list[float] = []
    routes: dict[int, Route] = {}
    while len(order) < instance.number_of_jobs:
        job, answer = chooser.first() if parameters.method == "lazy" else chooser.first_of_all()
        order.append(job)
        completions.append(answer.charged)
        routes[job] = answer.route
        chooser.serve(job, answer.route)
    routing = build_routing(
        instance, GREEDY.name, [routes[j] for j in range(instance.number_of_jobs)], order
    )
    counters = {"evaluations": chooser.evaluations, **router.counters}
    return Run(routing, GreedyLog(tuple(order), tuple(completions)), counters)


class _Chooser:
    """The jobs without a priority yet, and the queues that they meet."""

    def __init__(self, instance: SplittingInstance, router: Router) -> None:
        self.instance, self.router = instance, router
        self.queues = Queues.initial(instance)
        self.evaluations = 0
        # Least completion known, job, and the answer if it is for the queues of now.
        self.heap: list[tuple[float, int, SingleAnswer | None]] = [
            (0.0, job, None) for job in range(instance.number_of_jobs)
        ]

    def first(self) -> tuple[int, SingleAnswer]:
        """Return the job that completes first, the lower index on ties; look at few."""
        while True:
            _, job, answer = heapq.heappop(self.heap)
            if answer is not None:
                return job, answer
            found = self._look(job)
            heapq.heappush(self.heap, (found.charged, job, found))

    def first_of_all(self) -> tuple[int, SingleAnswer]:
        """Do the same by looking at every job."""
        found = [(self._look(job), job) for job in sorted(job for _, job, _ in self.heap)]
        answer, job = min(found, key=lambda pair: (pair[0].charged, pair[1]))
        self.heap = [(0.0, other, None) for _, other in found if other != job]
        return job, answer

    def serve(self, job: int, route: Route) -> None:
        """Put a job's work before all others; what was known of them is a lower bound now."""
        self.queues.add(self.instance, job, route)
        self.heap = [
            (known if answer is None else known * (1 - STALE), other, None)
            for known, other, answer in self.heap
        ]
        heapq.heapify(self.heap)

    def _look(self, job: int) -> SingleAnswer:
        self.evaluations += 1
        found = self.router.route(job, self.queues)
        if found is None:
            name = self.instance.jobs[job].name
            raise NoSolution(f"job {name} has no route from its source to its destination")
        return found


GREEDY = Policy(
    name="greedy",
    summary="the paper's greedy: the job that would finish first gets the next priority",
    parameters=GreedyParameters,
    run=run_greedy,
    counters={
        "evaluations": "best routes computed",
        "searches": "shortest paths with waiting charged per visit",
        "label_searches": "of these, searches that had to go on with labels",
        "labels": "labels made",
        "integer_programs": "integer programs solved because there were too many labels",
    },
)
