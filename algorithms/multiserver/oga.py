"""Online gradient ascent (OGASched): y(t+1) = Proj(y(t) + eta_t grad q(x(t), y(t)))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from algorithms.multiserver.arrays import SlotArrays, collect
from algorithms.multiserver.kernels import oga_slots
from algorithms.policy import Parameters, Policy, Run
from models.multiserver import MultiserverInstance, build_run

__all__ = ["OGA", "STEPS", "Ascent", "OgaLog", "OgaParameters", "run_oga"]

STEPS = ("theory", "sqrt", "adagrad", "geometric")
"""In the order of the compiled function's codes."""


class OgaParameters(Parameters):
    """Parameters of OGA."""

    protocol: Annotated[
        Literal["committed", "lookahead"],
        Field(description="fix y(t) before x(t) is seen (Theorem 1), or step along x(t) first"),
    ] = "committed"
    step: Annotated[
        Literal["theory", "sqrt", "adagrad", "geometric"],
        Field(
            description="eta_t: D/(G sqrt T), D/(G sqrt t), D/sqrt(2 sum |g|^2), or eta0 decay^t"
        ),
    ] = "theory"
    eta0: Annotated[float, Field(ge=0, description="of step geometric")] = 1.0
    decay: Annotated[float, Field(ge=0, le=1, description="of step geometric")] = 0.99
    projection: Annotated[
        Literal["exact", "paper"],
        Field(description="exact, or the paper's loop, which may exceed requests"),
    ] = "exact"
    history: Annotated[bool, Field(description="write the allocation of every slot")] = False


@dataclass(frozen=True)
class OgaLog:
    """What the run ended with.

    Attributes
    ----------
    price : array, shape (instances, resources)
        tau of the last projection.
    squares : float
        Sum over slots of the gradient's square.
    """

    price: NDArray[np.float64]
    squares: float


class Ascent:
    """A run that goes on: y, the prices and the clock after the slots so far.

    Parameters
    ----------
    instance : MultiserverInstance
    parameters : OgaParameters
    """

    def __init__(self, instance: MultiserverInstance, parameters: OgaParameters) -> None:
        self.arrays = SlotArrays(instance)
        self.parameters = parameters
        self.slots = instance.arrivals.slots
        layout = self.arrays.layout
        diameter, bound = instance.diameter, instance.gradient_bound
        # Where D or G is 0 nothing can be allocated or gained: no step.
        ratio = diameter / bound if bound > 0 else 0.0
        self.rates = np.array([ratio, diameter, parameters.eta0, parameters.decay])
        self.degree = np.bincount(layout.port, minlength=layout.ports).astype(float)
        self.clock = np.zeros(2)
        self.felt = np.zeros_like(self.arrays.total)
        self.point = np.zeros_like(self.arrays.allocation)

    def advance(self, arrivals: NDArray[np.bool_], rewards: NDArray[np.float64]) -> None:
        """Run consecutive slots, shape (slots, ports), and write their rewards."""
        arrays, layout, parameters = self.arrays, self.arrays.layout, self.parameters
        oga_slots(
            np.ascontiguousarray(arrivals),
            layout.port,
            layout.first,
            arrays.cap,
            arrays.capacity,
            layout.overhead,
            layout.per_channel,
            arrays.kind,
            arrays.scale,
            self.degree,
            parameters.protocol == "lookahead",
            parameters.projection == "paper",
            STEPS.index(parameters.step),
            self.rates,
            self.slots,
            self.clock,
            arrays.allocation,
            arrays.price,
            arrays.total,
            self.felt,
            self.point,
            rewards,
        )


def run_oga(instance: MultiserverInstance, parameters: OgaParameters, seed: int) -> Run:
    """Run OGA from y(1) = 0.

    Parameters
    ----------
    instance : MultiserverInstance
    parameters : OgaParameters
    seed : int
        Without effect: the arrivals are the instance's.

    Returns
    -------
    Run
        ``log`` is an `OgaLog`.
    """
    del seed
    ascent = Ascent(instance, parameters)
    arrays = ascent.arrays
    committed = parameters.protocol == "committed"
    found = collect(instance, arrays, ascent.advance, parameters.history, committed)
    solution = build_run(
        instance,
        arrays.layout,
        arrays.by_edge(),
        policy=OGA.name,
        protocol=parameters.protocol,
        objective=found.objective,
        rewards=found.rewards,
        step=parameters.step,
        projection=parameters.projection,
        history=found.history,
    )
    return Run(solution, OgaLog(arrays.price.T.copy(), float(ascent.clock[1])))


OGA = Policy(
    name="oga",
    summary="online gradient ascent with a projection (OGASched)",
    parameters=OgaParameters,
    run=run_oga,
)
