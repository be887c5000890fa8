"""Ruin and recreate: take some jobs out of a schedule and place them again in another order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from algorithms.training.exact.list_scheduling import FreeCapacity, Style
from models.training import TrainingInstance
from models.training.schedule import Placement

__all__ = ["insert", "ruin_and_recreate"]

STYLES: tuple[Style, ...] = ("early", "late", "large")
WORSE = 0.01  # a schedule this much worse (relative) may be accepted, less and less
MOST_REMOVED = 4


def insert(
    free: FreeCapacity, i: int, last: int, style: Style = "early", forgiven: float = 0.0
) -> bool:
    """Place job i to complete as early as it can, or a little later where that costs little.

    Parameters
    ----------
    free : FreeCapacity
        Changed if there is room.
    i : int
    last : int
        Latest completion worth anything.
    style : {"early", "late", "large"}
    forgiven : float
        Share of its best utility that the job may lose by completing later.

    Returns
    -------
    bool
        Whether there was room.
    """
    earliest = free.earliest_completion(i, last)
    if earliest is None:
        return False
    job = free.instance.jobs[i]
    enough = job.utility.value(earliest - job.arrival) * (1 - forgiven)
    deadline = earliest
    while deadline < last and job.utility.value(deadline + 1 - job.arrival) >= enough:
        deadline += 1
    placements = free.find(i, deadline, style) or free.find(i, earliest, "early")
    if placements is None:
        return False
    free.put(i, placements)
    return True


def ruin_and_recreate(
    instance: TrainingInstance,
    start: Mapping[int, Sequence[Placement]],
    last_slot: Mapping[int, int],
    rng: np.random.Generator,
    go_on: Callable[[int, float], bool],
) -> dict[int, list[Placement]]:
    """Improve a schedule.

    Parameters
    ----------
    instance : TrainingInstance
    start : mapping of job index to placements
        May be empty.
    last_slot : mapping of job index to slot
        Jobs worth placing, and their latest completion worth anything.
    rng : numpy.random.Generator
    go_on : callable (rounds so far, best value so far) -> bool

    Returns
    -------
    dict of job index to placements
        The best schedule seen.
    """
    current = FreeCapacity.after(instance, {i: list(places) for i, places in start.items()})
    _fill(current, last_slot, rng)
    value = best_value = current.value()
    best = dict(current.placed)
    rounds = 0
    while last_slot and go_on(rounds, best_value):
        before = dict(current.placed)
        if rounds % 50 == 49 and value < best_value:
            current = FreeCapacity.after(instance, best)
            value, before = best_value, dict(best)
        placed = list(current.placed)
        count = min(len(placed), 1 + int(rng.integers(MOST_REMOVED)))
        removed = [int(i) for i in rng.permutation(placed)[:count]]
        for i in removed:
            current.take_out(i)
        _fill(current, last_slot, rng)
        found = current.value()
        temperature = WORSE / (1 + rounds / 100)
        if found >= value * (1 - temperature * rng.random()):
            value = found
            if found > best_value:
                best_value, best = found, dict(current.placed)
        else:
            current = FreeCapacity.after(instance, before)
        rounds += 1
    return best


def _fill(free: FreeCapacity, last_slot: Mapping[int, int], rng: np.random.Generator) -> None:
    """Place as many of the waiting jobs as there is room for, in a random order."""
    waiting = np.array([i for i in last_slot if i not in free.placed], dtype=np.int64)
    jobs = free.instance.jobs
    if rng.random() < 0.5:  # high utilities tend to go first
        weights = np.array([jobs[int(i)].utility.priority for i in waiting])
        order = waiting[np.argsort(-weights * rng.random(len(waiting)), kind="stable")]
    else:
        order = rng.permutation(waiting)
    for i in order.tolist():
        style = STYLES[int(rng.integers(len(STYLES)))]
        forgiven = float(rng.choice([0.0, 0.0, 0.01, 0.2]))
        insert(free, i, last_slot[i], style, forgiven)
