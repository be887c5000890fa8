"""OGA slot by slot, in plain numpy: every point before its projection, and every price."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.multiserver.projection import project
from models.multiserver import MultiserverInstance
from models.multiserver.layout import EdgeLayout, edge_layout
from models.multiserver.reward import reward_gradient, slot_reward

__all__ = ["Slot", "trajectory"]

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Slot:
    """One slot of a run, protocol committed, step theory.

    Attributes
    ----------
    arrived : array of bool, shape (ports,)
    allocation : array, shape (edges, resources)
        y(t), the one rewarded.
    reward : float
    point : array, shape (edges, resources)
        z = y(t) + eta grad.
    moved : array of bool, shape (instances,)
        Whether a port of the instance has a job; elsewhere z = y(t) is feasible.
    price : array, shape (instances, resources)
        tau of the projection of z; 0 where nothing moved.
    step : float
        eta.
    """

    arrived: NDArray[np.bool_]
    allocation: Reals
    reward: float
    point: Reals
    moved: NDArray[np.bool_]
    price: Reals
    step: float


def trajectory(instance: MultiserverInstance, layout: EdgeLayout | None = None) -> Iterator[Slot]:
    """Yield all slots of OGA; the same rewards as `algorithms.multiserver.run`."""
    layout = edge_layout(instance) if layout is None else layout
    y = np.zeros((layout.edges, layout.resources))
    bound = instance.gradient_bound
    eta = instance.diameter / (bound * math.sqrt(instance.slots)) if bound > 0 else 0.0
    for table in instance.arrivals.chunks(layout.ports):
        for arrived in table:
            point = y + eta * reward_gradient(layout, y, arrived)
            moved = np.zeros(len(layout.capacity), dtype=bool)
            moved[layout.instance[arrived[layout.port]]] = True
            price = np.zeros_like(layout.capacity)
            after = y.copy()
            for r in moved.nonzero()[0]:
                rows = slice(layout.first[r], layout.first[r + 1])
                for k in range(layout.resources):
                    budget = float(layout.capacity[r, k])
                    found = project(point[rows, k], layout.cap[rows, k], budget)
                    after[rows, k], price[r, k] = found.amount, found.price
            reward = slot_reward(layout, y, arrived)
            yield Slot(arrived, y, reward, point, moved, price, eta)
            y = after
