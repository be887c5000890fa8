"""The four baselines: fairness, DRF, bin packing, spreading. Each slot begins anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from algorithms.multiserver.arrays import SlotArrays, collect
from algorithms.multiserver.baseline_kernels import fair_shares, serve
from algorithms.policy import Parameters, Policy, Run
from models.multiserver import MultiserverInstance, build_run
from models.multiserver.layout import EdgeLayout

__all__ = [
    "BINPACKING",
    "DRF",
    "FAIRNESS",
    "SPREADING",
    "BaselineParameters",
    "ServingParameters",
    "dominant_shares",
]

PREFERENCES = {"drf": 0, "binpacking": 1, "spreading": -1}


class BaselineParameters(Parameters):
    """Parameters of fairness."""

    protocol: Annotated[
        Literal["committed", "lookahead"],
        Field(description="see x(t), or allocate beforehand as if every port had a job"),
    ] = "lookahead"
    history: Annotated[bool, Field(description="write the allocation of every slot")] = False


class ServingParameters(BaselineParameters):
    """Parameters of those that serve port after port."""

    per_job: Annotated[
        bool,
        Field(description="a[l,k] limits a job over all instances, not on each of its channels"),
    ] = False


def dominant_shares(layout: EdgeLayout, request: NDArray[np.float64]) -> NDArray[np.float64]:
    """Max over k of a[l,k] / sum of c over the port's instances, shape (ports,); 0/0 is 0."""
    reachable = np.zeros((layout.ports, layout.resources))
    np.add.at(reachable, layout.port, layout.capacity[layout.instance])
    unreachable = np.where(request > 0, np.inf, 0.0)
    shares = np.divide(request, reachable, out=unreachable, where=reachable > 0)
    return np.asarray(shares.max(axis=1, initial=0.0))


def _server(
    name: str, instance: MultiserverInstance, arrays: SlotArrays, per_job: bool
) -> Callable[[NDArray[np.bool_]], Any]:
    """Return what writes the allocation of a slot, given who arrived."""
    layout = arrays.layout
    if name == "fairness":
        return lambda arrived: fair_shares(
            arrived, layout.port, layout.first, arrays.cap, arrays.capacity, arrays.allocation
        )
    order = np.arange(layout.ports)
    if name == "drf":
        order = np.argsort(dominant_shares(layout, instance.request), kind="stable")
    own_edges = np.argsort(layout.port, kind="stable")
    own_first = np.searchsorted(layout.port[own_edges], np.arange(layout.ports + 1))
    left = np.zeros_like(arrays.capacity)
    return lambda arrived: serve(
        arrived,
        order,
        own_first,
        own_edges,
        layout.instance,
        arrays.cap,
        arrays.capacity,
        PREFERENCES[name],
        per_job,
        left,
        arrays.allocation,
    )


def _run(name: str, instance: MultiserverInstance, parameters: BaselineParameters) -> Run:
    arrays = SlotArrays(instance)
    per_job = isinstance(parameters, ServingParameters) and parameters.per_job
    allocate = _server(name, instance, arrays, per_job)
    committed = parameters.protocol == "committed"
    if committed:
        allocate(np.ones(arrays.layout.ports, dtype=bool))

    def advance(arrivals: NDArray[np.bool_], rewards: NDArray[np.float64]) -> None:
        for t, arrived in enumerate(np.ascontiguousarray(arrivals)):
            if not committed:
                allocate(arrived)
            rewards[t] = arrays.reward(arrived)

    found = collect(instance, arrays, advance, parameters.history, committed)
    return Run(
        build_run(
            instance,
            arrays.layout,
            arrays.by_edge(),
            policy=name,
            protocol=parameters.protocol,
            objective=found.objective,
            rewards=found.rewards,
            history=found.history,
        )
    )


def _policy(name: str, summary: str, parameters: type[BaselineParameters]) -> Policy:
    def run(instance: MultiserverInstance, chosen: BaselineParameters, seed: int) -> Run:
        del seed  # nothing is drawn
        return _run(name, instance, chosen)

    return Policy(name=name, summary=summary, parameters=parameters, run=run)


FAIRNESS = _policy(
    "fairness", "capacity in proportion to the requests of who arrived", BaselineParameters
)
DRF = _policy("drf", "arrived ports by ascending dominant share", ServingParameters)
BINPACKING = _policy("binpacking", "ports by index, the fullest instance first", ServingParameters)
SPREADING = _policy("spreading", "ports by index, the emptiest instance first", ServingParameters)
