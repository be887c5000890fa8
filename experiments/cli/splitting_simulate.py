"""schedlab splitting simulate: a routing in the real network, beside its fictitious times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.cli.options import AsJson, InstanceFile, SolutionFile
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from models.files import InputError

if TYPE_CHECKING:
    from models.splitting import SplittingInstance, SplittingRouting

__all__ = ["simulate"]


def simulate(instance: InstanceFile, solution: SolutionFile, as_json: AsJson = False) -> int:
    """Run a routing in the real network, with preemptive priorities, event by event.

    A completion in the solution file is the fictitious system's: a job waits for all work before
    it. In the real network it waits for what is there at the time, and is never later.
    """
    from models.splitting import audit, load_instance, load_routing

    with answers_only():
        loaded = load_instance(instance)
        routing = load_routing(solution)
        if routing.problem != "completion":
            rule = "must be completion: only then are there priorities to simulate"
            raise InputError(rule, source=str(solution), field="problem", value=routing.problem)
        try:
            report = audit(loaded, routing)
        except InputError as error:
            raise error.within(str(solution)) from None
        content = _content(loaded, routing) if report.feasible else {}
    if not report.feasible:
        first = report.violations[0]
        say(
            f"not simulated: the audit found {len(report.violations)} violation(s), the first: "
            f"{first.constraint}, {first.where}, by {first.amount:.6g}"
        )
        return 1
    if as_json:
        emit_json(content)
        return 0
    columns = ("job", "priority", "fictitious", "real", "real/fictitious")
    rows = [[*job.values(), _share(job["real"], job["fictitious"])] for job in content["jobs"]]
    emit(Table(columns, rows))
    emit("")
    emit(f"largest completion [s], fictitious system: {content['fictitious']:.10g}")
    emit(f"largest completion [s], real network: {content['real']:.10g}")
    emit(f"stretches of work without a break: {content['pieces']}")
    return 0


def _content(instance: SplittingInstance, routing: SplittingRouting) -> dict[str, Any]:
    """Both times of every job, by priority."""
    from algorithms.splitting.simulation import simulate as run_events
    from models.splitting import fictitious_completions, routes_of

    routes = routes_of(instance, routing)
    priority = {job.name: job.priority or 0 for job in routing.jobs}
    order = sorted(range(instance.number_of_jobs), key=lambda j: priority[instance.jobs[j].name])
    real = run_events(instance, routes, order)
    bounds = fictitious_completions(instance, routes, order)
    return {
        "policy": routing.policy,
        "fictitious": max(bounds, default=0.0),
        "real": max(real.completions, default=0.0),
        "pieces": len(real.pieces),
        "jobs": [
            {
                "name": instance.jobs[j].name,
                "priority": place + 1,
                "fictitious": bounds[j],
                "real": real.completions[j],
            }
            for place, j in enumerate(order)
        ],
    }


def _share(real: float, fictitious: float) -> float | None:
    return real / fictitious if fictitious > 0 else None
