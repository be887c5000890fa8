"""The compiled parts of `pdors-plus`, from what fits on a machine up to the search for a plan.

They stand in one file because a compiled function is kept on disk until its own file changes:
one that called functions of another file would go on using their old versions.

1. Counts: how many workers and parameter servers (PSs) fit on machines. Same rules and tolerances
   as in `models.training.throughput` (D2, D11).
2. Frontier: what a job can have in each slot, by number of workers.
3. Worker-slots: a dynamic program that spreads the work over slots at least price.
4. Plan: ruin and recreate at given prices.
5. Schedule: the same where all arrivals are known; prices only guide it
   (`algorithms.training.exact.full_size_search`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from algorithms.training.plus.plan_arrays import JobNumbers, PlanArrays, SlotChoice, slot_choice
from models.training.throughput import CEILING_TOLERANCE, FIT_TOLERANCE

__all__ = [
    "FIRST",
    "FIXED_DRAWS",
    "FIXED_SCHEDULE_DRAWS",
    "MOST_REMOVED",
    "TIGHTEST",
    "best_payoff",
    "choose_workers",
    "find_frontier",
    "improve_plan",
    "improve_schedule",
    "most_beside",
    "most_colocated",
    "place_choice",
    "ps_needed",
    "spread",
    "take_out",
]

Amounts = NDArray[np.float64]
Counts = NDArray[np.int64]

SMALL = 1e-12  # absolute part of the fit tolerance, as in `models.training.throughput.fits`
TIGHTEST, FIRST = 0, 1
BEYOND = 64  # room is counted up to so many batches, to tell tight machines from roomy ones
FORGIVEN = 9e-10  # of a workload; a little less than D11 forgives, for sums are rounded
TINY = 1e-12  # of a number that rounding errors may have pushed past a whole one
MOST_REMOVED = 4
FIXED_DRAWS = 4 + MOST_REMOVED  # random numbers of a round beside one per job and one per slot
WORSE = 0.01  # a plan this much worse (relative) may be accepted, less and less
FIXED_SCHEDULE_DRAWS = 8
FREE_OF_CHARGE = 0.15  # of the rounds of `improve_schedule` are without prices
DEAREST = 3.0  # times the prices given, in the others at most; mostly less than once
NEAR = 2  # slots around a slot whose jobs are taken out together
TRIED = 8.0  # waiting jobs tried per round, on average at most


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile when first called; keep the result on disk, where there is a place for it."""
    try:
        kept: Callable[..., Any] = njit(cache=True)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written
        kept = njit(function)
    return kept


# 1. Counts


@compiled
def ps_needed(workers: int, gamma: float) -> int:
    """PSs that so many workers need (D2); one at least, also where D2 forgives it."""
    return max(math.ceil(workers / gamma - CEILING_TOLERANCE), min(workers, 1))


@compiled
def most_beside(
    demand: Amounts, other: Amounts, other_count: int, free: Amounts, at_most: int
) -> int:
    """Most units of `demand` beside `other_count` units of `other`; -1 if those do not fit."""
    most = float(at_most)
    for r in range(len(demand)):
        room = max(free[r], 0.0) * (1 + FIT_TOLERANCE) + SMALL - other_count * other[r]
        if room < 0:
            return -1
        if demand[r] > 0:
            most = min(most, room / demand[r])  # a floor of 1e22 would be no int64
    return math.floor(most)


@compiled
def most_colocated(worker: Amounts, ps: Amounts, gamma: float, free: Amounts, at_most: int) -> int:
    """Most workers, up to `at_most`, that fit with the PSs they need on one machine."""
    bound = float(at_most)
    for r in range(len(worker)):
        bundle = worker[r] + ps[r] / gamma
        if bundle > 0:
            room = max(free[r], 0.0) * (1 + FIT_TOLERANCE) + SMALL
            bound = min(bound, room / bundle)
    bound = float(math.floor(bound))
    best = 0
    servers = ps_needed(int(bound), gamma)
    while servers > 0:  # fewer PSs leave more room, but serve fewer workers
        served = math.floor(min(bound, servers * gamma + CEILING_TOLERANCE))
        if served <= best:
            break
        best = max(best, most_beside(worker, ps, servers, free, served))
        if best >= served:
            break
        servers -= 1
    return best


