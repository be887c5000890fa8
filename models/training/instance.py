"""The training problem's data: machines, jobs, slots; validated once, then never changed."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from models.files import (
    Amounts,
    FileModel,
    InputError,
    Name,
    NonNegative,
    Positive,
    check_unique,
    read_model,
    write_model,
)
from models.training.throughput import JobReach, ceil_count, job_reach
from models.training.utility import SigmoidUtility

__all__ = ["Job", "Machine", "TrainingInstance", "load_instance", "save_instance"]

WORKLOAD_TOLERANCE = 1e-9  # D11
LARGEST_COUNT = 2**53  # beyond it a float no longer holds every whole number

Count = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]


class Machine(FileModel):
    """A machine and what it holds.

    Attributes
    ----------
    name : str
    capacity : mapping of resource name to float
        C[h,r] >= 0 in the resource's own unit; a resource that is left out is 0.
    """

    name: Name
    capacity: Amounts


class Job(FileModel):
    """A training job, in the symbols of arXiv 2108.02917, section "System Model".

    Attributes
    ----------
    name : str
    arrival : int
        a, the first slot in which the job may run.
    epochs, samples : int
        E and K; the workload is V = E*K samples.
    batch : int
        F, the global batch size and the most workers at once.
    gradient : float
        g [MB].
    sample_time : float
        tau [slots], time of one worker for one sample without communication.
    workers_per_ps : float
        gamma, a positive real.
    bandwidth_internal, bandwidth_external : float
        b_int >= b_ext > 0 [MB per slot].
    worker, ps : mapping of resource name to float
        alpha[r] and beta[r] >= 0, demands of one worker and of one parameter server (PS).
    utility : SigmoidUtility
        Utility of the job's duration.
    """

    name: Name
    arrival: Annotated[int, Field(ge=0)]
    epochs: Count
    samples: Count
    batch: Count
    gradient: NonNegative
    sample_time: Positive
    workers_per_ps: Positive
    bandwidth_internal: Positive
    bandwidth_external: Positive
    worker: Amounts
    ps: Amounts
    utility: SigmoidUtility

    @model_validator(mode="after")
    def _bandwidths_and_sizes(self) -> Job:
        if self.bandwidth_internal < self.bandwidth_external:
            raise InputError(
                f"must be at least bandwidth_external = {self.bandwidth_external:g}",
                field="bandwidth_internal",
                value=self.bandwidth_internal,
            )
        if self.workload > LARGEST_COUNT:
            raise InputError(
                "epochs * samples must be at most 2^53", field="epochs", value=self.epochs
            )
        if self.batch / self.workers_per_ps > LARGEST_COUNT:
            raise InputError(
                "is too small: batch / workers_per_ps must be at most 2^53",
                field="workers_per_ps",
                value=self.workers_per_ps,
            )
        if not (self.rate_internal < math.inf and self.rate_external > 0):
            raise InputError(
                "gives a rate of zero or infinity (with gradient, batch and bandwidths)",
                field="sample_time",
                value=self.sample_time,
            )
        if self.workload / self.rate_external == math.inf:
            raise InputError(
                "gives a rate at which the workload takes forever",
                field="sample_time",
                value=self.sample_time,
            )
        return self

    @property
    def workload(self) -> int:
        """V = E*K, samples to be processed, each counted once per epoch."""
        return self.epochs * self.samples

    @cached_property
    def rate_internal(self) -> float:
        """Samples per worker and slot where all workers and PSs sit on one machine (D1)."""
        return self._rate(self.bandwidth_internal)

    @cached_property
    def rate_external(self) -> float:
        """Samples per worker and slot otherwise (D1)."""
        return self._rate(self.bandwidth_external)

    def _rate(self, bandwidth: float) -> float:
        communication = 2 * self.gradient * self.workers_per_ps / (bandwidth * self.batch)
        return 1.0 / (self.sample_time + communication)

    def ps_for(self, workers: int) -> int:
        """Least number of PSs that `workers` workers need (D2)."""
        return ceil_count(workers / self.workers_per_ps)

    def workload_reached(self, samples: float) -> bool:
        """Whether so many samples complete the job, within D11's tolerance."""
        return samples >= self.workload * (1 - WORKLOAD_TOLERANCE)


