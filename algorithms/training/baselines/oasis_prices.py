"""The two sides of OASiS's cluster: machines for workers and machines for PSs, with prices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.prices import MINUS_INFINITY, PriceBounds, PriceFunction, log_amounts
from algorithms.training.pdors.slot import log_sum
from models.training import Job, TrainingInstance
from models.training.throughput import ceil_count, most_units, workers_for

__all__ = ["Offers", "Side", "ps_side", "side_bounds", "worker_side"]


@dataclass(frozen=True)
class Offers:
    """What units of one job cost on the machines of a side in one slot, cheapest first.

    Attributes
    ----------
    machines : array of int, shape (machines,)
    room : array of int, shape (machines,)
        Units that fit.
    log_price : array, shape (machines,)
        ln of the price of a unit, increasing.
    """

    machines: NDArray[np.int64]
    room: NDArray[np.int64]
    log_price: NDArray[np.float64]

    def log_costs(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """ln of the least cost of each number of units, inf without room, -inf for none.

        Prices do not rise within a slot, so the cheapest machines are filled one by one.
        """
        before = np.concatenate(([0], np.cumsum(self.room)))
        nothing = np.where(counts > 0, np.inf, MINUS_INFINITY)
        if not self.room.size:
            return nothing
        full = np.logaddexp.accumulate(log_amounts(self.room.astype(float)) + self.log_price)
        log_before = np.concatenate(([MINUS_INFINITY], full))
        last = np.searchsorted(before[1:], counts)  # machine that gives the last unit
        enough = last < self.room.size
        last = np.minimum(last, self.room.size - 1)
        rest = np.maximum(counts - before[last], 1)
        cost = np.logaddexp(log_before[last], np.log(rest) + self.log_price[last])
        return np.where(enough & (counts > 0), cost, nothing)

    def buy(self, count: int) -> list[tuple[int, int]]:
        """Return the machines and numbers of the cheapest `count` units."""
        before = np.cumsum(self.room) - self.room
        taken = np.clip(count - before, 0, self.room)
        return [(int(self.machines[k]), int(taken[k])) for k in np.flatnonzero(taken)]


@dataclass(frozen=True)
class Side:
    """Half of the machines, that host only workers or only PSs.

    Attributes
    ----------
    machines : array of int, shape (machines of the side,)
    demand : array, shape (jobs, resources)
        Of one worker or one PS.
    most : list of int, one per job
        Most units at once.
    capacity : array, shape (machines of the side, resources)
    prices : PriceFunction
    used : array, shape (slots, machines of the side, resources)
    """

    machines: NDArray[np.int64]
    demand: NDArray[np.float64]
    most: list[int]
    capacity: NDArray[np.float64]
    prices: PriceFunction
    used: NDArray[np.float64]

    def offers(self, i: int, slot: int) -> Offers:
        """Return what units of job i cost in a slot."""
        used = self.used[slot]
        room = most_units(self.demand[i], self.capacity - used, self.most[i])
        log_price = log_sum(self.prices.log_prices(used) + log_amounts(self.demand[i]))
        order = np.argsort(log_price, kind="stable")
        order = order[room[order] > 0]
        return Offers(self.machines[order], room[order], log_price[order])

    def take(self, i: int, slot: int, machine: int, count: int) -> None:
        """Allocate units of job i; the machine's index is that of the whole cluster."""
        self.used[slot, machine - int(self.machines[0])] += count * self.demand[i]


def worker_side(instance: TrainingInstance) -> Side:
    """Return the first ceil(H/2) machines, for workers."""
    first = np.arange((instance.number_of_machines + 1) // 2)
    worker_slots = [workers_for(job.workload, job.rate_external) for job in instance.jobs]
    most = [job.batch for job in instance.jobs]
    return _side(instance, first, instance.worker_demand, most, worker_slots)


def ps_side(instance: TrainingInstance) -> Side:
    """Return the other machines, for PSs; none if there is one machine only."""
    first = (instance.number_of_machines + 1) // 2
    ps_slots = [job.ps_for(workers_for(job.workload, job.rate_external)) for job in instance.jobs]
    most = [job.ps_for(job.batch) for job in instance.jobs]
    machines = np.arange(first, instance.number_of_machines)
    return _side(instance, machines, instance.ps_demand, most, ps_slots)


def _side(
    instance: TrainingInstance,
    machines: NDArray[np.int64],
    demand: NDArray[np.float64],
    most: list[int],
    unit_slots: list[int],
) -> Side:
    capacity = instance.capacity[machines]
    bounds = side_bounds(instance, capacity, demand, unit_slots)
    used = np.zeros((instance.slots, *capacity.shape))
    return Side(machines, demand, most, capacity, PriceFunction(bounds, capacity), used)


def side_bounds(
    instance: TrainingInstance,
    capacity: NDArray[np.float64],
    demand: NDArray[np.float64],
    unit_slots: list[int],
) -> PriceBounds:
    """Compute U^r and L of one side over the possible jobs, as PD-ORS does for the whole (D5).

    Parameters
    ----------
    instance : TrainingInstance
    capacity : array, shape (machines of the side, resources)
    demand : array, shape (jobs, resources)
        Jobs without demand on this side have no price per unit and are left out.
    unit_slots : list of int, one per job
        Units times slots that the workload takes at the external rate. Jobs that take none (no
        PS, by a huge gamma) are left out too.

    Notes
    -----
    U^r is the most utility per unit of the resource; L the least utility per unit of all
    resources together, times 1/(2 mu), where 1/mu bounds the part of the side's capacity over
    all slots that a job uses.
    """
    log_highest = np.full(len(instance.resources), MINUS_INFINITY)
    log_lowest, log_inverse_mu = math.inf, math.inf
    total = instance.slots * float(capacity.sum())
    log_total = math.log(total) if total > 0 else MINUS_INFINITY
    for i in instance.possible_jobs:
        used = demand[i] > 0
        if not used.any() or unit_slots[i] == 0:
            continue
        job = instance.jobs[i]
        best = job.utility.log_value(shortest_external_duration(job))
        log_highest[used] = np.maximum(log_highest[used], best - np.log(demand[i][used]))
        log_resources = math.log(unit_slots[i]) + math.log(demand[i].sum())
        log_inverse_mu = min(log_inverse_mu, log_resources - log_total)
        longest = instance.slots - 1 - job.arrival
        log_lowest = min(log_lowest, job.utility.log_value(longest) - log_resources)
    if log_lowest == math.inf or log_total == MINUS_INFINITY:
        return PriceBounds(0.0, np.zeros(len(instance.resources)))
    log_lowest += log_inverse_mu - math.log(2)
    return PriceBounds(log_lowest, np.maximum(log_highest, log_lowest))


def shortest_external_duration(job: Job) -> int:
    """Duration of a job that runs a full batch of workers at the external rate."""
    return max(ceil_count(job.workload / job.batch / job.rate_external) - 1, 0)