@compiled
def spread(
    worker: Amounts,
    ps: Amounts,
    gamma: float,
    free: Amounts,
    at_most: int,
    colocated: Counts,
    workers_on: Counts,
    ps_on: Counts,
) -> int:
    """Spread up to `at_most` workers and their PSs over machines, by the better of two ways.

    Parameters
    ----------
    worker, ps, gamma
        The job.
    free : array, shape (machines, resources)
    at_most : int
    colocated : array of int, shape (machines,)
        `most_colocated` of every machine; may be more than `at_most`.
    workers_on, ps_on : arrays of int, shape (machines,)
        Filled with the result.

    Returns
    -------
    int
        Workers placed; not always the most that is possible, but never fewer than the machines
        hold with their own PSs.
    """
    total = _own_ps(gamma, at_most, colocated, workers_on, ps_on)
    if total < at_most:
        total = _ps_first(worker, ps, gamma, free, at_most, total, workers_on, ps_on)
    total = _drop_unserved(gamma, total, workers_on, ps_on)
    _drop_spare_ps(gamma, total, workers_on, ps_on)
    return total


@compiled
def _drop_unserved(gamma: float, total: int, workers_on: Counts, ps_on: Counts) -> int:
    """Drop workers that the PSs of all machines together do not serve.

    What D2 forgives each machine (one PS for 3 workers, if gamma is 3 - 1e-9) adds up.
    """
    h = len(workers_on) - 1
    while ps_on.sum() < ps_needed(total, gamma):
        while workers_on[h] == 0:
            h -= 1
        workers_on[h] -= 1
        total -= 1
    return total


@compiled
def _own_ps(
    gamma: float, at_most: int, colocated: Counts, workers_on: Counts, ps_on: Counts
) -> int:
    """Every machine hosts the PSs of its own workers; what holds few is used first.

    So what is left free are whole machines, which others need for internal allocations.
    """
    workers_on[:] = 0
    ps_on[:] = 0
    total = 0
    for h in np.argsort(colocated.astype(np.float64)):
        count = min(colocated[h], at_most - total)
        if count > 0:
            workers_on[h] = count
            ps_on[h] = ps_needed(count, gamma)
            total += count
    return total


@compiled
def _ps_first(
    worker: Amounts,
    ps: Amounts,
    gamma: float,
    free: Amounts,
    at_most: int,
    known: int,
    workers_on: Counts,
    ps_on: Counts,
) -> int:
    """PSs where they displace the fewest workers, then workers; by bisection above `known`."""
    machines = len(free)
    servers = ps_needed(at_most, gamma)
    ps_alone = np.zeros(machines, dtype=np.int64)
    displaced = np.zeros(machines)
    most = 0
    for h in range(machines):
        alone = most_beside(worker, ps, 0, free[h], at_most)
        ps_alone[h] = most_beside(ps, worker, 0, free[h], servers)
        displaced[h] = alone / max(ps_alone[h], 0.5)
        most += alone
    order = np.argsort(displaced)
    low, high = known, min(at_most, most)
    workers_try = np.zeros(machines, dtype=np.int64)
    ps_try = np.zeros(machines, dtype=np.int64)
    while low < high:
        middle = (low + high + 1) // 2
        needed = ps_needed(middle, gamma)
        ps_try[:] = 0
        for h in order:
            ps_try[h] = min(ps_alone[h], needed)
            needed -= ps_try[h]
        found = 0
        workers_try[:] = 0
        if needed == 0:
            for h in range(machines):
                count = most_beside(worker, ps, ps_try[h], free[h], middle - found)
                workers_try[h] = max(count, 0)
                found += workers_try[h]
        if found == middle:
            low = middle
            workers_on[:] = workers_try
            ps_on[:] = ps_try
        else:
            high = middle - 1
    return low


