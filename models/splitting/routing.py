"""A routing: the solution file of the splitting problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from models.files import FileModel, InputError, Name, check_unique, read_model, write_model
from models.splitting.instance import SplittingInstance
from models.splitting.route import Route, fictitious_completions, service_time

__all__ = [
    "JobRouting",
    "SplittingRouting",
    "build_routing",
    "load_routing",
    "routes_of",
    "save_routing",
]

Problem = Literal["completion", "service"]
Hop = tuple[Name, Annotated[int, Field(ge=-(2**53), le=2**53)]]


class JobRouting(FileModel):
    """The outcome for one job.

    Attributes
    ----------
    name : str
    priority : int or None
        1 is the highest; None where the policy has no priorities.
    completion : float or None
        Seconds in the fictitious system; None without priorities.
    service : float
        Seconds of computing and sending.
    nodes : tuple of str
        nodes[k] computes layer k + 1.
    hops : tuple of (link, layer)
        In order; the layer whose output the hop carries, 0 for the input.
    """

    name: Name
    priority: int | None
    completion: float | None
    service: float
    nodes: tuple[Name, ...]
    hops: tuple[Hop, ...]


class SplittingRouting(FileModel):
    """A routing file.

    Attributes
    ----------
    policy : str
    problem : "completion" or "service"
        Whether `objective` is the largest completion time or the total service time [s].
    objective : float
    jobs : tuple of JobRouting
    """

    kind: Literal["splitting-routing"] = "splitting-routing"
    version: Literal[1] = 1
    policy: Name
    problem: Problem
    objective: float
    jobs: tuple[JobRouting, ...]

    @model_validator(mode="after")
    def _names(self) -> SplittingRouting:
        check_unique((job.name for job in self.jobs), "jobs")
        return self


def build_routing(
    instance: SplittingInstance,
    policy: str,
    routes: Sequence[Route],
    order: Sequence[int] | None = None,
) -> SplittingRouting:
    """Make the solution file's content.

    Parameters
    ----------
    instance : SplittingInstance
    policy : str
    routes : sequence of Route
        One per job.
    order : sequence of int, optional
        Jobs from the highest priority to the lowest (problem "completion"); without it the
        problem is "service".

    Returns
    -------
    SplittingRouting
        With all times computed here. It is not audited; see `models.splitting.audit`.
    """
    services = [service_time(instance, j, route) for j, route in enumerate(routes)]
    completions: list[float] | None = None
    priority: dict[int, int] = {}
    if order is not None:
        completions = fictitious_completions(instance, routes, order)
        priority = {job: place + 1 for place, job in enumerate(order)}
        objective = max(completions, default=0.0)
    else:
        objective = sum(services)
    return SplittingRouting(
        policy=policy,
        problem="service" if completions is None else "completion",
        objective=objective,
        jobs=tuple(
            JobRouting(
                name=job.name,
                priority=priority.get(j),
                completion=None if completions is None else completions[j],
                service=services[j],
                nodes=tuple(instance.nodes[u].name for u in routes[j].nodes),
                hops=tuple((instance.links[e].name, layer) for e, layer in routes[j].hops),
            )
            for j, job in enumerate(instance.jobs)
        ),
    )


def routes_of(instance: SplittingInstance, routing: SplittingRouting) -> list[Route]:
    """Return the routes by job index, for plots and simulation.

    Raises
    ------
    InputError
        If the routing names something that the instance does not have.
    """
    by_name = {job.name: (k, job) for k, job in enumerate(routing.jobs)}
    routes = []
    for job in instance.jobs:
        if job.name not in by_name:
            raise InputError(
                "every job of the instance must be listed", field="jobs", value=job.name
            )
        k, outcome = by_name.pop(job.name)
        for i, name in enumerate(outcome.nodes):
            if name not in instance.node_index:
                raise InputError(
                    "is not a node of the network", field=f"jobs[{k}].nodes[{i}]", value=name
                )
        for i, (name, _) in enumerate(outcome.hops):
            if name not in instance.link_index:
                raise InputError(
                    "is not a link of the network", field=f"jobs[{k}].hops[{i}]", value=name
                )
        routes.append(
            Route(
                tuple(instance.node_index[name] for name in outcome.nodes),
                tuple((instance.link_index[name], layer) for name, layer in outcome.hops),
            )
        )
    for name, (k, _) in by_name.items():
        raise InputError("is not a job of the instance", field=f"jobs[{k}].name", value=name)
    return routes


def load_routing(path: str | Path) -> SplittingRouting:
    """Read a routing file; raises `InputError` naming file, field, rule and value."""
    return read_model(SplittingRouting, path)


def save_routing(routing: SplittingRouting, path: str | Path) -> None:
    """Write a routing file, atomically."""
    write_model(routing, path)
