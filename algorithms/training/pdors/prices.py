"""The price function of PD-ORS, in logarithms (arXiv 2108.02917, eqs. 12-14, D5, D6)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.training import TrainingInstance
from models.training.throughput import ceil_count, workers_for

__all__ = ["PriceBounds", "PriceFunction", "log_amounts", "price_bounds"]

MINUS_INFINITY = float("-inf")


@dataclass(frozen=True)
class PriceBounds:
    """ln L and ln U^r.

    Attributes
    ----------
    log_lowest : float
        ln L, the price of an unused resource.
    log_highest : array, shape (resources,)
        ln U^r, the price of an exhausted one; equal to ln L where no job needs the resource.
    """

    log_lowest: float
    log_highest: NDArray[np.float64]

    @property
    def log_ratio(self) -> NDArray[np.float64]:
        """ln(U^r / L), shape (resources,)."""
        return self.log_highest - self.log_lowest

    @property
    def largest_log_ratio(self) -> float:
        """max over r of ln(U^r / L), at least 1: the factor of Theorems 5 and 6."""
        return float(max(1.0, self.log_ratio.max(initial=0.0)))

    def with_largest_log_ratio(self, log_ratio: float) -> PriceBounds:
        """Return bounds with the same U^r, and an L at which max over r of ln(U^r / L) is this.

        The price of an exhausted resource stays what it was, so it blocks as before; what changes
        is how early prices are felt.
        """
        log_lowest = float(self.log_highest.max(initial=self.log_lowest)) - log_ratio
        return PriceBounds(log_lowest, np.maximum(self.log_highest, log_lowest))


def price_bounds(instance: TrainingInstance) -> PriceBounds:
    """Compute U^r, L and mu over the possible jobs (eqs. 13, 14; D5).

    Jobs without any demand have no price per unit of resource and are left out. Without a
    possible job, or without any capacity, both bounds are 1: nothing is ever sold.
    """
    log_highest = np.full(len(instance.resources), MINUS_INFINITY)
    log_lowest = math.inf
    log_inverse_mu = math.inf
    log_total_capacity = _log(instance.slots * float(instance.capacity.sum()))
    for i in instance.possible_jobs:
        job = instance.jobs[i]
        demand = instance.worker_demand[i] + instance.ps_demand[i]
        if not demand.any():
            continue
        shortest = max(ceil_count(job.workload / job.batch / job.rate_internal) - 1, 0)
        used = demand > 0
        log_highest[used] = np.maximum(
            log_highest[used], job.utility.log_value(shortest) - np.log(demand[used])
        )
        worker_slots = workers_for(job.workload, job.rate_external)
        log_resources = math.log(worker_slots) + math.log(demand.sum())
        log_inverse_mu = min(log_inverse_mu, log_resources - log_total_capacity)
        longest = instance.slots - 1 - job.arrival
        log_lowest = min(log_lowest, job.utility.log_value(longest) - log_resources)
    if log_lowest == math.inf or log_total_capacity == MINUS_INFINITY:
        return PriceBounds(0.0, np.zeros(len(instance.resources)))
    log_lowest += log_inverse_mu - math.log(2)
    return PriceBounds(log_lowest, np.maximum(log_highest, log_lowest))


@dataclass(frozen=True)
class PriceFunction:
    r"""Price of a resource as it fills up: :math:`L (U^r/L)^{\rho/C}` (eq. 12).

    A resource with C = 0 on a machine has no price there (D5): its logarithm is -inf, and no
    unit that needs it fits.
    """

    bounds: PriceBounds
    capacity: NDArray[np.float64]

    def log_prices(self, allocated: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ln p for allocated amounts shaped (..., machines, resources)."""
        share = np.divide(
            allocated, self.capacity, out=np.zeros_like(allocated), where=self.capacity > 0
        )
        log_price = self.bounds.log_lowest + share * self.bounds.log_ratio
        return np.where(self.capacity > 0, log_price, MINUS_INFINITY)


def log_amounts(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln of non-negative amounts, -inf for 0, without a warning."""
    return np.log(amounts, out=np.full_like(amounts, MINUS_INFINITY), where=amounts > 0)


def _log(amount: float) -> float:
    return math.log(amount) if amount > 0 else MINUS_INFINITY
