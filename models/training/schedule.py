"""A schedule: which workers and parameter servers each job has in which slot on which machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from models.files import (
    FileModel,
    InputError,
    Name,
    check_unique,
    read_model,
    write_model,
)
from models.training.instance import LARGEST_COUNT, Job, TrainingInstance

__all__ = [
    "Allocation",
    "JobSchedule",
    "Placement",
    "Reason",
    "TrainingSchedule",
    "build_schedule",
    "load_schedule",
    "placements_of",
    "samples_in_slot",
    "save_schedule",
]

Reason = Literal["impossible", "price", "capacity", "rounding", "unfinished", "not-selected"]
Placement = tuple[int, int, int, int]  # slot, machine index, workers, parameter servers


def _count(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    if not abs(value) <= LARGEST_COUNT:  # NaN too
        raise ValueError("must be a number from -2^53 to 2^53")
    if isinstance(value, float) and value.is_integer():
        raise ValueError("must be written as an integer")
    return value


# What the audit is to judge may be fractional, negative or outside the horizon in the file; only
# what no float can hold, and 1.0 for 1, is an error.
Count = Annotated[int | float, BeforeValidator(_count)]
Slot = Annotated[int, Field(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]


class Allocation(FileModel):
    """What one job has on one machine in one slot."""

    slot: Slot
    machine: Name
    workers: Count
    ps: Count


class JobSchedule(FileModel):
    """The outcome for one job.

    Attributes
    ----------
    name : str
    admitted : bool
        Whether the policy took the job on (it may still not finish).
    completion : int or None
        Last slot with a worker; None if the workload is not reached within the horizon.
    utility : float
        u(completion - arrival), 0 without completion.
    reason : str or None
        Why there is no completion.
    allocation : tuple of Allocation
    """

    name: Name
    admitted: bool
    completion: Slot | None
    utility: float
    reason: Reason | None
    allocation: tuple[Allocation, ...]


class TrainingSchedule(FileModel):
    """A schedule file; `objective` is the total utility of completed jobs."""

    kind: Literal["training-schedule"] = "training-schedule"
    version: Literal[1] = 1
    policy: Name
    objective: float
    jobs: tuple[JobSchedule, ...]

    @model_validator(mode="after")
    def _names(self) -> TrainingSchedule:
        check_unique((job.name for job in self.jobs), "jobs")
        return self


def samples_in_slot(job: Job, placements: Iterable[tuple[int, int, int]]) -> float:
    """Samples that a job processes in one slot.

    Parameters
    ----------
    job : Job
    placements : iterable of (machine index, workers, PSs)
        Everything that the job has in that slot.

    Notes
    -----
    The allocation is internal iff all workers and all PSs sit on one machine (Fact 1, D1).
    """
    used = [p for p in placements if p[1] > 0 or p[2] > 0]
    machines = {machine for machine, _, _ in used}
    rate = job.rate_internal if len(machines) == 1 else job.rate_external
    return rate * sum(workers for _, workers, _ in used)


def build_schedule(
    instance: TrainingInstance,
    policy: str,
    placements: Mapping[int, Iterable[Placement]],
    reasons: Mapping[int, Reason] | None = None,
) -> TrainingSchedule:
    """Make the schedule file content from placements.

    Parameters
    ----------
    instance : TrainingInstance
    policy : str
    placements : mapping of job index to placements (slot, machine index, workers, PSs)
        Repeated places are added up; slots without a worker are dropped (idle PSs).
    reasons : mapping of job index to reason, optional
        For jobs that do not complete; by default "impossible" or "not-selected" where nothing
        was placed and "unfinished" where something was.

    Returns
    -------
    TrainingSchedule
        With completion, utility and objective computed from the placements. It is not audited
        here; see `models.training.audit`.
    """
    reasons = reasons or {}
    outcomes = []
    for i, job in enumerate(instance.jobs):
        by_slot = _by_slot(placements.get(i, ()))
        samples = sum(
            samples_in_slot(job, ((h, w, s) for h, (w, s) in cells.items()))
            for cells in by_slot.values()
        )
        done = bool(by_slot) and job.workload_reached(samples)
        completion = max(by_slot) if done else None
        reason: Reason | None = None
        if not done:
            reason = reasons.get(i)
            if reason is None and by_slot:
                reason = "unfinished"
            elif reason is None:
                reason = "not-selected" if instance.reach[i].possible else "impossible"
        outcomes.append(
            JobSchedule(
                name=job.name,
                admitted=bool(by_slot),
                completion=completion,
                utility=0.0 if completion is None else job.utility.value(completion - job.arrival),
                reason=reason,
                allocation=tuple(
                    Allocation(slot=t, machine=instance.machines[h].name, workers=w, ps=s)
                    for t, cells in sorted(by_slot.items())
                    for h, (w, s) in sorted(cells.items())
                ),
            )
        )
    return TrainingSchedule(
        policy=policy,
        objective=sum(outcome.utility for outcome in outcomes),
        jobs=tuple(outcomes),
    )


def _by_slot(placements: Iterable[Placement]) -> dict[int, dict[int, tuple[int, int]]]:
    by_slot: dict[int, dict[int, tuple[int, int]]] = {}
    for slot, machine, workers, ps in placements:
        if workers or ps:
            cells = by_slot.setdefault(int(slot), {})
            old = cells.get(int(machine), (0, 0))
            cells[int(machine)] = (old[0] + int(workers), old[1] + int(ps))
    return {slot: cells for slot, cells in by_slot.items() if any(w > 0 for w, _ in cells.values())}


def placements_of(
    instance: TrainingInstance, schedule: TrainingSchedule
) -> dict[int, list[Placement]]:
    """Return a schedule's placements by job index, for warm starts and plots.

    Raises
    ------
    InputError
        If the schedule names a job or machine that the instance does not have.
    """
    machine_index = {machine.name: h for h, machine in enumerate(instance.machines)}
    job_index = {job.name: i for i, job in enumerate(instance.jobs)}
    result: dict[int, list[Placement]] = {}
    for j, outcome in enumerate(schedule.jobs):
        if outcome.name not in job_index:
            raise InputError(
                "is not a job of the instance", field=f"jobs[{j}].name", value=outcome.name
            )
        places = result.setdefault(job_index[outcome.name], [])
        for k, item in enumerate(outcome.allocation):
            if item.machine not in machine_index:
                raise InputError(
                    "is not a machine of the instance",
                    field=f"jobs[{j}].allocation[{k}].machine",
                    value=item.machine,
                )
            places.append((item.slot, machine_index[item.machine], int(item.workers), int(item.ps)))
    return result


def load_schedule(path: str | Path) -> TrainingSchedule:
    """Read a schedule file; raises `InputError` naming file, field, rule and value."""
    return read_model(TrainingSchedule, path)


def save_schedule(schedule: TrainingSchedule, path: str | Path) -> None:
    """Write a schedule file, atomically."""
    write_model(schedule, path)
