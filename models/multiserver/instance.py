"""The multiserver problem's data: ports, computing instances, edges; validated, never changed."""

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
    check_unique,
    read_model,
    write_model,
)
from models.multiserver.arrivals import Arrivals, FileArrivals
from models.multiserver.gains import GainFunction

__all__ = [
    "ComputingInstance",
    "Gain",
    "MultiserverInstance",
    "Port",
    "load_instance",
    "save_instance",
]

LARGEST = 1e60  # of an amount, so that squares and sums of them are numbers


class Port(FileModel):
    """A job type: jobs of this type arrive here, at most one per slot.

    Attributes
    ----------
    name : str
    request : mapping of resource name to float
        a[l,k], the most of a resource that a job takes from one computing instance.
    """

    name: Name
    request: Amounts


class ComputingInstance(FileModel):
    """A server.

    Attributes
    ----------
    name : str
    capacity : mapping of resource name to float
        c[r,k].
    """

    name: Name
    capacity: Amounts


class Gain(FileModel):
    """What allocated resources are worth to a job.

    Attributes
    ----------
    form : "sum" or "channel"
        sum: f_k of the job's total of resource k (eq. 7); channel: the sum over computing
        instances r of f_rk of what it has there.
    resources : mapping of resource name to GainFunction
        For every resource.
    instances : mapping of instance name to (resource name to GainFunction), optional
        f_rk where it differs from f_k; form channel only.
    """

    form: Literal["sum", "channel"]
    resources: dict[Name, GainFunction]
    instances: dict[Name, dict[Name, GainFunction]] = Field(default_factory=dict)


