"""Bounds and prices from the pooled relaxation at full size: first its LP, then branching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.solver import Engine, SolverError
from models.training import TrainingInstance
from models.training.pooled import build_pooled

__all__ = ["LinearPart", "linear_part"]


@dataclass(frozen=True)
class LinearPart:
    """What the LP of the pooled relaxation says.

    Attributes
    ----------
    bound : float
        Of the total utility, divided by the scale; infinite if the LP was not solved.
    price : array, shape (slots, resources)
        Utility that a unit of capacity is worth, not divided by the scale.
    """

    bound: float
    price: NDArray[np.float64]


def linear_part(
    instance: TrainingInstance, last_slot: dict[int, int], scale: float, seconds: float
) -> LinearPart:
    """Solve the LP of the pooled relaxation.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : dict of job index to slot
        Latest completion worth anything.
    scale : float
        Of the objective.
    seconds : float
        Time limit.
    """
    model = build_pooled(instance, last_slot=last_slot, scale=scale)
    for done in model.done.values():
        done.domain = pyo.UnitInterval
    price = np.zeros((instance.slots, len(instance.resources)))
    try:
        engine = Engine(model)
        result = engine.solve(time_limit=max(seconds, 0.05))
    except SolverError:
        return LinearPart(np.inf, price)
    if result.dual is None:
        return LinearPart(np.inf, price)
    _add_prices(engine, model, instance, result.dual, price)
    return LinearPart(float(result.bound), price * scale)


def _add_prices(
    engine: Engine,
    model: Any,
    instance: TrainingInstance,
    dual: NDArray[np.float64],
    price: NDArray[np.float64],
) -> None:
    """Read the duals of the capacity rows; a row counts parts of the resource's total."""
    keys = list(model.pooled_capacity)
    rows = engine.compiled.rows(model.pooled_capacity, keys)
    total = instance.capacity.sum(axis=0)
    for (slot, resource), row in zip(keys, rows, strict=True):
        if total[resource] > 0:
            price[slot, resource] = max(dual[row], 0.0) / total[resource]
