"""What a PD-ORS run says about itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.prices import PriceFunction
from models.training import TrainingInstance
from models.training.schedule import Placement, Reason

__all__ = ["JobDecision", "PdorsLog"]


@dataclass(frozen=True)
class JobDecision:
    """How one job was decided.

    Attributes
    ----------
    job, name, arrival
        Index, name and arrival slot.
    reason : str or None
        Why it was rejected, None if admitted. "price": no schedule was worth its cost.
        "rounding": the LPs had a schedule, but no draw of some slot was feasible. "capacity":
        not even the LPs had one. "impossible": not even the empty cluster has one (D5).
    payoff : float
        lambda_i, utility minus cost of the best schedule; 0 if rejected.
    completion : int or None
        Chosen completion slot.
    utility : float
    log_cost : float
        ln of the cheapest schedule's cost at the prices met; inf if there was none.
    levels : int
        Q.
    lps_solved, lps_reused : int
        Slot programs solved, and answers taken from an equal slot.
    iterations : int
        Simplex iterations of these solves.
    lps_by_engine : int
        Slot programs that HiGHS solved.
    rounding_attempts, rounding_failures : int
        Draws made, and slot subproblems in which no draw was feasible.
    rounding_skipped : int
        Subproblems not rounded, since the internal case cost no more than the LP's bound.
    lost_to_grid : bool
        Whether the free capacity had room for the workload and only the level grid had not (D4).
    seconds, lp_seconds : float
        Processor time of the decision, and of solving its slot programs: other programs on the
        machine do not lengthen it.
    """

    job: int
    name: str
    arrival: int
    reason: Reason | None
    payoff: float = 0.0
    completion: int | None = None
    utility: float = 0.0
    log_cost: float = float("inf")
    levels: int = 0
    lps_solved: int = 0
    lps_reused: int = 0
    iterations: int = 0
    lps_by_engine: int = 0
    rounding_attempts: int = 0
    rounding_failures: int = 0
    rounding_skipped: int = 0
    lost_to_grid: bool = False
    seconds: float = 0.0
    lp_seconds: float = 0.0


@dataclass(frozen=True)
class PdorsLog:
    """The log of a run.

    Attributes
    ----------
    decisions : tuple of JobDecision
        In the order in which jobs were decided.
    prices : PriceFunction
    placements : dict
        Job index to placements of the admitted jobs.
    """

    instance: TrainingInstance
    decisions: tuple[JobDecision, ...]
    prices: PriceFunction
    placements: dict[int, list[Placement]] = field(default_factory=dict)

    def allocated(self, decided: int | None = None) -> NDArray[np.float64]:
        """rho[t,h,r] after the first `decided` decisions (all by default)."""
        total = self._empty()
        for decision in self.decisions[:decided]:
            self._add(total, decision.job)
        return total

    def allocated_over_time(self) -> Iterator[NDArray[np.float64]]:
        """Yield rho[t,h,r] before the first and after each decision; copy what you keep."""
        total = self._empty()
        yield total
        for decision in self.decisions:
            self._add(total, decision.job)
            yield total

    def log_prices(self, decided: int | None = None) -> NDArray[np.float64]:
        """ln p[t,h,r] after the first `decided` decisions (all by default)."""
        return self.prices.log_prices(self.allocated(decided))

    def _empty(self) -> NDArray[np.float64]:
        return np.zeros((self.instance.slots, *self.instance.capacity.shape))

    def _add(self, total: NDArray[np.float64], job: int) -> None:
        for slot, machine, workers, ps in self.placements.get(job, ()):
            total[slot, machine] += (
                workers * self.instance.worker_demand[job] + ps * self.instance.ps_demand[job]
            )