class MultiserverInstance(FileModel):
    """An instance; the file format is in the README and `schedlab multiserver schema`.

    Attributes
    ----------
    resources : tuple of str
        The K resource names, in the order of all arrays.
    ports : tuple of Port
        The L job types.
    instances : tuple of ComputingInstance
        The R servers.
    edges : tuple of (port name, instance name)
        Which servers a job type may use.
    gain : Gain
    overhead : mapping of resource name to float
        beta_k >= 0.
    arrivals : BernoulliArrivals, ListArrivals or FileArrivals

    Raises
    ------
    InputError
        From `load_instance`; direct construction raises pydantic's ValidationError.
    """

    kind: Literal["multiserver"] = "multiserver"
    version: Literal[1] = 1
    resources: Annotated[tuple[Name, ...], Field(min_length=1)]
    ports: tuple[Port, ...]
    instances: tuple[ComputingInstance, ...]
    edges: tuple[tuple[Name, Name], ...]
    gain: Gain
    overhead: Amounts
    arrivals: Arrivals

    @model_validator(mode="after")
    def _names_and_amounts(self) -> MultiserverInstance:
        for k, name in enumerate(self.resources):
            if name in self.resources[:k]:
                raise InputError("names must be unique", field=f"resources[{k}]", value=name)
        check_unique((port.name for port in self.ports), "ports")
        check_unique((instance.name for instance in self.instances), "instances")
        self._check_amounts()
        self._check_edges()
        self._check_gain()
        try:
            self.arrivals.check(len(self.ports))
        except InputError as error:
            raise InputError(
                error.rule, field=f"arrivals.{error.field}", value=error.value
            ) from None
        return self

    def _check_amounts(self) -> None:
        tables = [(f"ports[{i}].request", port.request) for i, port in enumerate(self.ports)]
        tables += [(f"instances[{r}].capacity", s.capacity) for r, s in enumerate(self.instances)]
        tables.append(("overhead", self.overhead))
        for field, amounts in tables:
            for resource, amount in amounts.items():
                if resource not in self.resources:
                    raise InputError(
                        f"is not one of the declared resources ({', '.join(self.resources)})",
                        field=f"{field}.{resource}",
                        value=amount,
                    )
                if amount > LARGEST:
                    raise InputError(
                        f"must be at most {LARGEST:g}", field=f"{field}.{resource}", value=amount
                    )

    def _check_edges(self) -> None:
        ports = {port.name for port in self.ports}
        instances = {instance.name for instance in self.instances}
        seen: set[tuple[str, str]] = set()
        for e, edge in enumerate(self.edges):
            if edge[0] not in ports:
                raise InputError("is not a port", field=f"edges[{e}][0]", value=edge[0])
            if edge[1] not in instances:
                raise InputError("is not an instance", field=f"edges[{e}][1]", value=edge[1])
            if edge in seen:
                raise InputError("must not repeat an edge", field=f"edges[{e}]", value=list(edge))
            seen.add(edge)

    def _check_gain(self) -> None:
        for resource in self.resources:
            if resource not in self.gain.resources:
                raise InputError("must name every resource", field="gain.resources", value=resource)
        if self.gain.form == "sum" and self.gain.instances:
            raise InputError("is for the form channel only", field="gain.instances")
        names = {instance.name for instance in self.instances}
        for name in self.gain.instances:
            if name not in names:
                raise InputError("is not an instance", field=f"gain.instances.{name}")
        tables = [("gain.resources", self.gain.resources)]
        tables += [(f"gain.instances.{r}", table) for r, table in self.gain.instances.items()]
        for field, table in tables:
            for resource in table:
                if resource not in self.resources:
                    raise InputError(
                        f"is not one of the declared resources ({', '.join(self.resources)})",
                        field=f"{field}.{resource}",
                    )

    @property
    def slots(self) -> int:
        """T."""
        return self.arrivals.slots

    @property
    def number_of_ports(self) -> int:
        """L."""
        return len(self.ports)

    @property
    def number_of_instances(self) -> int:
        """R."""
        return len(self.instances)

    @property
    def number_of_resources(self) -> int:
        """K."""
        return len(self.resources)

    @property
    def number_of_edges(self) -> int:
        """|E|."""
        return len(self.edges)

    @cached_property
    def request(self) -> NDArray[np.float64]:
        """a[l,k], shape (ports, resources), read-only."""
        return self._table([port.request for port in self.ports])

    @cached_property
    def capacity(self) -> NDArray[np.float64]:
        """c[r,k], shape (instances, resources), read-only."""
        return self._table([instance.capacity for instance in self.instances])

    @cached_property
    def overhead_rate(self) -> NDArray[np.float64]:
        """beta_k, shape (resources,), read-only."""
        return self._table([self.overhead])[0]

    def _table(self, rows: list[Amounts]) -> NDArray[np.float64]:
        table = np.array(
            [[row.get(resource, 0.0) for resource in self.resources] for row in rows], dtype=float
        ).reshape(len(rows), len(self.resources))
        table.setflags(write=False)
        return table

    @cached_property
    def steepest(self) -> float:
        """w, the greatest f'(0) over resources (form sum) and instances (form channel)."""
        functions = list(self.gain.resources.values())
        for table in self.gain.instances.values():
            functions += table.values()
        slopes = {"linear": 1.0, "log": 1.0, "poly": 0.5}
        return max(
            slopes[f.kind] * f.scale if f.kind in slopes else 1 / f.scale**2 for f in functions
        )

    @cached_property
    def diameter(self) -> float:
        """D of Theorem 1: D^2 = 2 sum_k (max_l a[l,k]) sum_r c[r,k]."""
        largest = self.request.max(axis=0, initial=0.0)
        return math.sqrt(2 * float(largest @ self.capacity.sum(axis=0)))

    @cached_property
    def gradient_bound(self) -> float:
        """G of Theorem 1: G^2 = sum over edges of (beta_max^2 + K w^2)."""
        overhead = float(self.overhead_rate.max(initial=0.0))
        per_edge = overhead**2 + self.number_of_resources * self.steepest**2
        return math.sqrt(self.number_of_edges * per_edge)


def load_instance(path: str | Path) -> MultiserverInstance:
    """Read an instance file, and the file of arrivals that it names.

    Raises
    ------
    InputError
        One line naming file, field, rule and value.
    """
    instance = read_model(MultiserverInstance, path)
    if isinstance(instance.arrivals, FileArrivals):
        instance.arrivals.attach(Path(path).parent)
        try:
            instance.arrivals.check(instance.number_of_ports)
        except InputError as error:
            source = str(Path(path).parent / instance.arrivals.path)
            raise InputError(
                error.rule, source=source, field=error.field, value=error.value
            ) from None
    return instance


def save_instance(instance: MultiserverInstance, path: str | Path) -> None:
    """Write an instance file, atomically; a file of arrivals that it names is not copied."""
    write_model(instance, path)