@compiled
def _drop_spare_ps(gamma: float, total: int, workers_on: Counts, ps_on: Counts) -> None:
    """Keep as many PSs as D2 asks for in total; those beside the fewest workers go first."""
    spare = ps_on.sum() - ps_needed(total, gamma)
    for h in np.argsort(workers_on.astype(np.float64)):
        if spare <= 0:
            break
        dropped = min(ps_on[h], spare)
        ps_on[h] -= dropped
        spare -= dropped


# 2. Frontier


@compiled
def find_frontier(
    jobs: JobNumbers, i: int, free: NDArray[np.float64], last: int, choice: SlotChoice
) -> None:
    """Fill `choice` with the most workers of either mode that fit in slots 0..last.

    A slot's external allocation is only of interest where it processes more samples than its
    internal one: with as many workers it is slower and costs the same.

    Parameters
    ----------
    jobs : JobNumbers
    i : int
        The job.
    free : array, shape (K, H, R)
    last : int
    choice : SlotChoice
        `colocated`, `internal` and `external` are changed.
    """
    worker, ps, gamma, batch = jobs.worker[i], jobs.ps[i], jobs.gamma[i], jobs.batch[i]
    machines = free.shape[1]
    workers_on = np.zeros(machines, dtype=np.int64)
    ps_on = np.zeros(machines, dtype=np.int64)
    for k in range(min(jobs.arrival[i], last + 1)):
        choice.colocated[k] = 0
        choice.internal[k] = 0
        choice.external[k] = 0
    for k in range(jobs.arrival[i], last + 1):
        most, total = 0, 0
        for h in range(machines):
            room = most_colocated(worker, ps, gamma, free[k, h], BEYOND * batch)
            choice.colocated[k, h] = room
            most = max(most, min(room, batch))
            total = min(total + room, batch)
        choice.internal[k] = most
        choice.external[k] = 0
        slower = jobs.rate_internal[i] * most / jobs.rate_external[i]
        least = math.floor(min(slower + 1e-9, float(batch))) + 1
        if machines == 1 or least > batch:
            continue
        if total < batch and _pooled(worker, ps, gamma, free[k], batch) < least:
            continue
        if total < batch:
            total = spread(
                worker, ps, gamma, free[k], batch, choice.colocated[k], workers_on, ps_on
            )
        if total >= least:
            choice.external[k] = total


@compiled
def _pooled(
    worker: NDArray[np.float64],
    ps: NDArray[np.float64],
    gamma: float,
    free: NDArray[np.float64],
    batch: int,
) -> float:
    """Upper bound of the workers that fit: all machines as one, fractions of PSs."""
    most = float(batch)
    for r in range(len(worker)):
        bundle = worker[r] + ps[r] / gamma
        if bundle > 0:
            room = 0.0
            for h in range(len(free)):
                room += max(free[h, r], 0.0)
            most = min(most, room * (1 + 1e-6) / bundle)
    return most + 1e-6


