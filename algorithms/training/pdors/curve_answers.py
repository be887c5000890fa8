"""The slot subproblems of a job from the curves of their optimal values, all slots in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.answers import Cluster, SlotAnswers, SpreadAllocation
from algorithms.training.pdors.curves import CurveSlot, JobCurves, SpreadOptimum
from algorithms.training.pdors.machine_groups import ClusterGroups, SlotGroups
from algorithms.training.pdors.prices import PriceFunction, log_amounts
from algorithms.training.pdors.rounding import SlotOptima
from algorithms.training.pdors.slot import (
    JobSlots,
    SlotState,
    log_costs,
    log_sum,
    smallest_packing,
)
from algorithms.training.pdors.slot_simplex import GAVE_UP, OPTIMAL
from models.training import TrainingInstance
from models.training.schedule import Placement
from models.training.throughput import workers_for

__all__ = ["CurveCluster"]

KEPT_SLOTS = 8  # slots whose optima are kept in full; others are written out again when needed


class CurveCluster(Cluster):
    """Groups of equal machines in every slot, and their prices."""

    def __init__(self, instance: TrainingInstance, prices: PriceFunction) -> None:
        self.instance = instance
        self.groups = ClusterGroups(instance.slots, instance.capacity, prices.bounds)

    def answers(self, i: int, samples: NDArray[np.float64]) -> SlotAnswers:
        """Solve the slot subproblems of job i; see `Cluster`."""
        return CurveAnswers(
            self.instance, i, self.groups.slot[self.instance.jobs[i].arrival :], samples
        )

    def allocate(self, i: int, placements: Sequence[Placement]) -> None:
        """Give job i what its schedule asks for."""
        self.groups.allocate(placements, self.instance.worker_demand[i], self.instance.ps_demand[i])


class CurveAnswers(SlotAnswers):
    """See `SlotAnswers`."""

    tie = 1e-12  # costs are sums of other terms here than those of one machine

    def __init__(
        self,
        instance: TrainingInstance,
        i: int,
        slots: Sequence[SlotGroups],
        samples: NDArray[np.float64],
    ) -> None:
        self.instance, self.i, self.job = instance, i, instance.jobs[i]
        self.worker_demand, self.ps_demand = instance.worker_demand[i], instance.ps_demand[i]
        by_version = {slot.version: slot for slot in slots}
        distinct = list(by_version.values())
        number = {version: k for k, version in enumerate(by_version)}
        self.same = np.array([number[slot.version] for slot in slots])
        self.curves = JobCurves(
            self.job,
            self.worker_demand,
            self.ps_demand,
            self._views(distinct),
            self._ask(samples),
        )
        self._optima: dict[int, SlotOptima] = {}
        self._position = np.searchsorted(self.asked, self.covers)
        self._solve_what_was_given_up()
        self._internal_case(samples)
        reachable = self.covers <= self.job.batch
        external = np.full((len(distinct), len(samples)), np.inf)
        external[:, reachable] = self.curves.log_cost[:, self._position[reachable]]
        self.external_cost = external[self.same]
        # Each curve is followed up to the first demand that is infeasible.
        solved = (self.curves.status == OPTIMAL).sum(axis=1)
        self.lps_solved = int(np.minimum(solved + 1, len(self.asked)).sum())
        queries = len(slots) * len(samples)
        self.lps_reused = queries - len(distinct) * len(np.unique(self.covers))
        self.iterations += self.curves.pivots

    def _ask(self, samples: NDArray[np.float64]) -> NDArray[np.int64]:
        rate = self.job.rate_external
        self.covers = np.array([workers_for(float(v), rate) for v in samples], dtype=np.int64)
        self.asked = np.unique(self.covers[self.covers <= self.job.batch])
        return self.asked

    def _views(self, distinct: Sequence[SlotGroups]) -> list[CurveSlot]:
        """Return what the job meets in each slot."""
        ends = np.cumsum([len(slot.count) for slot in distinct])[:-1]
        log_price = np.concatenate([slot.log_price for slot in distinct])
        worker = np.split(log_sum(log_price + log_amounts(self.worker_demand)), ends)
        ps = np.split(log_sum(log_price + log_amounts(self.ps_demand)), ends)
        return [
            CurveSlot(
                slot.grouping,
                slot.count,
                self.instance.capacity[slot.kind] - slot.used,
                worker[k],
                ps[k],
            )
            for k, slot in enumerate(distinct)
        ]

    def _solve_what_was_given_up(self) -> None:
        """Ask the engine where the curve's method did not end; its answers take their place."""
        self._by_engine: dict[tuple[int, int], SpreadOptimum] = {}
        slots: JobSlots | None = None
        for k, q in np.argwhere(self.curves.status == GAVE_UP):
            view = self.curves.slots[k]
            group = view.grouping.machine_group
            if slots is None:
                slots = JobSlots(self.instance, self.i)
            state = SlotState(
                view.free[group], view.log_worker_price[group], view.log_ps_price[group]
            )
            found = slots.external(state, int(self.asked[q]))
            self.curves.log_cost[k, q] = np.inf if found is None else found.log_cost
            if found is not None:
                self._by_engine[int(k), int(q)] = SpreadOptimum(
                    np.arange(len(group)), found.workers, found.ps, found.log_cost
                )
        if slots is not None:
            self.iterations, self.lps_by_engine = slots.iterations, slots.lps_solved

    def _internal_case(self, samples: NDArray[np.float64]) -> None:
        rate = self.job.rate_internal
        self._workers = np.array([workers_for(float(v), rate) for v in samples], dtype=np.int64)
        self._ps = np.array([self.job.ps_for(int(w)) for w in self._workers], dtype=np.int64)
        self._machine, cost = self.curves.internal(self._workers, self._ps)
        self.internal_cost = cost[self.same]

    def internal(self, k: int, q: int) -> SpreadAllocation:
        """Return the allocation behind a finite `internal_cost`."""
        machine = self._machine[self.same[k], q]
        return SpreadAllocation(np.array([machine]), self._workers[[q]], self._ps[[q]])

    def relaxed(self, k: int) -> tuple[SlotOptima, NDArray[np.int64]]:
        """Return the LP optima of slot k, and which of them belongs to each level."""
        version = int(self.same[k])
        if version not in self._optima:
            if len(self._optima) == KEPT_SLOTS:
                self._optima.pop(next(iter(self._optima)))
            self._optima[version] = self.curves.optima(version, self._by_engine)
        return self._optima[version], self._position

    def _slot(self, k: int) -> CurveSlot:
        return self.curves.slots[self.same[k]]

    def free_capacity(self, k: int, machines: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what some machines have left in slot k, shape (used, resources)."""
        slot = self._slot(k)
        return np.asarray(slot.free[slot.grouping.machine_group[machines]])

    def log_costs(
        self,
        k: int,
        machines: NDArray[np.int64],
        workers: NDArray[np.int64],
        ps: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return ln of the costs of allocations in slot k."""
        slot = self._slot(k)
        group = slot.grouping.machine_group[machines]
        return log_costs(workers, ps, slot.log_worker_price[group], slot.log_ps_price[group])

    def smallest_packing(self, k: int) -> float:
        """W_2 of Theorems 3 and 4 in slot k (D7)."""
        return smallest_packing(self.job, self.worker_demand, self.ps_demand, self._slot(k).free)
