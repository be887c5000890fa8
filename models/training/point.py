"""Between schedules and points of the compact model: reading one off, writing one in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyomo.environ as pyo

from models.training.fit import machine_classes
from models.training.instance import Job, TrainingInstance
from models.training.schedule import Placement, samples_in_slot

__all__ = ["decode", "encode", "finished"]


def decode(model: Any, instance: TrainingInstance) -> dict[int, list[Placement]]:
    """Read placements off a solved model: counts rounded, idle PSs dropped.

    Parameters
    ----------
    model : ConcreteModel
        From `build_dmlrs`, with values in its variables.
    instance : TrainingInstance

    Returns
    -------
    dict of job index to list of (slot, machine index, workers, PSs)
        Jobs that reach their workload with these placements, with D2's PSs exactly. Whether the
        placements fit together is for the audit to say, since the solver has a tolerance.
    """
    cells: dict[tuple[int, int], dict[int, list[int]]] = defaultdict(dict)
    for k, names in enumerate(
        (("internal_workers", "external_workers"), ("internal_ps", "external_ps"))
    ):
        for name in names:
            for (i, h, t), variable in getattr(model, name).items():
                count = round(variable.value or 0.0)
                if count > 0:
                    cells[i, t].setdefault(h, [0, 0])[k] += count
    placements: dict[int, list[Placement]] = defaultdict(list)
    for (i, t), machines in sorted(cells.items()):
        workers_together = sum(workers for workers, _ in machines.values())
        if workers_together == 0:
            continue
        needed = instance.jobs[i].ps_for(workers_together)
        # A surplus goes first from machines without workers: the slot may become internal.
        surplus = sum(ps for _, ps in machines.values()) - needed
        for _, cell in sorted(machines.items(), key=lambda item: item[1][0]):
            dropped = max(0, min(surplus, cell[1]))
            cell[1] -= dropped
            surplus -= dropped
        placements[i] += [(t, h, w, s) for h, (w, s) in sorted(machines.items()) if w or s]
    return {i: places for i, places in placements.items() if finished(instance.jobs[i], places)}


def encode(
    model: Any, instance: TrainingInstance, placements: Mapping[int, Sequence[Placement]]
) -> None:
    """Write a schedule into the model's variables, as a point to start from.

    Equal machines are renamed within each slot so that the order of `order_equal_machines`
    holds. Jobs and completions that the model leaves out are left out.

    Parameters
    ----------
    model : ConcreteModel
        From `build_dmlrs`; every variable gets a value.
    instance : TrainingInstance
    placements : mapping of job index to placements (slot, machine index, workers, PSs)
        Of jobs that finish.
    """
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(0, skip_validation=True)
    cells: dict[int, dict[int, list[tuple[int, int, int]]]] = defaultdict(lambda: defaultdict(list))
    for i, places in placements.items():
        completion = max((t for t, _, workers, _ in places if workers), default=-1)
        if (i, completion) not in model.completes:
            continue
        model.completes[i, completion].set_value(1)
        for t, h, workers, ps in places:
            cells[t][i].append((h, workers, ps))
    for t, jobs in cells.items():
        name = _ordered_names(instance, jobs)
        for i, on_machines in jobs.items():
            kind = "internal" if len(on_machines) == 1 else "external"
            mode = model.internal if kind == "internal" else model.external
            mode[(i, name[on_machines[0][0]], t) if kind == "internal" else (i, t)].set_value(1)
            for h, workers, ps in on_machines:
                for what, count in (("workers", workers), ("ps", ps)):
                    if count:
                        getattr(model, f"{kind}_{what}")[i, name[h], t].set_value(count)


def _ordered_names(
    instance: TrainingInstance, jobs: Mapping[int, Sequence[tuple[int, int, int]]]
) -> dict[int, int]:
    """New index of each machine: equal ones ordered by the first job that is internal there."""
    first: dict[int, int] = {}
    for i in sorted(jobs):
        if len(jobs[i]) == 1:
            first.setdefault(jobs[i][0][0], i)
    name: dict[int, int] = {}
    for members in machine_classes(instance.capacity):
        order = sorted(members, key=lambda h: first.get(h, instance.number_of_jobs))
        name.update(zip(order, members, strict=True))
    return name


def finished(job: Job, placements: Sequence[Placement]) -> bool:
    """Whether the placements (slot, machine index, workers, PSs) reach the job's workload."""
    slots: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for t, h, workers, ps in placements:
        slots[t].append((h, workers, ps))
    return job.workload_reached(sum(samples_in_slot(job, places) for places in slots.values()))