@compiled
def place_choice(
    jobs: JobNumbers,
    i: int,
    free: NDArray[np.float64],
    choice: SlotChoice,
    rule: int,
    workers: NDArray[np.int64],
    ps: NDArray[np.int64],
) -> None:
    """Put the chosen numbers of workers on machines.

    Parameters
    ----------
    jobs, i
        The job.
    free : array, shape (K, H, R)
        Reduced by what is placed.
    choice : SlotChoice
        From `find_frontier` on the same free capacity, with `workers` and `spread` chosen.
    rule : int
        Machine of an internal allocation: 0 the one that holds just enough, 1 the first one.
    workers, ps : arrays of int, shape (K, H)
        Filled; they must be zero.
    """
    gamma = jobs.gamma[i]
    slots, machines, resources = free.shape
    for k in range(slots):
        count = choice.workers[k]
        if count == 0:
            continue
        if choice.spread[k]:
            _place_spread(jobs, i, free[k], count, choice.colocated[k], workers[k], ps[k])
        else:
            best = -1
            for h in range(machines):
                room = choice.colocated[k, h]
                if room >= count and (best < 0 or (rule == 0 and room < choice.colocated[k, best])):
                    best = h
            workers[k, best] = count
            ps[k, best] = ps_needed(count, gamma)
        for h in range(machines):
            if workers[k, h] > 0 or ps[k, h] > 0:
                for r in range(resources):
                    use = workers[k, h] * jobs.worker[i, r] + ps[k, h] * jobs.ps[i, r]
                    free[k, h, r] -= use


@compiled
def _place_spread(
    jobs: JobNumbers,
    i: int,
    free: NDArray[np.float64],
    count: int,
    colocated: NDArray[np.int64],
    workers_on: NDArray[np.int64],
    ps_on: NDArray[np.int64],
) -> None:
    worker, ps, gamma = jobs.worker[i], jobs.ps[i], jobs.gamma[i]
    total = spread(worker, ps, gamma, free, count, colocated, workers_on, ps_on)
    if total < count:
        # The way that held more with the whole batch: fewer workers fit there too.
        total = spread(worker, ps, gamma, free, jobs.batch[i], colocated, workers_on, ps_on)
        for h in range(len(workers_on)):
            dropped = min(total - count, workers_on[h])
            workers_on[h] -= dropped
            total -= dropped
        spare = ps_on.sum() - ps_needed(count, gamma)
        for h in range(len(ps_on)):
            dropped = min(spare, ps_on[h])
            ps_on[h] -= dropped
            spare -= dropped


@compiled
def take_out(
    jobs: JobNumbers,
    i: int,
    free: NDArray[np.float64],
    workers: NDArray[np.int64],
    ps: NDArray[np.int64],
) -> None:
    """Give back what a job has, and set its counts, shaped (K, H), to zero."""
    slots, machines, resources = free.shape
    for k in range(slots):
        for h in range(machines):
            if workers[k, h] > 0 or ps[k, h] > 0:
                for r in range(resources):
                    use = workers[k, h] * jobs.worker[i, r] + ps[k, h] * jobs.ps[i, r]
                    free[k, h, r] += use
                workers[k, h] = 0
                ps[k, h] = 0


# 3. Worker-slots
#
# A level is the work of `grain` internal workers in one slot, grain = 1 unless that makes too
# many levels. What an allocation does is rounded down to whole levels, so that a solution always
# covers the workload; where all slots are internal and the grain is 1 it is exact.


