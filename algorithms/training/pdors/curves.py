"""All slot programs of one job at once: the curves of their optimal values, and their optima.

`JobCurves` is the fast form of `algorithms.training.pdors.slot.JobSlots`, which solves each of
them by HiGHS and is what tests hold this against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled
from algorithms.training.pdors.curve_kernels import follow_slots
from algorithms.training.pdors.machine_groups import Grouping, group_machines
from algorithms.training.pdors.prices import log_amounts
from algorithms.training.pdors.rounding import SlotOptima
from algorithms.training.pdors.slot import (
    ExternalOptimum,
    SlotState,
    log_sum,
)
from algorithms.training.pdors.slot_optima import place_on_machines
from algorithms.training.pdors.slot_simplex import GAVE_UP, OPTIMAL
from models.training import Job
from models.training.throughput import FIT_ABSOLUTE, FIT_TOLERANCE, most_units

__all__ = ["CurveSlot", "JobCurves", "SpreadOptimum", "slot_of_state"]


@dataclass(frozen=True)
class CurveSlot:
    """What a job meets in one slot, by groups of equal machines.

    Attributes
    ----------
    grouping : Grouping
    count : array of float, shape (groups,)
    free : array, shape (groups, resources)
        Free capacity of one machine.
    log_worker_price, log_ps_price : arrays, shape (groups,)
        ln of the price of one worker and of one PS.
    """

    grouping: Grouping
    count: NDArray[np.float64]
    free: NDArray[np.float64]
    log_worker_price: NDArray[np.float64]
    log_ps_price: NDArray[np.float64]


def slot_of_state(state: SlotState) -> CurveSlot:
    """Group the machines of a slot that are exactly alike."""
    group, first = group_machines(state.free_capacity, state.log_worker_price, state.log_ps_price)
    return CurveSlot(
        Grouping(group),
        np.bincount(group, minlength=len(first)).astype(float),
        state.free_capacity[first],
        state.log_worker_price[first],
        state.log_ps_price[first],
    )


@dataclass(frozen=True)
class SpreadOptimum:
    """LP optimum of a slot program on the machines that it uses.

    Attributes
    ----------
    machines : array of int, shape (used,)
        In order.
    workers, ps : arrays, shape (used,)
    log_cost : float
        ln of the cost.
    """

    machines: NDArray[np.int64]
    workers: NDArray[np.float64]
    ps: NDArray[np.float64]
    log_cost: float

    def on_all(self, machines: int) -> ExternalOptimum:
        """Return the same with entries for all machines."""
        workers, ps = np.zeros(machines), np.zeros(machines)
        workers[self.machines], ps[self.machines] = self.workers, self.ps
        return ExternalOptimum(workers, ps, self.log_cost)


class JobCurves:
    """The slot subproblems of one job in several slots.

    Parameters
    ----------
    job : Job
    worker_demand, ps_demand : arrays, shape (resources,)
    slots : sequence of CurveSlot
        At least one.
    covers : array of int, shape (covers,)
        Numbers of workers that are asked for, rising, each positive and at most the batch.

    Attributes
    ----------
    log_cost : array, shape (slots, covers)
        ln of the LP optimum; inf if there is none, NaN where the method gave up.
    pivots : int
        Simplex iterations.
    arguments : tuple of arrays
        The first ones of `follow_slots`.
    """

    def __init__(
        self,
        job: Job,
        worker_demand: NDArray[np.float64],
        ps_demand: NDArray[np.float64],
        slots: Sequence[CurveSlot],
        covers: NDArray[np.int64],
    ) -> None:
        self.slots = slots
        self.job, self.worker_demand, self.ps_demand = job, worker_demand, ps_demand
        self.first = np.cumsum([0] + [len(slot.count) for slot in slots])
        self.free = np.concatenate([slot.free for slot in slots])
        self.log_worker_price = np.concatenate([slot.log_worker_price for slot in slots])
        self.log_ps_price = np.concatenate([slot.log_ps_price for slot in slots])
        demand = np.array([(cover, job.ps_for(int(cover))) for cover in covers], dtype=float)
        self.arguments = self._prepare()
        self.status, log_cost, self._start, self._entries, self.pivots, _ = follow_slots(
            *self.arguments, demand.reshape(-1, 2), np.zeros((0, 4))
        )
        self.log_cost: NDArray[np.float64] = np.where(self.status == GAVE_UP, np.nan, log_cost)

    def _prepare(self) -> tuple[NDArray[np.float64], ...]:
        used = (self.worker_demand > 0) | (self.ps_demand > 0)
        free = np.maximum(self.free, 0.0)
        batch = self.job.batch
        return (
            self.worker_demand[used],
            self.ps_demand[used],
            np.ascontiguousarray(free[:, used]),
            np.concatenate([slot.count for slot in self.slots]),
            batch * (most_units(self.worker_demand, free, 1) >= 1).astype(float),
            self.job.ps_for(batch) * (most_units(self.ps_demand, free, 1) >= 1).astype(float),
            self.log_worker_price,
            self.log_ps_price,
            self.first,
        )

    def internal(
        self, workers: NDArray[np.int64], ps: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Internal case (D8): the first machine that fits by price, for each number of workers.

        Parameters
        ----------
        workers, ps : arrays of int, shape (levels,)
            Neither falling.

        Returns
        -------
        machine : array of int, shape (slots, levels)
            -1 where none fits.
        log_cost : array, shape (slots, levels)
            inf where none fits.
        """
        key = np.logaddexp(
            math.log(self.job.workers_per_ps) + self.log_worker_price, self.log_ps_price
        )
        use = workers[:, None] * self.worker_demand + ps[:, None] * self.ps_demand
        use[workers > self.job.batch] = np.inf
        with np.errstate(over="ignore"):
            room = self.free * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE
        machine = np.full((len(self.slots), len(workers)), -1, dtype=np.int64)
        log_cost = np.full(machine.shape, np.inf)
        log_workers, log_ps = log_amounts(workers.astype(float)), log_amounts(ps.astype(float))
        for k, slot in enumerate(self.slots):
            own = slice(self.first[k], self.first[k + 1])
            first = slot.grouping.first
            order = np.lexsort((first, key[own]))
            group = _first_that_fits(order, use, room[own])
            fit = group >= 0
            chosen = group[fit]
            machine[k, fit] = first[chosen]
            costs = [
                log_workers[fit] + slot.log_worker_price[chosen],
                log_ps[fit] + slot.log_ps_price[chosen],
            ]
            log_cost[k, fit] = log_sum(np.stack(costs, axis=-1))
        return machine, log_cost

    def optimum(self, k: int, q: int) -> SpreadOptimum | None:
        """Return an LP optimum of slot k and cover q; None if it is infeasible.

        Of machines that are alike, the first are given the most.
        """
        if self.status[k, q] != OPTIMAL:
            return None
        rows = self._start[k, [q]]
        _, machine, _, workers, ps = self._placed(k, rows)
        return SpreadOptimum(machine, workers, ps, float(self.log_cost[k, q]))

    def optima(
        self, k: int, instead: Mapping[tuple[int, int], SpreadOptimum] | None = None
    ) -> SlotOptima:
        """Return the LP optima of slot k for all covers; without entries where there is none.

        Parameters
        ----------
        k : int
        instead : mapping of (slot, cover) to SpreadOptimum, optional
            What takes the place of some of them.
        """
        slot = self.slots[k]
        start, machine, group, workers, ps = self._placed(k, self._start[k])
        group_of = slot.grouping.machine_group
        for (where, q), found in (instead or {}).items():
            if where == k:
                at, used = slice(start[q], start[q + 1]), len(found.machines)
                new = found.machines, group_of[found.machines], found.workers, found.ps
                machine, group, workers, ps = (
                    np.concatenate([old[: at.start], values, old[at.stop :]])
                    for old, values in zip((machine, group, workers, ps), new, strict=True)
                )
                start[q + 1 :] += used - (at.stop - at.start)
        return SlotOptima(start, machine, group, workers, ps, slot.free)

    def _placed(self, k: int, rows: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """Write optima out machine by machine, each from some rows of the entries."""
        grouping = self.slots[k].grouping
        written: tuple[NDArray[Any], ...] = place_on_machines(
            self._entries, rows, self.first[k], grouping.members, grouping.begin
        )
        return written


@compiled
def _first_that_fits(order, use, room):  # type: ignore[no-untyped-def]
    """For each row of `use`, which rise, the first row of `room` in `order` that holds it, or -1.

    A machine that holds a row holds those before it, so only the largest row so far is compared.
    """
    found = np.full(len(use), -1, dtype=np.int64)
    q = 0
    for g in order:
        while q < len(use) and (use[q] <= room[g]).all():
            found[q] = g
            q += 1
        if q == len(use):
            break
    return found
