r"""The dual certificate: P <= OPT <= D from the final prices of a run.

Weak duality needs, for each job, a lambda that is at least the payoff of *every* schedule of the
job on the *empty* cluster at the final prices (eq. 11). PD-ORS's own payoffs do not qualify: they
only look at schedules that fit into the free capacity and that rounding found, at the prices of
the moment. So an upper bound of that greatest payoff is computed here, and
:math:`D = \sum_i \lambda_i + \sum p C` is a true bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.log import PdorsLog
from algorithms.training.pdors.prices import log_amounts
from algorithms.training.pdors.slot import log_sum
from models.training import TrainingInstance, TrainingSchedule
from models.training.throughput import most_colocated_workers, most_units

__all__ = ["DualCertificate", "dual_certificate", "greatest_payoff"]

LOG_LARGEST = 600.0  # dearer than any utility is worth; a lower price only loosens the bound


@dataclass(frozen=True)
class DualCertificate:
    """P <= OPT <= D.

    Attributes
    ----------
    primal : float
        P, the schedule's total utility.
    dual : float
        D, a proved upper bound of the offline optimum.
    payoffs : array, shape (jobs,)
        The lambda that D uses.
    resource_value : float
        sum of p * C at the final prices.
    dual_of_paper : float
        The same sum with PD-ORS's own payoffs. Not a bound: kept to show how far it is off.
    """

    primal: float
    dual: float
    payoffs: NDArray[np.float64]
    resource_value: float
    dual_of_paper: float

    @property
    def looseness(self) -> float:
        """D / P, inf where P is 0 and D is not, 1 where both are 0."""
        if self.primal > 0:
            return self.dual / self.primal
        return math.inf if self.dual > 0 else 1.0


def dual_certificate(schedule: TrainingSchedule, log: PdorsLog) -> DualCertificate:
    """Compute the certificate of a PD-ORS run."""
    instance = log.instance
    log_prices = log.log_prices()
    payoffs = np.array(
        [greatest_payoff(instance, i, log_prices) for i in range(instance.number_of_jobs)]
    )
    with np.errstate(over="ignore"):  # a bound of infinity is none, but no wrong one
        resource_value = float(np.sum(np.exp(log_prices) * instance.capacity))
    own = sum(decision.payoff for decision in log.decisions)
    return DualCertificate(
        primal=schedule.objective,
        dual=float(payoffs.sum()) + resource_value,
        payoffs=payoffs,
        resource_value=resource_value,
        dual_of_paper=own + resource_value,
    )


def greatest_payoff(instance: TrainingInstance, i: int, log_prices: NDArray[np.float64]) -> float:
    """Return an upper bound of a job's greatest payoff on the empty cluster at given prices.

    Parameters
    ----------
    instance : TrainingInstance
    i : int
        Index of the job.
    log_prices : array, shape (slots, machines, resources)

    Notes
    -----
    In a slot, internal allocations on machine h lie on the segment from nothing to the most
    workers that fit there, external ones on the segment to w_ext workers at the cheapest worker
    and PS prices; PSs may be fractional. Per completion slot, filling slots by cost per sample
    along the convex hulls of these segments solves the LP over both modes, so its value is at
    most the cost of any schedule, and utility minus it at least any payoff.
    """
    job, reach = instance.jobs[i], instance.reach[i]
    if not reach.possible:
        return 0.0
    log_worker = log_sum(log_prices + log_amounts(instance.worker_demand[i]))
    # By D2's tolerance a huge gamma asks for no PS at all: then they are bounded by nothing.
    ps_demand = instance.ps_demand[i] if job.ps_for(1) else np.zeros_like(instance.ps_demand[i])
    log_ps = log_sum(log_prices + log_amounts(ps_demand)) - math.log(job.workers_per_ps)
    fit = np.array(
        [
            most_colocated_workers(job, instance.worker_demand[i], instance.ps_demand[i], capacity)
            for capacity in instance.capacity
        ]
    )
    log_internal = np.logaddexp(log_worker, log_ps)  # per worker, (slots, machines)
    log_external = np.logaddexp(
        _cheapest(log_worker, instance.worker_demand[i], instance.capacity),
        _cheapest(log_ps, ps_demand, instance.capacity),
    )
    internal_price = np.exp(np.minimum(log_internal, LOG_LARGEST))
    external_price = np.exp(np.minimum(log_external, LOG_LARGEST))
    best = 0.0
    pieces: list[tuple[float, float]] = []  # (cost per sample, samples)
    for t in range(job.arrival, instance.slots):
        ends = [
            (job.rate_internal * w, float(price) * w)
            for w, price in zip(fit, internal_price[t], strict=True)
            if w > 0
        ]
        w_ext = reach.external_workers
        ends.append((job.rate_external * w_ext, float(external_price[t]) * w_ext))
        pieces += _hull_pieces(ends)
        cost = _fill(sorted(pieces), job.workload * (1 - 1e-9))
        best = max(best, job.utility.value(t - job.arrival) - cost)
    return best


def _cheapest(
    log_price: NDArray[np.float64], demand: NDArray[np.float64], capacity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Cheapest price of a unit per slot, among the machines on which one fits."""
    return np.asarray(log_price[:, most_units(demand, capacity, 1) >= 1].min(axis=1))


def _hull_pieces(ends: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Lower convex hull from (0, 0) to the points (samples, cost), as pieces by slope."""
    pieces: list[tuple[float, float]] = []
    at_samples = at_cost = 0.0
    while True:
        ahead = [(s, c) for s, c in ends if s > at_samples]
        if not ahead:
            return pieces
        samples, cost = min(ahead, key=lambda p: ((p[1] - at_cost) / (p[0] - at_samples), -p[0]))
        pieces.append(((cost - at_cost) / (samples - at_samples), samples - at_samples))
        at_samples, at_cost = samples, cost


def _fill(pieces: list[tuple[float, float]], samples: float) -> float:
    """Cost of the cheapest way to `samples`, inf if the pieces do not reach it."""
    total = 0.0
    for cost_per_sample, available in pieces:
        take = min(available, samples)
        total += cost_per_sample * take
        samples -= take
        if samples <= 0:
            return total
    return math.inf
