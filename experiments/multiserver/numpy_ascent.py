"""OGA in vectorised numpy, for comparison: all instances and resources at once, nothing compiled.

The committed protocol with the theory step, gain form sum. Edges are laid out in a table with as
many columns as the largest instance has ports; what is missing has cap 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from models.multiserver import MultiserverInstance
from models.multiserver.gains import gain_slope, gain_value
from models.multiserver.layout import edge_layout

__all__ = ["NumpyAscent"]

Reals = NDArray[np.float64]

ROUNDS = 100
CLOSE = 1e-13  # relative to the budget


class NumpyAscent:
    """The state of a run."""

    def __init__(self, instance: MultiserverInstance) -> None:
        layout = edge_layout(instance)
        if layout.per_channel:
            raise ValueError("only the gain form sum")
        resources, servers = layout.resources, len(layout.first) - 1
        widest = int(np.diff(layout.first).max())
        place = np.arange(layout.edges) - layout.first[layout.instance]
        # Columns that no port has belong to one port too many, which never has a job.
        self.port = np.full((servers, widest), layout.ports)
        self.port[layout.instance, place] = layout.port
        self.cap = np.zeros((resources, servers, widest))
        self.cap[:, layout.instance, place] = layout.cap.T
        self.budget = np.ascontiguousarray(layout.capacity.T)
        self.overhead = layout.overhead
        self.kind, self.scale = layout.kind[0], layout.scale[0]
        self.allocation = np.zeros_like(self.cap)
        self.price = np.zeros_like(self.budget)
        self.ports = layout.ports
        slots = instance.arrivals.slots
        self.step = instance.diameter / instance.gradient_bound / math.sqrt(slots)

    def run(self, arrivals: NDArray[np.bool_]) -> Reals:
        """Return the rewards of consecutive slots."""
        return np.array([self.slot(arrived) for arrived in arrivals])

    def slot(self, arrived: NDArray[np.bool_]) -> float:
        """Reward y, then move it."""
        total = self._totals()
        burden = self.overhead[:, None] * total
        gains = sum(
            gain_value(int(kind), float(scale), total[k])
            for k, (kind, scale) in enumerate(zip(self.kind, self.scale, strict=True))
        )
        reward = float((gains - burden.max(axis=0))[arrived].sum())
        slopes = np.zeros((len(self.overhead), self.ports + 1))
        for k, (kind, scale) in enumerate(zip(self.kind, self.scale, strict=True)):
            slopes[k, :-1] = gain_slope(int(kind), float(scale), total[k])
        dominant = burden.argmax(axis=0)
        slopes[dominant, np.arange(self.ports)] -= self.overhead[dominant]
        slopes[:, :-1] *= arrived
        slopes[:, -1] = 0.0
        self._project(self.allocation + self.step * slopes[:, self.port])
        return reward

    def _totals(self) -> Reals:
        flat = self.port.ravel()
        return np.array(
            [
                np.bincount(flat, weights=part.ravel(), minlength=self.ports + 1)[:-1]
                for part in self.allocation
            ]
        )

    def _project(self, point: Reals) -> None:
        """Newton's steps kept within bounds, for all instances and resources that are not done."""
        cap, budget = self.cap, self.budget
        inside = np.clip(point, 0.0, cap)
        full = (inside.sum(axis=2) > budget) & (budget > 0.0)
        inside[budget <= 0.0] = 0.0
        self.price[~full] = 0.0
        rows = np.nonzero(full)
        z, a, c = point[rows], cap[rows], budget[rows]
        low, high = np.zeros(len(c)), z.max(axis=1)
        price = np.where((self.price[rows] > 0) & (self.price[rows] < high), self.price[rows], 0.0)
        found = np.zeros_like(z)
        left = np.arange(len(c))
        for _ in range(ROUNDS):
            if not len(left):
                break
            y = np.clip(z[left] - price[left, None], 0.0, a[left])
            excess = y.sum(axis=1) - c[left]
            found[left] = y
            free = ((y > 0.0) & (y < a[left])).sum(axis=1)
            low[left] = np.where(excess > 0, price[left], low[left])
            high[left] = np.where(excess < 0, price[left], high[left])
            with np.errstate(divide="ignore"):
                step = price[left] + excess / free
            wrong = ~((step > low[left]) & (step < high[left]))
            step[wrong] = 0.5 * (low[left] + high[left])[wrong]
            going = (np.abs(excess) > CLOSE * c[left]) & (step != price[left])
            price[left[going]] = step[going]
            left = left[going]
        inside[rows] = found
        self.price[rows] = price
        self.allocation = inside
