"""Can the jobs of one slot be packed into the machines? An exact answer, by CP-SAT.

One slot of DMLRS with the totals of every job given: an internal job has all its workers and
parameter servers (PSs) on one machine (D1), an external one has them anywhere. Only capacity
(arXiv 2108.02917, eq. 5) is left to satisfy. Demands are scaled to integers and rounded down,
capacities up, so "no" is proved; a "yes" is read off and checked in the instance's own numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.training.fit import machine_classes
from models.training.instance import TrainingInstance
from models.training.throughput import FIT_ABSOLUTE, FIT_TOLERANCE, fits

__all__ = ["SlotItem", "SlotPacking", "pack_slot"]

UNITS = 2**30
"""Integer units that a machine's capacity is divided into."""

Cell = tuple[int, int, int, int]  # job, machine, workers, PSs


class SlotItem(NamedTuple):
    """What one job has in the slot.

    Attributes
    ----------
    job : int
    internal : bool
        All on one machine.
    workers, ps : int
    """

    job: int
    internal: bool
    workers: int
    ps: int


@dataclass(frozen=True)
class SlotPacking:
    """Whether the items fit: True with the cells, False, or None where it stayed open.

    Attributes
    ----------
    fits : bool or None
    cells : tuple of (job, machine, workers, PSs)
    """

    fits: bool | None
    cells: tuple[Cell, ...] = ()


def pack_slot(
    instance: TrainingInstance, items: Sequence[SlotItem], seconds: float = 5.0
) -> SlotPacking:
    """Pack the items of one slot into the empty machines.

    Parameters
    ----------
    instance : TrainingInstance
    items : sequence of SlotItem
        At most one per job.
    seconds : float
        Time limit.
    """
    from ortools.sat.python import cp_model

    if not items:
        return SlotPacking(True)
    model = cp_model.CpModel()
    machines = range(instance.number_of_machines)
    workers = {
        (k, h): model.new_int_var(0, item.workers, f"workers of {item.job} on {h}")
        for k, item in enumerate(items)
        for h in machines
    }
    ps = {
        (k, h): model.new_int_var(0, item.ps, f"PSs of {item.job} on {h}")
        for k, item in enumerate(items)
        for h in machines
    }
    here = _internal_on_one(model, items, workers, ps, machines)
    for k, item in enumerate(items):
        model.add(sum(workers[k, h] for h in machines) == item.workers)
        model.add(sum(ps[k, h] for h in machines) == item.ps)
    _capacity(model, instance, items, workers, ps)
    _order_equal_machines(model, instance, items, workers, here)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return SlotPacking(False)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return SlotPacking(None)
    cells = tuple(
        (item.job, h, solver.value(workers[k, h]), solver.value(ps[k, h]))
        for k, item in enumerate(items)
        for h in machines
        if solver.value(workers[k, h]) or solver.value(ps[k, h])
    )
    # The integers are rounded: what counts are the instance's own numbers.
    return SlotPacking(True, cells) if _within(instance, cells) else SlotPacking(None)


def _internal_on_one(
    model: Any, items: Sequence[SlotItem], workers: Any, ps: Any, machines: range
) -> dict[tuple[int, int], Any]:
    """An internal job is on exactly one machine (D1)."""
    here: dict[tuple[int, int], Any] = {}
    for k, item in enumerate(items):
        if item.internal:
            for h in machines:
                here[k, h] = model.new_bool_var(f"{item.job} on {h}")
                model.add(workers[k, h] == item.workers * here[k, h])
                model.add(ps[k, h] == item.ps * here[k, h])
            model.add_exactly_one(here[k, h] for h in machines)
    return here


def _capacity(
    model: Any, instance: TrainingInstance, items: Sequence[SlotItem], workers: Any, ps: Any
) -> None:
    """No machine gives more of a resource than it has (eq. 5), in whole units."""
    alpha, beta = instance.worker_demand, instance.ps_demand
    for h in range(instance.number_of_machines):
        room = _room(instance.capacity[h])
        for r in range(len(instance.resources)):
            scale = UNITS / room[r]
            terms: list[Any] = []
            for k, item in enumerate(items):
                for demand, count, most in (
                    (float(alpha[item.job, r]), workers[k, h], item.workers),
                    (float(beta[item.job, r]), ps[k, h], item.ps),
                ):
                    if demand > room[r]:
                        model.add(count == 0)
                    elif demand > 0 and most > 0:
                        terms.append(math.floor(demand * scale) * count)
            if terms:
                model.add(sum(terms) <= UNITS + 1)


def _order_equal_machines(
    model: Any, instance: TrainingInstance, items: Sequence[SlotItem], workers: Any, here: Any
) -> None:
    """Equal machines have no names.

    The n-th internal item is on one of the first n machines of its kind, if there is but one
    kind. Without internal items machines are ordered by the workers of the first item.
    """
    classes = machine_classes(instance.capacity)
    internal = [k for k, item in enumerate(items) if item.internal]
    if not internal:
        for members in classes:
            for h, after in pairwise(members):
                model.add(workers[0, h] >= workers[0, after])
    elif len(classes) == 1:
        for n, k in enumerate(internal):
            for h in range(n + 1, instance.number_of_machines):
                model.add(here[k, h] == 0)


def _room(capacity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Capacity with the tolerance of `fits`."""
    return capacity * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE


def _within(instance: TrainingInstance, cells: Sequence[Cell]) -> bool:
    use = np.zeros_like(instance.capacity)
    for i, h, workers, ps in cells:
        use[h] += workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
    return bool(fits(use, instance.capacity).all())
