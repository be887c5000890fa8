"""What the machines of every slot have left, kept by groups of machines that are exactly alike.

Two machines of a slot are alike iff they have the same capacity and the same amounts allocated,
bit by bit; then their prices are the same too. A decision costs what the groups cost, and an
admitted job changes only the groups of the machines that it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.prices import PriceBounds, PriceFunction
from models.training.schedule import Placement

__all__ = ["ClusterGroups", "Grouping", "SlotGroups", "group_machines"]


@dataclass(frozen=True)
class Grouping:
    """Which machines are alike.

    Attributes
    ----------
    machine_group : array of int, shape (machines,)
        No group is empty.
    """

    machine_group: NDArray[np.int32]

    @cached_property
    def members(self) -> NDArray[np.int32]:
        """Machines by group, those of a group in order; shape (machines,)."""
        return np.argsort(self.machine_group, kind="stable").astype(np.int32)

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        """Where each group begins in `members`, shape (groups + 1,)."""
        return np.cumsum(np.append(0, np.bincount(self.machine_group)))

    @property
    def first(self) -> NDArray[np.int32]:
        """The first machine of each group, shape (groups,)."""
        return np.asarray(self.members[self.begin[:-1]])


@dataclass(frozen=True)
class SlotGroups:
    """The machines of one slot by groups of equal ones.

    Attributes
    ----------
    grouping : Grouping
    count : array of float, shape (groups,)
        Machines of each group, at least one.
    kind : array of int, shape (groups,)
        Which machine's capacity it is: the first with that capacity.
    used, log_price : arrays, shape (groups, resources)
    version : int
        Slots of equal version have equal groups.
    """

    grouping: Grouping
    count: NDArray[np.float64]
    kind: NDArray[np.int64]
    used: NDArray[np.float64]
    log_price: NDArray[np.float64]
    version: int


def group_machines(*columns: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Group machines that agree in all columns, each shaped (machines,) or (machines, width).

    Returns
    -------
    machine_group : array of int, shape (machines,)
    first : array of int, shape (groups,)
        The first machine of each group; groups are numbered in the order of these.
    """
    table = np.column_stack(columns) + 0.0  # -0 is 0
    rows = np.ascontiguousarray(table).view(np.dtype((np.void, table.strides[0]))).ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[group], np.sort(first)


class ClusterGroups:
    """The groups of all slots; grows by what admitted jobs are given.

    Parameters
    ----------
    slots : int
    capacity : array, shape (machines, resources)
    bounds : PriceBounds

    Notes
    -----
    Memory: 8 bytes per slot and machine, and 16 per slot, group and resource. Slots that have
    met the same allocations share their groups.
    """

    def __init__(self, slots: int, capacity: NDArray[np.float64], bounds: PriceBounds) -> None:
        self.capacity = capacity
        self.bounds = bounds
        kind, first = group_machines(capacity)
        self._kind_of_machine = first[kind]
        empty = SlotGroups(
            grouping=Grouping(kind),
            count=np.bincount(kind, minlength=len(first)).astype(float),
            kind=first,
            used=np.zeros((len(first), capacity.shape[1])),
            log_price=self._log_prices(first, np.zeros((len(first), capacity.shape[1]))),
            version=0,
        )
        self._versions = 1
        self.slot: list[SlotGroups] = [empty] * slots

    def bytes_kept(self) -> int:
        """Bytes of all arrays kept, those that slots share counted once."""
        different = {slot.version: slot for slot in self.slot}.values()
        return self.capacity.nbytes + sum(
            array.nbytes
            for slot in different
            for array in (
                slot.grouping.machine_group,
                slot.grouping.members,
                slot.grouping.begin,
                slot.count,
                slot.kind,
                slot.used,
                slot.log_price,
            )
        )

    def _log_prices(
        self, kind: NDArray[np.int64], used: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return PriceFunction(self.bounds, self.capacity[kind]).log_prices(used)

    def allocate(
        self,
        placements: Iterable[Placement],
        worker_demand: NDArray[np.float64],
        ps_demand: NDArray[np.float64],
    ) -> None:
        """Take the capacity of (slot, machine, workers, PSs) with these demands, (resources,)."""
        by_slot: dict[int, list[tuple[int, int, int]]] = {}
        for slot, machine, workers, ps in placements:
            by_slot.setdefault(slot, []).append((machine, workers, ps))
        changed: dict[tuple[int, tuple[tuple[int, int, int], ...]], SlotGroups] = {}
        for slot, given in by_slot.items():
            old = self.slot[slot]
            history = old.version, tuple(given)
            if history not in changed:
                changed[history] = self._changed(old, np.array(given), worker_demand, ps_demand)
            self.slot[slot] = changed[history]

    def _changed(
        self,
        old: SlotGroups,
        given: NDArray[np.int64],
        worker_demand: NDArray[np.float64],
        ps_demand: NDArray[np.float64],
    ) -> SlotGroups:
        """Move the machines in `given`, rows (machine, workers, PSs), to their new groups."""
        machines = given[:, 0]
        more = given[:, 1, None] * worker_demand + given[:, 2, None] * ps_demand
        used = old.used[old.grouping.machine_group[machines]] + more
        kind = self._kind_of_machine[machines]
        known: dict[tuple[int, bytes], int] = {}
        target = np.empty(len(machines), dtype=np.int32)
        new: list[int] = []
        for n in range(len(machines)):
            identity = int(kind[n]), used[n].tobytes()
            if identity not in known:
                alike = (old.used[:, 0] == used[n, 0]) & (old.kind == kind[n])
                there = np.flatnonzero(alike)
                there = there[(old.used[there] == used[n]).all(axis=1)]
                if len(there):
                    known[identity] = int(there[0])
                else:
                    known[identity] = len(old.kind) + len(new)
                    new.append(n)
            target[n] = known[identity]
        group = old.grouping.machine_group.copy()
        group[machines] = target
        count = np.bincount(group, minlength=len(old.kind) + len(new))
        left = np.flatnonzero(count)
        number = np.cumsum(count > 0, dtype=np.int32) - 1
        self._versions += 1
        return SlotGroups(
            grouping=Grouping(number[group]),
            count=count[left].astype(float),
            kind=np.concatenate([old.kind, kind[new]])[left],
            used=np.concatenate([old.used, used[new]])[left],
            log_price=np.concatenate([old.log_price, self._log_prices(kind[new], used[new])])[left],
            version=self._versions - 1,
        )
