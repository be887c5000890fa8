"""What a Gantt chart shows, as rectangles: who has what on which machine in which slots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.drawing import FILLS, HATCHES
from models.files import InputError
from models.training import TrainingInstance, TrainingSchedule

__all__ = ["Band", "Cells", "Style", "bands_of", "cells_of", "runs_of", "share_in_use", "styles_of"]

GAP = 0.06  # of a row's height, above and below its bands
THINNEST = 0.12  # of a row's height: what is there can be seen

Cells = dict[tuple[int, int], dict[int, tuple[float, float]]]
"""(machine, slot) -> job -> workers, PSs; all by index."""
Style = tuple[str, str]
"""Fill and hatch."""


@dataclass(frozen=True)
class Band:
    """What a job has on a machine in the slots start..stop-1, and where it is drawn."""

    job: int
    machine: int
    start: int
    stop: int
    top: float
    bottom: float
    workers: float
    ps: float


def cells_of(instance: TrainingInstance, schedule: TrainingSchedule) -> Cells:
    """Return what each job has, by (machine, slot) and job index; nothing outside the horizon.

    Raises
    ------
    InputError
        If the schedule names jobs or machines that the instance does not have.
    """
    machines = {machine.name: h for h, machine in enumerate(instance.machines)}
    jobs = {job.name: i for i, job in enumerate(instance.jobs)}
    cells: Cells = defaultdict(dict)
    for j, outcome in enumerate(schedule.jobs):
        if outcome.name not in jobs:
            raise InputError(
                "is not a job of the instance", field=f"jobs[{j}].name", value=outcome.name
            )
        for k, item in enumerate(outcome.allocation):
            if item.machine not in machines:
                raise InputError(
                    "is not a machine of the instance",
                    field=f"jobs[{j}].allocation[{k}].machine",
                    value=item.machine,
                )
            if 0 <= item.slot < instance.slots and (item.workers > 0 or item.ps > 0):
                cell = cells[machines[item.machine], item.slot]
                workers, ps = cell.get(jobs[outcome.name], (0.0, 0.0))
                cell[jobs[outcome.name]] = (
                    workers + max(item.workers, 0),
                    ps + max(item.ps, 0),
                )
    return cells


def bands_of(instance: TrainingInstance, cells: Cells) -> list[Band]:
    """Place the bands of each cell from its floor upwards; equal neighbours in time become one.

    Machine h is the row from h to h + 1, downwards. Jobs that begin earlier lie lower, so that a
    job's bands tend to stay in line.
    """
    first_slot: dict[int, int] = {}
    for (_, slot), cell in cells.items():
        for i in cell:
            first_slot[i] = min(slot, first_slot.get(i, slot))
    order = {i: k for k, i in enumerate(sorted(first_slot, key=lambda i: (first_slot[i], i)))}
    bands: list[Band] = []
    open_bands: dict[tuple[int, int], int] = {}  # (machine, job) -> index of its latest band
    for (machine, slot), cell in sorted(cells.items()):
        present = sorted(cell, key=order.__getitem__)
        heights = np.array([max(_share(instance, machine, i, *cell[i]), THINNEST) for i in present])
        heights *= (1 - 2 * GAP) / max(1.0, heights.sum())
        bottom = machine + 1 - GAP
        for i, height in zip(present, heights.tolist(), strict=True):
            new = Band(i, machine, slot, slot + 1, bottom - height, bottom, *cell[i])
            bottom -= height
            last = open_bands.get((machine, i))
            if last is not None and _continues(bands[last], new):
                old = bands[last]
                bands[last] = Band(
                    i, machine, old.start, slot + 1, old.top, old.bottom, old.workers, old.ps
                )
            else:
                open_bands[machine, i] = len(bands)
                bands.append(new)
    return bands


def _continues(old: Band, new: Band) -> bool:
    same_place = abs(old.top - new.top) < 1e-9 and abs(old.bottom - new.bottom) < 1e-9
    same_counts = (old.workers, old.ps) == (new.workers, new.ps)
    return old.stop == new.start and same_place and same_counts


def _share(instance: TrainingInstance, h: int, i: int, workers: float, ps: float) -> float:
    """Dominant share of a machine; 1 where something is needed that it does not have."""
    need = workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
    capacity = instance.capacity[h]
    share = np.divide(need, capacity, out=(need > 0).astype(float), where=capacity > 0)
    return min(float(share.max()), 1.0)


def styles_of(bands: Iterable[Band]) -> dict[int, Style]:
    """Give each job, as they appear in time, a colour and a hatch."""
    jobs = dict.fromkeys(band.job for band in sorted(bands, key=lambda b: (b.start, b.job)))
    return {
        i: (FILLS[k % len(FILLS)], HATCHES[k // len(FILLS) % len(HATCHES)])
        for k, i in enumerate(jobs)
    }


def share_in_use(instance: TrainingInstance, cells: Cells) -> NDArray[np.float64]:
    """Share of each resource in use over all machines; 0 for a resource that is nowhere.

    Returns
    -------
    array, shape (slots, resources)
    """
    needed = np.zeros((instance.slots, len(instance.resources)))
    for (_, slot), cell in cells.items():
        for i, (workers, ps) in cell.items():
            needed[slot] += workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
    total = instance.capacity.sum(axis=0)
    return np.divide(needed, total, out=np.zeros_like(needed), where=total > 0)


def runs_of(bands: list[Band]) -> list[list[Band]]:
    """Group what one job has on one machine without a break: it gets one label."""
    runs: list[list[Band]] = []
    latest: dict[tuple[int, int], list[Band]] = {}
    for band in bands:
        run = latest.get((band.machine, band.job))
        if run is not None and run[-1].stop == band.start:
            run.append(band)
        else:
            runs.append([band])
            latest[band.machine, band.job] = runs[-1]
    return runs
