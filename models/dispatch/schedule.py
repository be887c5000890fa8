"""A schedule: the solution file of the dispatch problem, and its objective (5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from models.dispatch.instance import DispatchInstance
from models.files import FileModel, Name, check_unique, read_model, write_model

__all__ = [
    "DispatchSchedule",
    "JobSchedule",
    "build_schedule",
    "load_schedule",
    "save_schedule",
    "weighted_queue_time",
]

Mode = Literal["plan", "simulated"]
Time = Annotated[int, Field(ge=-(2**53), le=2**53)]
NOT_STARTED = -1


class JobSchedule(FileModel):
    """The outcome for one job.

    Attributes
    ----------
    name : str
    start, end : int or None
        Seconds, half-open; None if the job is impossible.
    reason : "impossible" or None
    nodes : tuple of str
        nodes[k] hosts unit k; empty if the job is impossible.
    """

    name: Name
    start: Time | None
    end: Time | None
    reason: Literal["impossible"] | None
    nodes: tuple[Name, ...]


class DispatchSchedule(FileModel):
    """A schedule file.

    Attributes
    ----------
    policy : str
    objective : float
        Weighted queue time (5.2) [s] of the started jobs.
    mode : "plan" or "simulated"
        Whether ends are start + estimate, or real.
    jobs : tuple of JobSchedule
    """

    kind: Literal["dispatch-schedule"] = "dispatch-schedule"
    version: Literal[1] = 1
    policy: Name
    objective: float
    mode: Mode
    jobs: tuple[JobSchedule, ...]

    @model_validator(mode="after")
    def _names(self) -> DispatchSchedule:
        check_unique((job.name for job in self.jobs), "jobs")
        return self


def weighted_queue_time(instance: DispatchInstance, start: ArrayLike) -> float:
    """Objective (5.2) over the started jobs [s].

    Parameters
    ----------
    instance : DispatchInstance
    start : int array, shape (J,)
        Start [s] of each job, negative if it has none.
    """
    arrays = instance.arrays
    times = np.asarray(start, dtype=np.int64)
    started = times >= 0
    return float((arrays.weight * (times - arrays.submit))[started].sum())


def build_schedule(
    instance: DispatchInstance,
    policy: str,
    start: ArrayLike,
    unit_node: ArrayLike,
    end: ArrayLike | None = None,
) -> DispatchSchedule:
    """Make the solution file's content.

    Parameters
    ----------
    instance : DispatchInstance
    policy : str
    start : int array, shape (J,)
        Start [s] of each job, negative if it has none.
    unit_node : int array, shape (U,)
        Node of each unit, in the order of `DispatchArrays.unit_first`.
    end : int array, shape (J,), optional
        Real ends [s] of a simulation; without it the schedule is a plan.

    Returns
    -------
    DispatchSchedule
        With the objective computed here. It is not audited; see `models.dispatch.audit`.
    """
    arrays = instance.arrays
    starts = np.asarray(start, dtype=np.int64)
    ends = np.asarray(starts + arrays.duration if end is None else end, dtype=np.int64)
    hosts = np.asarray(unit_node, dtype=np.int64).tolist()
    names = [node.name for node in instance.nodes]
    first = arrays.unit_first.tolist()
    jobs = []
    for j, (job, begin, finish) in enumerate(
        zip(instance.jobs, starts.tolist(), ends.tolist(), strict=True)
    ):
        if begin < 0:
            outcome = JobSchedule(
                name=job.name, start=None, end=None, reason="impossible", nodes=()
            )
        else:
            nodes = _names(names, hosts[first[j] : first[j + 1]])
            outcome = JobSchedule(name=job.name, start=begin, end=finish, reason=None, nodes=nodes)
        jobs.append(outcome)
    return DispatchSchedule(
        policy=policy,
        objective=weighted_queue_time(instance, starts),
        mode="plan" if end is None else "simulated",
        jobs=tuple(jobs),
    )


def _names(names: Sequence[str], hosts: Sequence[int]) -> tuple[str, ...]:
    return tuple(names[n] for n in hosts)


def load_schedule(path: str | Path) -> DispatchSchedule:
    """Read a schedule file; raises `InputError` naming file, field, rule and value."""
    return read_model(DispatchSchedule, path)


def save_schedule(schedule: DispatchSchedule, path: str | Path) -> None:
    """Write a schedule file, atomically."""
    write_model(schedule, path)