@compiled
def choose_workers(
    jobs: JobNumbers,
    i: int,
    price: NDArray[np.float64],
    bias: NDArray[np.float64],
    last: int,
    levels: int,
    choice: SlotChoice,
) -> tuple[float, int]:
    """Choose workers per slot so that utility minus price is greatest.

    Parameters
    ----------
    jobs : JobNumbers
    i : int
        The job.
    price : array, shape (K, R)
        Price of a unit of a resource in each slot, >= 0.
    bias : array, shape (K,)
        In [0, 1]; among choices of equal price the one of least bias is taken.
    last : int
        Last slot that may be used.
    levels : int
        Most levels of the dynamic program.
    choice : SlotChoice
        `internal` and `external` are read; `workers` and `spread` are filled.

    Returns
    -------
    payoff : float
    completion : int
        -1 (and payoff 0) if no choice reaches the workload.
    """
    choice.workers[:] = 0
    choice.spread[:] = False
    rate, slower, gamma = jobs.rate_internal[i], jobs.rate_external[i], jobs.gamma[i]
    needed = jobs.remaining[i] * (1 - FORGIVEN)
    reach = 0.0
    for k in range(last + 1):
        reach += max(rate * choice.internal[k], slower * choice.external[k])
    if reach < needed:
        return 0.0, -1
    worker_price = np.zeros(last + 1)
    ps_price = np.zeros(last + 1)
    for k in range(last + 1):
        for r in range(price.shape[1]):
            worker_price[k] += price[k, r] * jobs.worker[i, r]
            ps_price[k] += price[k, r] * jobs.ps[i, r]
    tie = 1e-9 * jobs.utility[i, 0] / max(needed, 1e-300)

    whole = max(math.ceil(needed / rate * (1 - TINY)), 1)
    grain = math.ceil(whole / levels)
    goal = math.ceil(whole / grain)
    unit = grain * rate
    cost = np.full((last + 2, goal + 1), np.inf)
    taken = np.zeros((last + 1, goal + 1), dtype=np.int64)
    level_cost = np.zeros(goal + 1)
    cost[0, 0] = 0.0
    best, completion = -np.inf, -1
    before = 0  # levels within reach of the earlier slots
    for k in range(last + 1):
        most = _levels_of(choice, k, rate, slower, needed, unit, goal)
        for level in range(1, most + 1):
            count, spread = _workers_of(choice, k, level, rate, slower, needed, unit, goal)
            samples = count * (slower if spread else rate)
            level_cost[level] = (
                worker_price[k] * count
                + ps_price[k] * ps_needed(count, gamma)
                + tie * bias[k] * samples
            )
        within = min(goal, before + most)
        for reached in range(within + 1):
            least, levels_here = cost[k, reached], 0
            for level in range(max(1, reached - before), min(most, reached) + 1):
                total = cost[k, reached - level] + level_cost[level]
                if total < least:
                    least, levels_here = total, level
            cost[k + 1, reached] = least
            taken[k, reached] = levels_here
        before = within
        if taken[k, goal] > 0 and jobs.utility[i, k] - cost[k + 1, goal] > best:
            best = jobs.utility[i, k] - cost[k + 1, goal]
            completion = k
    if completion < 0:
        return 0.0, -1
    reached, samples = goal, 0.0
    for k in range(completion, -1, -1):
        level = taken[k, reached]
        if level > 0:
            count, spread = _workers_of(choice, k, level, rate, slower, needed, unit, goal)
            choice.workers[k] = count
            choice.spread[k] = spread
            samples += count * (slower if spread else rate)
        reached -= level
    _drop_surplus(choice, rate, slower, worker_price, samples - needed, completion)
    total, completion = 0.0, -1
    for k in range(last + 1):
        count = choice.workers[k]
        if count > 0:
            completion = k
            total += worker_price[k] * count + ps_price[k] * ps_needed(count, gamma)
    return jobs.utility[i, completion] - total, completion


@compiled
def _levels_of(
    choice: SlotChoice,
    k: int,
    rate: float,
    slower: float,
    needed: float,
    unit: float,
    goal: int,
) -> int:
    """Most levels of a slot; all of them if the slot alone reaches the workload."""
    samples = max(rate * choice.internal[k], slower * choice.external[k])
    if samples >= needed:
        return goal
    return math.floor(min(samples / unit * (1 + TINY), float(goal)))


@compiled
def _workers_of(
    choice: SlotChoice,
    k: int,
    level: int,
    rate: float,
    slower: float,
    needed: float,
    unit: float,
    goal: int,
) -> tuple[int, bool]:
    """Fewest workers that do so many levels, and whether they are an external allocation."""
    samples = min(level * unit, needed) if level == goal else level * unit
    count = math.ceil(samples / rate * (1 - TINY))
    if count <= choice.internal[k]:
        return max(count, 1), False
    count = math.ceil(samples / slower * (1 - TINY))
    return max(min(count, choice.external[k]), 1), True


