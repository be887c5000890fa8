"""Ruin and recreate on a plan at given prices, compiled: some jobs out, and in again by payoff."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from algorithms.training.plan_arrays import JobNumbers, PlanArrays, SlotChoice, slot_choice
from algorithms.training.slot_frontier import find_frontier, place_choice, take_out
from algorithms.training.worker_slots import choose_workers

__all__ = ["FIXED_DRAWS", "MOST_REMOVED", "best_payoff", "improve_plan"]

MOST_REMOVED = 4
FIXED_DRAWS = 4 + MOST_REMOVED  # random numbers of a round beside one per job and one per slot
WORSE = 0.01  # a plan this much worse (relative) may be accepted, less and less
TRIED = 8.0  # waiting jobs tried per round, on average at most


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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _copy(plan: PlanArrays) -> PlanArrays:
    return PlanArrays(
        plan.workers.copy(), plan.ps.copy(), plan.completion.copy(), plan.payoff.copy()
    )


@njit(cache=True)
def _assign(target: PlanArrays, source: PlanArrays) -> None:
    target.workers[:] = source.workers
    target.ps[:] = source.ps
    target.completion[:] = source.completion
    target.payoff[:] = source.payoff


@njit(cache=True)
def _remember(plan: PlanArrays, before: PlanArrays, i: int, changed: NDArray[np.bool_]) -> None:
    before.workers[i] = plan.workers[i]
    before.ps[i] = plan.ps[i]
    before.completion[i] = plan.completion[i]
    before.payoff[i] = plan.payoff[i]
    changed[i] = True


@njit(cache=True)
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
