"""The instance as compiled functions read it: one row per resource, edges sorted by instance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.multiserver.kernels import port_totals, reward
from models.files import InputError
from models.multiserver import MultiserverInstance
from models.multiserver.allocation import LONGEST_WRITTEN
from models.multiserver.layout import EdgeLayout, edge_layout

__all__ = ["Collected", "SlotArrays", "collect"]

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_KEPT = 20_000_000
"""Numbers of a history; as a file they are a gigabyte."""


class SlotArrays:
    """The layout with a row per resource, and the state of a run.

    Attributes
    ----------
    layout : EdgeLayout
    cap, scale, kind : array, shape (resources, edges)
    capacity, price : array, shape (resources, instances)
    allocation : array, shape (resources, edges)
        y, at first 0.
    total : array, shape (resources, ports)
        S of the allocation.
    """

    def __init__(self, instance: MultiserverInstance) -> None:
        layout: EdgeLayout = edge_layout(instance)
        self.layout = layout
        self.cap = np.ascontiguousarray(layout.cap.T)
        self.scale = np.ascontiguousarray(layout.scale.T)
        self.kind: Indices = np.ascontiguousarray(layout.kind.T)
        self.capacity = np.ascontiguousarray(layout.capacity.T)
        self.price = np.zeros_like(self.capacity)
        self.allocation = np.zeros_like(self.cap)
        self.total = np.zeros((layout.resources, layout.ports))

    def reward(self, arrived: NDArray[np.bool_]) -> float:
        """Sum up what the ports have, and return the slot's reward."""
        port_totals(self.layout.port, self.allocation, self.total)
        return float(
            reward(
                arrived,
                self.layout.port,
                self.allocation,
                self.total,
                self.layout.overhead,
                self.layout.per_channel,
                self.kind,
                self.scale,
            )
        )

    def by_edge(self) -> Reals:
        """Copy the allocation, shape (edges, resources)."""
        return np.ascontiguousarray(self.allocation.T)


@dataclass
class Collected:
    """What is kept of a run.

    Attributes
    ----------
    objective : float
        Total reward.
    rewards : array or None
        By slot; None when there are more than are written.
    history : list of array or None
        The allocation rewarded in each slot, shape (edges, resources), if asked for.
    """

    objective: float = 0.0
    rewards: Reals | None = None
    history: Sequence[Reals] | None = field(default=None)


def collect(
    instance: MultiserverInstance,
    arrays: SlotArrays,
    advance: Callable[[NDArray[np.bool_], Reals], Any],
    history: bool,
    committed: bool,
) -> Collected:
    """Run all slots, in chunks whose size does not depend on their number.

    Parameters
    ----------
    instance : MultiserverInstance
    arrays : SlotArrays
    advance : function (arrivals of some slots, room for their rewards)
        Leaves the allocation of the last of these slots in `arrays`.
    history : bool
        Keep every allocation: then slots go one by one.
    committed : bool
        Whether a slot is rewarded for the allocation that it begins with, not ends with.

    Raises
    ------
    InputError
        If the history would be more than `MOST_KEPT` numbers.
    """
    slots = instance.arrivals.slots
    if history and slots * arrays.allocation.size > MOST_KEPT:
        rule = f"must be off where slots x edges x resources is above {MOST_KEPT:,}"
        numbers = slots * arrays.allocation.size
        raise InputError(rule, field="history", value=numbers)
    kept: list[Reals] | None = [] if slots <= LONGEST_WRITTEN else None
    allocations: list[Reals] = []
    sums: list[float] = []
    for table in instance.arrivals.chunks(instance.number_of_ports):
        room = np.zeros(len(table))
        if history:
            for t in range(len(table)):
                before = arrays.by_edge()
                advance(table[t : t + 1], room[t : t + 1])
                allocations.append(before if committed else arrays.by_edge())
        else:
            advance(table, room)
        sums.append(math.fsum(room))
        if kept is not None:
            kept.append(room)
    rewards = None if kept is None else np.concatenate([np.zeros(0), *kept])
    return Collected(math.fsum(sums), rewards, allocations if history else None)