@compiled
def _drop_surplus(
    choice: SlotChoice,
    rate: float,
    slower: float,
    worker_price: NDArray[np.float64],
    surplus: float,
    completion: int,
) -> None:
    """Leave out whole workers that rounding down made too many, in the dearest slots first."""
    for k in np.argsort(-worker_price[: completion + 1]):
        each = slower if choice.spread[k] else rate
        dropped = math.floor(min(float(choice.workers[k]), surplus / each))
        if dropped > 0:
            choice.workers[k] -= dropped
            surplus -= dropped * each


# 4. Plan


def best_payoff(
    jobs: JobNumbers, i: int, free: NDArray[np.float64], price: NDArray[np.float64], levels: int
) -> tuple[float, int]:
    """Payoff and completion that the free capacity allows a job; 0 and -1 if there is no room."""
    slots, machines = free.shape[:2]
    choice = slot_choice(slots, machines)
    last = int(jobs.deadline[i])
    find_frontier(jobs, i, free, last, choice)
    payoff, completion = choose_workers(jobs, i, price, np.zeros(slots), last, levels, choice)
    return float(payoff), int(completion)


@compiled
def improve_plan(
    jobs: JobNumbers,
    plan: PlanArrays,
    free: NDArray[np.float64],
    price: NDArray[np.float64],
    external: bool,
    rule: int,
    levels: int,
    draws: NDArray[np.float64],
    choice: SlotChoice,
) -> None:
    """Improve a plan's total payoff.

    The first round only adds jobs, those of high utility first. Every later round takes one to
    four jobs out and adds them and some waiting ones in a random order, each where its payoff is
    greatest. Plans that leave out a required job, or put it after its deadline, are not accepted.

    Parameters
    ----------
    jobs : JobNumbers
    plan : PlanArrays
        Changed to the best plan found; it is never worse than before.
    free : array, shape (K, H, R)
        What the plan leaves free; changed along.
    price : array, shape (K, R)
    external : bool
        Whether allocations over several machines may be used.
    rule : int
        See `place_choice`.
    levels : int
        See `choose_workers`.
    draws : array, shape (rounds, FIXED_DRAWS + n + K)
        Uniform in [0, 1); as many rounds as it has rows.
    choice : SlotChoice
        Scratch space.
    """
    n, slots, _ = plan.workers.shape
    rounds = len(draws)
    best = _copy(plan)
    before = _copy(plan)
    best_value = value = plan.payoff.sum()
    changed = np.zeros(n, dtype=np.bool_)
    key = np.zeros(n)
    bias = np.zeros(slots)
    for number in range(rounds):
        draw = draws[number]
        changed[:] = False
        if number > 0:
            for x in range(1 + int(draw[0] * MOST_REMOVED)):
                i = int(draw[4 + x] * n)
                if plan.completion[i] >= 0 and not changed[i]:
                    _remember(plan, before, i, changed)
                    take_out(jobs, i, free, plan.workers[i], plan.ps[i])
                    plan.completion[i] = -1
                    plan.payoff[i] = 0.0
        queue = _order(jobs, plan, changed, number, draw[2], draw[FIXED_DRAWS:], key)
        complete = True
        for i in queue:
            last = jobs.deadline[i]
            find_frontier(jobs, i, free, last, choice)
            if not external:
                choice.external[:] = 0
            _preference(draw[3], draw[FIXED_DRAWS + n :], choice, bias)
            payoff, completion = choose_workers(jobs, i, price, bias, last, levels, choice)
            if completion >= 0 and (payoff > 0 or jobs.required[i]):
                if not changed[i]:
                    _remember(plan, before, i, changed)
                place_choice(jobs, i, free, choice, rule, plan.workers[i], plan.ps[i])
                plan.completion[i] = completion
                plan.payoff[i] = payoff
            elif jobs.required[i]:
                complete = False
                break
        found = plan.payoff.sum()
        allowed = abs(value) * WORSE * (1 - number / rounds) * draw[1]
        if complete and found >= value - allowed:
            value = found
            if found > best_value:
                best_value = found
                _assign(best, plan)
        else:
            _restore(jobs, plan, before, changed, free)
    _assign(plan, best)


