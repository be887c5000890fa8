"""The route of one job by the paper's LP (6)-(10), and by its integer program."""

from __future__ import annotations

from dataclasses import dataclass

from algorithms.splitting.single.answer import SingleAnswer
from algorithms.splitting.single.per_visit import PerVisitRouter
from models.solver import Engine, SolverError, Status
from models.splitting import Queues, SplittingInstance, completion_time
from models.splitting.layered_graph import layered_graph, route_of, time_unit
from models.splitting.single_job import build_single_job, integral, single_job_costs

__all__ = ["LinearAnswer", "LinearBound", "solve_integer", "solve_linear"]

GAP = 1e-10
HALF = 0.5


@dataclass(frozen=True)
class LinearAnswer:
    """What the LP relaxation says.

    Attributes
    ----------
    value : float
        Its optimum, a lower bound of the best completion time [s].
    answer : SingleAnswer or None
        The route, if the optimal point is one; from L = 3 on it need not be (Theorem 1 fails).
    """

    value: float
    answer: SingleAnswer | None


def solve_linear(instance: SplittingInstance, job: int, queues: Queues) -> LinearAnswer:
    """Solve the LP (6)-(10), and look whether its point is a route before it is read as one.

    Raises
    ------
    SolverError
        If it was not solved, as for a job without a route.
    """
    value, answer = _solve(instance, job, queues, integer=False)
    return LinearAnswer(value, answer)


def solve_integer(instance: SplittingInstance, job: int, queues: Queues) -> SingleAnswer:
    """Solve the integer program (6)-(10).

    Raises
    ------
    SolverError
        If it was not solved to its optimum, as for a job without a route.
    """
    _, answer = _solve(instance, job, queues, integer=True)
    assert answer is not None
    return answer


def _solve(
    instance: SplittingInstance, job: int, queues: Queues, integer: bool
) -> tuple[float, SingleAnswer | None]:
    graph = layered_graph(instance, job)
    unit = _unit(PerVisitRouter(instance), job, queues)
    model = build_single_job(graph, instance, queues, integer=integer, unit=unit)
    engine = Engine(model)
    result = engine.solve(mip_gap=GAP, mip_gap_abs=0.0) if integer else engine.solve()
    if result.status is not Status.OPTIMAL or result.primal is None:
        raise SolverError(f"the program of job {instance.jobs[job].name} ended as {result.status}")
    flow = result.primal[engine.columns(model.flow)]
    value = float(result.objective) * unit
    if not integral(flow):
        if integer:
            raise SolverError(f"the point of job {instance.jobs[job].name} is not integral")
        return value, None
    route = route_of(graph, [a for a in range(graph.arcs) if flow[a] > HALF])
    seconds = completion_time(instance, job, route, queues)
    return value, SingleAnswer(route, seconds, seconds)


def _unit(router: PerVisitRouter, job: int, queues: Queues) -> float:
    """Return seconds near the optimum, 1 for a job without a route.

    A solver's tolerances are absolute. Single arcs may cost a million times the optimum, and in
    their unit it would be lost in the tolerance.
    """
    known = router.route(job, queues)
    return 1.0 if known is None else time_unit(known.charged)


class LinearBound:
    """The LP (6)-(10) of one job, compiled once and solved for many queues.

    Parameters
    ----------
    instance : SplittingInstance
    job : int
    """

    def __init__(self, instance: SplittingInstance, job: int) -> None:
        self.instance, self.job = instance, job
        self._graph = layered_graph(instance, job)
        self._router = PerVisitRouter(instance)
        model = build_single_job(self._graph, instance, Queues.initial(instance))
        self._engine = Engine(model)
        self._flow = self._engine.columns(model.flow)
        self._computes = self._engine.columns(model.computes)

    def value(self, queues: Queues) -> float:
        """Return the LP's optimum behind some queues [s].

        Raises
        ------
        SolverError
            If it was not solved, as for a job without a route.
        """
        flow_costs, node_costs = single_job_costs(self._graph, self.instance, queues)
        unit = _unit(self._router, self.job, queues)
        self._engine.set_costs(self._flow, flow_costs / unit)
        self._engine.set_costs(self._computes, node_costs / unit)
        result = self._engine.solve("cold")
        if result.status is not Status.OPTIMAL:
            name = self.instance.jobs[self.job].name
            raise SolverError(f"the program of job {name} ended as {result.status}")
        return float(result.objective) * unit
