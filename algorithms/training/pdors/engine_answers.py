"""The slot subproblems of a job, one LP after the other by the HiGHS engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.answers import Cluster, SlotAnswers, SpreadAllocation
from algorithms.training.pdors.prices import PriceFunction
from algorithms.training.pdors.rounding import SlotOptima
from algorithms.training.pdors.slot import (
    ExternalOptimum,
    JobSlots,
    SlotAllocation,
    SlotState,
    log_costs,
)
from models.training import TrainingInstance
from models.training.schedule import Placement

__all__ = ["EngineCluster"]


class EngineCluster(Cluster):
    """Amounts allocated per slot, machine and resource, and their prices."""

    def __init__(
        self, instance: TrainingInstance, prices: PriceFunction, start: Literal["warm", "cold"]
    ) -> None:
        self.instance, self.prices, self.start = instance, prices, start
        self.allocated = np.zeros((instance.slots, *instance.capacity.shape))

    def answers(self, i: int, samples: NDArray[np.float64]) -> SlotAnswers:
        """Solve the slot subproblems of job i; see `Cluster`."""
        slots = JobSlots(self.instance, i, self.start)
        states: list[SlotState] = []
        equal_slots: dict[bytes, int] = {}
        distinct = []
        for k, used in enumerate(self.allocated[slots.job.arrival :]):
            # Slots with equal allocations have equal prices, and so equal LPs.
            first = equal_slots.setdefault(used.tobytes(), k)
            if first == k:
                free = self.instance.capacity - used
                states.append(slots.state(free, self.prices.log_prices(used)))
            else:
                states.append(states[first])
            distinct.append(first)
        return EngineAnswers(slots, states, distinct, samples)

    def allocate(self, i: int, placements: Sequence[Placement]) -> None:
        """Give job i what its schedule asks for."""
        for slot, machine, workers, ps in placements:
            self.allocated[slot, machine] += (
                workers * self.instance.worker_demand[i] + ps * self.instance.ps_demand[i]
            )


class EngineAnswers(SlotAnswers):
    """See `SlotAnswers`; everything is shaped (machines,) here."""

    def __init__(
        self,
        slots: JobSlots,
        states: list[SlotState],
        distinct: list[int],
        samples: NDArray[np.float64],
    ) -> None:
        self.slots, self.states, self.distinct = slots, states, distinct
        self.job = slots.job
        self.worker_demand, self.ps_demand = slots.worker_demand, slots.ps_demand
        self.covers = np.array([slots.workers_for(float(v)) for v in samples], dtype=np.int64)
        self.internal_cost = np.full((len(states), len(samples)), np.inf)
        self.external_cost = self.internal_cost.copy()
        self._internal: list[list[SlotAllocation | None]] = []
        self._optima: list[dict[int, ExternalOptimum | None]] = []
        self._all = np.arange(slots.instance.number_of_machines)
        for k, first in enumerate(distinct):
            self._optima.append({} if first == k else self._optima[first])
            self._internal.append(
                slots.internal(states[k], samples) if first == k else self._internal[first]
            )
            for q, found in enumerate(self._internal[k]):
                if found is not None:
                    self.internal_cost[k, q] = found.log_cost
            for q, cover in enumerate(self.covers):
                relaxed = self._relaxed(k, int(cover))
                if relaxed is not None:
                    self.external_cost[k, q] = relaxed.log_cost
        self.lps_solved, self.iterations = slots.lps_solved, slots.iterations
        self.lps_by_engine = slots.lps_solved

    def _relaxed(self, k: int, cover: int) -> ExternalOptimum | None:
        """Return the LP optimum for this many workers; None if infeasible."""
        optima = self._optima[k]
        if cover in optima:
            self.lps_reused += 1
            return optima[cover]
        # What fewer workers cannot have, more cannot either.
        if any(found is None and less < cover for less, found in optima.items()):
            optima[cover] = None
        else:
            optima[cover] = self.slots.external(self.states[k], cover)
        return optima[cover]

    def internal(self, k: int, q: int) -> SpreadAllocation:
        """Return the allocation behind a finite `internal_cost`."""
        found = self._internal[k][q]
        assert found is not None
        return SpreadAllocation(self._all, found.workers, found.ps)

    def relaxed(self, k: int) -> tuple[SlotOptima, NDArray[np.int64]]:
        """Return the LP optima of slot k, and which of them belongs to each level."""
        found = {c: optimum for c, optimum in self._optima[k].items() if optimum is not None}
        number = {cover: n for n, cover in enumerate(found)}
        machines = len(self._all)
        everywhere = np.tile(self._all, len(found))
        nothing = np.zeros(0)
        optima = SlotOptima(
            np.arange(len(found) + 1) * machines,
            everywhere,
            everywhere,
            np.concatenate([nothing, *(optimum.workers for optimum in found.values())]),
            np.concatenate([nothing, *(optimum.ps for optimum in found.values())]),
            self.states[k].free_capacity,
        )
        return optima, np.array([number.get(int(cover), -1) for cover in self.covers])

    def free_capacity(self, k: int, machines: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what some machines have left, shape (used, resources)."""
        return self.states[k].free_capacity[machines]

    def log_costs(
        self,
        k: int,
        machines: NDArray[np.int64],
        workers: NDArray[np.int64],
        ps: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return ln of the costs of allocations in slot k."""
        state = self.states[k]
        all_workers = np.zeros((len(machines), len(self._all)), dtype=np.int64)
        all_ps = all_workers.copy()
        np.put_along_axis(all_workers, machines, workers, axis=1)
        np.put_along_axis(all_ps, machines, ps, axis=1)
        return log_costs(all_workers, all_ps, state.log_worker_price, state.log_ps_price)

    def smallest_packing(self, k: int) -> float:
        """W_2 of Theorems 3 and 4 in slot k (D7)."""
        return self.slots.smallest_packing(self.states[k])