@compiled
def _order(
    jobs: JobNumbers,
    plan: PlanArrays,
    changed: NDArray[np.bool_],
    number: int,
    style: float,
    draws: NDArray[np.float64],
    key: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Jobs to add in this round, in the order in which they are added.

    By utility, by utility per work or at random, all with noise; required ones mostly first.
    """
    n = len(jobs.remaining)
    waiting = 0
    for i in range(n):
        waiting += plan.completion[i] < 0
    count = 0
    for i in range(n):
        draw = draws[i]
        tried = number == 0 or changed[i] or draw * waiting < TRIED
        if plan.completion[i] >= 0 or not tried:
            key[i] = np.inf
            continue
        count += 1
        noise = 1.0 if number == 0 else (draw * 7919.0) % 1.0
        if number == 0 or style < 0.5:
            key[i] = -jobs.utility[i, 0] * noise
        elif style < 0.7:
            key[i] = noise
        else:
            work = jobs.remaining[i] / jobs.rate_internal[i]
            key[i] = -jobs.utility[i, 0] / work * noise
        if jobs.required[i] and style < 0.85:
            key[i] = -1e300 * (0.5 + noise / 2)
    return np.argsort(key)[:count]


@compiled
def _preference(
    style: float, draws: NDArray[np.float64], choice: SlotChoice, bias: NDArray[np.float64]
) -> None:
    """Among slots of equal price: early ones, late ones, roomy ones, or any."""
    slots = len(bias)
    roomiest = max(choice.internal.max(), 1)
    for k in range(slots):
        if style < 0.4:
            bias[k] = k / slots
        elif style < 0.6:
            bias[k] = 1 - k / slots
        elif style < 0.8:
            bias[k] = 1 - choice.internal[k] / roomiest
        else:
            bias[k] = draws[k]


@compiled
def _copy(plan: PlanArrays) -> PlanArrays:
    return PlanArrays(
        plan.workers.copy(), plan.ps.copy(), plan.completion.copy(), plan.payoff.copy()
    )


@compiled
def _assign(target: PlanArrays, source: PlanArrays) -> None:
    target.workers[:] = source.workers
    target.ps[:] = source.ps
    target.completion[:] = source.completion
    target.payoff[:] = source.payoff


@compiled
def _remember(plan: PlanArrays, before: PlanArrays, i: int, changed: NDArray[np.bool_]) -> None:
    before.workers[i] = plan.workers[i]
    before.ps[i] = plan.ps[i]
    before.completion[i] = plan.completion[i]
    before.payoff[i] = plan.payoff[i]
    changed[i] = True


@compiled
def _restore(
    jobs: JobNumbers,
    plan: PlanArrays,
    before: PlanArrays,
    changed: NDArray[np.bool_],
    free: NDArray[np.float64],
) -> None:
    """Undo a round."""
    n, slots, machines = plan.workers.shape
    for i in range(n):
        if changed[i]:
            take_out(jobs, i, free, plan.workers[i], plan.ps[i])
    for i in range(n):
        if not changed[i]:
            continue
        plan.workers[i] = before.workers[i]
        plan.ps[i] = before.ps[i]
        plan.completion[i] = before.completion[i]
        plan.payoff[i] = before.payoff[i]
        for k in range(slots):
            for h in range(machines):
                workers, ps = plan.workers[i, k, h], plan.ps[i, k, h]
                if workers > 0 or ps > 0:
                    for r in range(free.shape[2]):
                        use = workers * jobs.worker[i, r] + ps * jobs.ps[i, r]
                        free[k, h, r] -= use


# 5. Schedule


@compiled
def improve_schedule(
    jobs: JobNumbers,
    plan: PlanArrays,
    free: NDArray[np.float64],
    price: NDArray[np.float64],
    levels: int,
    most_removed: int,
    worse: float,
    draws: NDArray[np.float64],
    choice: SlotChoice,
) -> None:
    """Improve a schedule's total utility, all arrivals known.

    Every round takes some jobs out, at random or of neighbouring slots, and adds them and some
    waiting ones in a random order. Where a job goes follows the given prices, in each round
    times another factor: so capacity is left to those for whom it is worth more. Whether the
    outcome is kept depends on utility alone.

    Parameters
    ----------
    jobs : JobNumbers
    plan : PlanArrays
        Changed to the best one found, never worse than before; `payoff` is utility here.
    free : array, shape (K, H, R)
        What the plan leaves free; afterwards that of the last round, not of the best plan.
    price : array, shape (K, R)
        Utility that a unit of capacity is worth, such as the duals of a relaxation.
    levels : int
        See `choose_workers`.
    most_removed : int
        Jobs taken out in a round; mostly far fewer.
    worse : float
        A schedule this much worse (relative) may be accepted.
    draws : array, shape (rounds, FIXED_SCHEDULE_DRAWS + 2 n + K)
        Uniform in [0, 1); as many rounds as it has rows.
    choice : SlotChoice
        Scratch space.
    """
    n, slots, _ = plan.workers.shape
    best = _copy(plan)
    before = _copy(plan)
    best_value = value = plan.payoff.sum()
    changed = np.zeros(n, dtype=np.bool_)
    key = np.zeros(n)
    bias = np.zeros(slots)
    for number in range(len(draws)):
        draw = draws[number]
        picks = draw[FIXED_SCHEDULE_DRAWS : FIXED_SCHEDULE_DRAWS + n]
        orders = draw[FIXED_SCHEDULE_DRAWS + n : FIXED_SCHEDULE_DRAWS + 2 * n]
        factor = 0.0 if draw[0] < FREE_OF_CHARGE else DEAREST * draw[4] ** 2
        scaled = price * factor
        changed[:] = False
        wanted = 1 + int(draw[5] ** 2 * most_removed)
        centre = int(draw[6] * slots) if draw[7] < 0.5 else -1
        for x in range(n):
            i = int(picks[x] * n)
            if plan.completion[i] >= 0 and not changed[i] and _runs_near(plan, i, centre):
                _remember(plan, before, i, changed)
                take_out(jobs, i, free, plan.workers[i], plan.ps[i])
                plan.completion[i] = -1
                plan.payoff[i] = 0.0
                wanted -= 1
                if wanted == 0:
                    break
        for i in _order(jobs, plan, changed, number + 1, draw[2], orders, key):
            last = jobs.deadline[i]
            find_frontier(jobs, i, free, last, choice)
            _preference(draw[3], draw[FIXED_SCHEDULE_DRAWS + 2 * n :], choice, bias)
            payoff, completion = choose_workers(jobs, i, scaled, bias, last, levels, choice)
            if completion >= 0 and payoff > 0:
                if not changed[i]:
                    _remember(plan, before, i, changed)
                place_choice(jobs, i, free, choice, TIGHTEST, plan.workers[i], plan.ps[i])
                plan.completion[i] = completion
                plan.payoff[i] = jobs.utility[i, completion]
        found = plan.payoff.sum()
        if found >= value - value * worse * draw[1]:
            value = found
            if found > best_value:
                best_value = found
                _assign(best, plan)
        else:
            _restore(jobs, plan, before, changed, free)
    _assign(plan, best)


@compiled
def _runs_near(plan: PlanArrays, i: int, centre: int) -> bool:
    """Whether a job has workers in a slot near `centre`; with -1 there, always."""
    if centre < 0:
        return True
    for k in range(max(0, centre - NEAR), min(plan.workers.shape[1], centre + NEAR + 1)):
        for h in range(plan.workers.shape[2]):
            if plan.workers[i, k, h] > 0:
                return True
    return False
