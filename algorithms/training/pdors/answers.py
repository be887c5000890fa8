"""What Algorithm 2 asks of the slots that a job meets, however their programs are solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.rounding import SlotOptima
from models.training import Job
from models.training.schedule import Placement

__all__ = ["Cluster", "SlotAnswers", "SpreadAllocation"]


@dataclass(frozen=True)
class SpreadAllocation:
    """Integer workers and PSs of one job in one slot on the machines that it uses.

    Attributes
    ----------
    machines, workers, ps : arrays of int, shape (used,)
    """

    machines: NDArray[np.int64]
    workers: NDArray[np.int64]
    ps: NDArray[np.int64]


class SlotAnswers(ABC):
    """The slot subproblems of one job, solved but for the rounding.

    Attributes
    ----------
    job : Job
    worker_demand, ps_demand : arrays, shape (resources,)
    internal_cost, external_cost : arrays, shape (slots, levels)
        ln of the cost of the internal case, and of the LP optimum of the external case, for each
        number of samples; inf where there is none. Slots count from the job's arrival.
    covers : array of int, shape (levels,)
        Workers that each level needs in the external case.
    lps_solved, lps_reused, iterations, lps_by_engine : int
        See `JobDecision`.
    tie : float
        By how much an LP may seem cheaper than one machine, in ln of the cost, if it is not.
    """

    job: Job
    worker_demand: NDArray[np.float64]
    ps_demand: NDArray[np.float64]
    internal_cost: NDArray[np.float64]
    external_cost: NDArray[np.float64]
    covers: NDArray[np.int64]
    lps_solved = 0
    lps_reused = 0
    iterations = 0
    lps_by_engine = 0
    tie = 0.0

    @abstractmethod
    def internal(self, k: int, q: int) -> SpreadAllocation:
        """Return the allocation behind a finite `internal_cost`."""

    @abstractmethod
    def relaxed(self, k: int) -> tuple[SlotOptima, NDArray[np.int64]]:
        """Return the LP optima of slot k, and which of them is behind each `external_cost`.

        Shaped (levels,); what stands beside an infinite cost means nothing.
        """

    @abstractmethod
    def free_capacity(self, k: int, machines: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what some machines have left in slot k, shape (used, resources)."""

    @abstractmethod
    def log_costs(
        self,
        k: int,
        machines: NDArray[np.int64],
        workers: NDArray[np.int64],
        ps: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return ln of the costs of allocations in slot k, all shaped (allocations, machines)."""

    @abstractmethod
    def smallest_packing(self, k: int) -> float:
        """W_2 of Theorems 3 and 4 in slot k (D7)."""


class Cluster(ABC):
    """What a run has allocated, and the slots that a new job meets."""

    @abstractmethod
    def answers(self, i: int, samples: NDArray[np.float64]) -> SlotAnswers:
        """Solve the slot subproblems of job i for these numbers of samples, rising."""

    @abstractmethod
    def allocate(self, i: int, placements: Sequence[Placement]) -> None:
        """Give job i what its schedule asks for."""