class TrainingInstance(FileModel):
    """An instance of DMLRS; the file format is in the README and `schedlab training schema`.

    Attributes
    ----------
    slots : int
        T, slots are 0..T-1.
    resources : tuple of str
        The R resource names, in the order of all arrays.
    machines : tuple of Machine
    jobs : tuple of Job

    Raises
    ------
    InputError
        From `load_instance`; direct construction raises pydantic's ValidationError.
    """

    kind: Literal["training"] = "training"
    version: Literal[1] = 1
    slots: Count
    resources: Annotated[tuple[Name, ...], Field(min_length=1)]
    machines: Annotated[tuple[Machine, ...], Field(min_length=1)]
    jobs: tuple[Job, ...]

    @model_validator(mode="after")
    def _names_and_arrivals(self) -> TrainingInstance:
        known: dict[str, int] = {}
        for index, resource in enumerate(self.resources):
            if resource in known:
                raise InputError(
                    "names must be unique", field=f"resources[{index}]", value=resource
                )
            known[resource] = index
        check_unique((machine.name for machine in self.machines), "machines")
        check_unique((job.name for job in self.jobs), "jobs")
        for h, machine in enumerate(self.machines):
            self._check_resources(machine.capacity, f"machines[{h}].capacity")
        for resource in self.resources:
            amounts = [machine.capacity.get(resource, 0.0) for machine in self.machines]
            if self.slots * sum(amounts) == math.inf:
                h = amounts.index(max(amounts))
                raise InputError(
                    "is too large: the total over machines and slots overflows",
                    field=f"machines[{h}].capacity.{resource}",
                    value=amounts[h],
                )
        for i, job in enumerate(self.jobs):
            self._check_resources(job.worker, f"jobs[{i}].worker")
            self._check_resources(job.ps, f"jobs[{i}].ps")
            if job.arrival >= self.slots:
                raise InputError(
                    f"must be a slot of the horizon, 0..{self.slots - 1}",
                    field=f"jobs[{i}].arrival",
                    value=job.arrival,
                )
            if job.utility.log_value(self.slots - 1 - job.arrival) == -math.inf:
                raise InputError(
                    "is too large: decay times the longest duration overflows",
                    field=f"jobs[{i}].utility.decay",
                    value=job.utility.decay,
                )
        return self

    def _check_resources(self, amounts: Amounts, field: str) -> None:
        for resource, amount in amounts.items():
            if resource not in self.resources:
                raise InputError(
                    f"is not one of the declared resources ({', '.join(self.resources)})",
                    field=f"{field}.{resource}",
                    value=amount,
                )

    @property
    def number_of_machines(self) -> int:
        """H."""
        return len(self.machines)

    @property
    def number_of_jobs(self) -> int:
        """I."""
        return len(self.jobs)

    @cached_property
    def capacity(self) -> NDArray[np.float64]:
        """C[h,r], shape (machines, resources), read-only."""
        return self._table([machine.capacity for machine in self.machines])

    @cached_property
    def worker_demand(self) -> NDArray[np.float64]:
        """alpha[i,r], shape (jobs, resources), read-only."""
        return self._table([job.worker for job in self.jobs])

    @cached_property
    def ps_demand(self) -> NDArray[np.float64]:
        """beta[i,r], shape (jobs, resources), read-only."""
        return self._table([job.ps for job in self.jobs])

    def _table(self, rows: list[Amounts]) -> NDArray[np.float64]:
        table = np.array(
            [[row.get(resource, 0.0) for resource in self.resources] for row in rows], dtype=float
        ).reshape(len(rows), len(self.resources))
        table.setflags(write=False)
        return table

    @cached_property
    def reach(self) -> tuple[JobReach, ...]:
        """What each job could do alone on the empty cluster (D5), one entry per job."""
        return tuple(
            job_reach(self.slots, self.capacity, job, self.worker_demand[i], self.ps_demand[i])
            for i, job in enumerate(self.jobs)
        )

    @cached_property
    def possible_jobs(self) -> tuple[int, ...]:
        """Indices of the jobs that some schedule could complete alone (D5)."""
        return tuple(i for i, reach in enumerate(self.reach) if reach.possible)


def load_instance(path: str | Path) -> TrainingInstance:
    """Read an instance file.

    Raises
    ------
    InputError
        One line naming file, field, rule and value.
    """
    return read_model(TrainingInstance, path)


def save_instance(instance: TrainingInstance, path: str | Path) -> None:
    """Write an instance file, atomically."""
    write_model(instance, path)
