"""The dispatch problem's data: a power-capped system and its jobs, never changed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from models.files import (
    Amounts,
    FileModel,
    InputError,
    Name,
    NonNegative,
    check_unique,
    read_model,
    write_model,
)

if TYPE_CHECKING:
    from models.dispatch.arrays import DispatchArrays

__all__ = ["DispatchInstance", "Job", "Node", "load_instance", "save_instance"]

LATEST = 2**50
"""Seconds. Sums of a few such times are whole numbers of float64 and of int64 alike."""

Seconds = Annotated[int, Field(ge=0, le=LATEST)]
PositiveSeconds = Annotated[int, Field(ge=1, le=LATEST)]


class Node(FileModel):
    """A computer of the system.

    Attributes
    ----------
    name : str
    capacity : mapping of resource to amount
        What is left out is 0.
    idle_power : float
        Watts that it draws whether or not a job runs.
    """

    name: Name
    capacity: Amounts
    idle_power: NonNegative


class Job(FileModel):
    """A job: all of its units start together and run side by side.

    Attributes
    ----------
    name : str
    queue : str or None
    submit : int
        q_j [s]: it may start from then on.
    duration : int
        d_j [s], the user's estimate.
    expected_wait : int
        ewt_j [s] of its queue.
    power : float
        p_j [W], predicted, of the whole job and above idle.
    runtime : int or None
        How long it really takes [s]; None is `duration`. Known to the simulator only.
    actual_power : float or None
        What it really draws [W]; None is `power`. Known to the simulator only.
    units : tuple of mapping of resource to amount
        Each sits on one node; units of a job may share a node.
    """

    name: Name
    queue: Name | None = None
    submit: Seconds
    duration: PositiveSeconds
    expected_wait: PositiveSeconds
    power: NonNegative
    runtime: PositiveSeconds | None = None
    actual_power: NonNegative | None = None
    units: Annotated[tuple[Amounts, ...], Field(min_length=1)]

    @property
    def real_duration(self) -> int:
        """Seconds that it takes if nobody stops it."""
        return self.duration if self.runtime is None else self.runtime

    @property
    def real_power(self) -> float:
        """Watts that it draws above idle."""
        return self.power if self.actual_power is None else self.actual_power


class DispatchInstance(FileModel):
    """An instance; the file format is in the README and `schedlab dispatch schema`.

    Attributes
    ----------
    resources : tuple of str
    power_cap : float or None
        Watts that idle nodes and running jobs may draw together; None is no cap.
    nodes : tuple of Node
    jobs : tuple of Job

    Raises
    ------
    InputError
        From `load_instance`; direct construction raises pydantic's ValidationError.
    """

    kind: Literal["dispatch"] = "dispatch"
    version: Literal[1] = 1
    resources: tuple[Name, ...]
    power_cap: NonNegative | None = None
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    jobs: tuple[Job, ...]

    @model_validator(mode="after")
    def _names_and_times(self) -> DispatchInstance:
        for k, name in enumerate(self.resources):
            if name in self.resources[:k]:
                raise InputError("must be declared once", field=f"resources[{k}]", value=name)
        check_unique((node.name for node in self.nodes), "nodes")
        check_unique((job.name for job in self.jobs), "jobs")
        known = set(self.resources)
        for n, node in enumerate(self.nodes):
            self._check_resources(node.capacity, known, f"nodes[{n}].capacity")
        for j, job in enumerate(self.jobs):
            for u, unit in enumerate(job.units):
                self._check_resources(unit, known, f"jobs[{j}].units[{u}]")
        # The last job of any sensible schedule ends by then.
        longest = [max(job.duration, job.real_duration) for job in self.jobs]
        last = max((job.submit for job in self.jobs), default=0) + sum(longest)
        if last > LATEST:
            raise InputError(f"submits and durations add up to {last} s: too long", field="jobs")
        return self

    @staticmethod
    def _check_resources(amounts: Amounts, known: set[str], field: str) -> None:
        for name in amounts:
            if name not in known:
                raise InputError("is not a declared resource", field=field, value=name)

    @property
    def number_of_nodes(self) -> int:
        """N."""
        return len(self.nodes)

    @property
    def number_of_jobs(self) -> int:
        """J."""
        return len(self.jobs)

    @property
    def number_of_resources(self) -> int:
        """R, power not counted."""
        return len(self.resources)

    @cached_property
    def idle_power(self) -> float:
        """Watts that all nodes draw without a job."""
        return float(sum(node.idle_power for node in self.nodes))

    @cached_property
    def node_index(self) -> dict[str, int]:
        """Index of each node by name."""
        return {node.name: n for n, node in enumerate(self.nodes)}

    @cached_property
    def arrays(self) -> DispatchArrays:
        """The instance as flat arrays, for kernels."""
        from models.dispatch.arrays import make_arrays

        return make_arrays(self)

    @cached_property
    def why_impossible(self) -> tuple[str | None, ...]:
        """Per job: why it can never run (P3), None if it can."""
        from models.dispatch.reach import why_impossible

        return why_impossible(self)

    @property
    def why_infeasible(self) -> str:
        """Why there is no schedule at all; empty if there is one."""
        if self.power_cap is None or self.idle_power <= self.arrays.cap_limit:
            return ""
        return f"the idle system draws {self.idle_power:g} W, above the cap of {self.power_cap:g} W"


def load_instance(path: str | Path) -> DispatchInstance:
    """Read an instance file.

    Raises
    ------
    InputError
        One line naming file, field, rule and value.
    """
    return read_model(DispatchInstance, path)


def save_instance(instance: DispatchInstance, path: str | Path) -> None:
    """Write an instance file, atomically."""
    write_model(instance, path)
