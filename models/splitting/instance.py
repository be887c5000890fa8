"""The splitting problem's data: a computing network and inference jobs, never changed."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from models.files import (
    FileModel,
    InputError,
    Name,
    NonNegative,
    check_unique,
    read_model,
    write_model,
)

__all__ = ["Job", "Layer", "Link", "Node", "SplittingInstance", "load_instance", "save_instance"]


class Node(FileModel):
    """A computer of the network.

    Attributes
    ----------
    name : str
    rate : float or None
        mu_u [operations/s]; 0 computes nothing (jobs may pass through), None is infinitely fast.
    queue : float
        Q_u [operations] of higher priority that are there at the start.
    compute_budget : float or None
        Operations over all jobs' layers at the node (problem "service"); None is no budget.
    memory : float or None
        Bytes over all jobs' layers at the node (problem "service"); None is no limit.
    """

    name: Name
    rate: NonNegative | None
    queue: NonNegative = 0.0
    compute_budget: NonNegative | None = None
    memory: NonNegative | None = None


class Link(FileModel):
    """A directed link; several links may join the same nodes.

    Attributes
    ----------
    name : str
    start, end : str
        Nodes, ``from`` and ``to`` in a file.
    rate : float or None
        mu_uv [bytes/s]; 0 is unusable, None is infinitely fast.
    queue : float
        Q_uv [bytes] of higher priority that are there at the start.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    name: Name
    start: Name = Field(alias="from")
    end: Name = Field(alias="to")
    rate: NonNegative | None
    queue: NonNegative = 0.0


class Layer(FileModel):
    """One layer of a job's network.

    Attributes
    ----------
    compute : float
        c_l [operations].
    output : float
        d_l [bytes].
    memory : float
        Bytes that the layer's parameters take at the node that computes it.
    """

    compute: NonNegative
    output: NonNegative
    memory: NonNegative


class Job(FileModel):
    """An inference job: data goes from source to destination and through all layers on its way.

    Attributes
    ----------
    name, source, destination : str
    input : float
        d_0 [bytes].
    layers : tuple of Layer
        The L >= 1 layers in order.
    """

    name: Name
    source: Name
    destination: Name
    input: NonNegative
    layers: Annotated[tuple[Layer, ...], Field(min_length=1)]

    @property
    def number_of_layers(self) -> int:
        """L."""
        return len(self.layers)

    @cached_property
    def compute(self) -> NDArray[np.float64]:
        """c_1..c_L [operations], shape (L,), read-only; entry k belongs to layer k + 1."""
        return _frozen([layer.compute for layer in self.layers])

    @cached_property
    def data(self) -> NDArray[np.float64]:
        """d_0..d_L [bytes], shape (L + 1,), read-only; entry 0 is the input."""
        return _frozen([self.input, *(layer.output for layer in self.layers)])

    @cached_property
    def memory(self) -> NDArray[np.float64]:
        """Bytes of each layer's parameters, shape (L,), read-only."""
        return _frozen([layer.memory for layer in self.layers])


class SplittingInstance(FileModel):
    """An instance; the file format is in the README and `schedlab splitting schema`.

    Attributes
    ----------
    nodes : tuple of Node
    links : tuple of Link
    jobs : tuple of Job

    Raises
    ------
    InputError
        From `load_instance`; direct construction raises pydantic's ValidationError.
    """

    kind: Literal["splitting"] = "splitting"
    version: Literal[1] = 1
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    links: tuple[Link, ...]
    jobs: tuple[Job, ...]

    @model_validator(mode="after")
    def _names_and_times(self) -> SplittingInstance:
        check_unique((node.name for node in self.nodes), "nodes")
        check_unique((link.name for link in self.links), "links")
        check_unique((job.name for job in self.jobs), "jobs")
        known = {node.name for node in self.nodes}
        for e, link in enumerate(self.links):
            for label, name in (("from", link.start), ("to", link.end)):
                _check_node(name, known, f"links[{e}].{label}")
            if link.start == link.end:
                raise InputError(
                    "must differ from the node it comes from",
                    field=f"links[{e}].to",
                    value=link.end,
                )
        for j, job in enumerate(self.jobs):
            _check_node(job.source, known, f"jobs[{j}].source")
            _check_node(job.destination, known, f"jobs[{j}].destination")
        self._check_times()
        return self

    def _check_times(self) -> None:
        """Every time that can occur is a number: no quotient of work and rate overflows."""
        operations = sum(sum(layer.compute for layer in job.layers) for job in self.jobs)
        # A job's data may pass a link once per layer and per node on a detour.
        longest = len(self.nodes) + 1
        sent = sum(
            (job.input + sum(layer.output for layer in job.layers)) * longest for job in self.jobs
        )
        nodes = [(f"nodes[{u}]", n.rate, n.queue, operations) for u, n in enumerate(self.nodes)]
        links = [(f"links[{e}]", n.rate, n.queue, sent) for e, n in enumerate(self.links)]
        total = 0.0
        for where, rate, queue, work in [*nodes, *links]:
            if rate:
                total += (queue * longest + work) / rate
            if not math.isfinite(total + work):
                raise InputError(
                    "is too small for the work that there is: times overflow",
                    field=f"{where}.rate",
                    value=rate,
                )

    @property
    def number_of_nodes(self) -> int:
        """N."""
        return len(self.nodes)

    @property
    def number_of_links(self) -> int:
        """Number of directed links."""
        return len(self.links)

    @property
    def number_of_jobs(self) -> int:
        """J."""
        return len(self.jobs)

    @cached_property
    def node_index(self) -> dict[str, int]:
        """Index of each node by name."""
        return {node.name: u for u, node in enumerate(self.nodes)}

    @cached_property
    def link_index(self) -> dict[str, int]:
        """Index of each link by name."""
        return {link.name: e for e, link in enumerate(self.links)}

    @cached_property
    def node_rate(self) -> NDArray[np.float64]:
        """mu_u [operations/s], shape (nodes,), inf where infinite, read-only."""
        return _frozen([math.inf if n.rate is None else n.rate for n in self.nodes])

    @cached_property
    def node_queue(self) -> NDArray[np.float64]:
        """Q_u [operations], shape (nodes,), read-only."""
        return _frozen([node.queue for node in self.nodes])

    @cached_property
    def link_rate(self) -> NDArray[np.float64]:
        """mu_uv [bytes/s], shape (links,), inf where infinite, read-only."""
        return _frozen([math.inf if e.rate is None else e.rate for e in self.links])

    @cached_property
    def link_queue(self) -> NDArray[np.float64]:
        """Q_uv [bytes], shape (links,), read-only."""
        return _frozen([link.queue for link in self.links])

    @cached_property
    def link_start(self) -> NDArray[np.int64]:
        """Index of the node that a link leaves, shape (links,), read-only."""
        return _frozen_int([self.node_index[link.start] for link in self.links])

    @cached_property
    def link_end(self) -> NDArray[np.int64]:
        """Index of the node that a link reaches, shape (links,), read-only."""
        return _frozen_int([self.node_index[link.end] for link in self.links])

    @cached_property
    def source(self) -> NDArray[np.int64]:
        """Index of each job's source, shape (jobs,), read-only."""
        return _frozen_int([self.node_index[job.source] for job in self.jobs])

    @cached_property
    def destination(self) -> NDArray[np.int64]:
        """Index of each job's destination, shape (jobs,), read-only."""
        return _frozen_int([self.node_index[job.destination] for job in self.jobs])

    @cached_property
    def compute_budget(self) -> NDArray[np.float64]:
        """Operations that a node may compute in all, shape (nodes,), inf for none, read-only."""
        budgets = [n.compute_budget for n in self.nodes]
        return _frozen([math.inf if b is None else b for b in budgets])

    @cached_property
    def memory_budget(self) -> NDArray[np.float64]:
        """Bytes that a node may hold in all, shape (nodes,), inf for none, read-only."""
        return _frozen([math.inf if n.memory is None else n.memory for n in self.nodes])


def _check_node(name: str, known: set[str], field: str) -> None:
    if name not in known:
        raise InputError("is not a node of the network", field=field, value=name)


def _frozen(values: list[float]) -> NDArray[np.float64]:
    table = np.array(values, dtype=float)
    table.setflags(write=False)
    return table


def _frozen_int(values: list[int]) -> NDArray[np.int64]:
    table = np.array(values, dtype=np.int64)
    table.setflags(write=False)
    return table


def load_instance(path: str | Path) -> SplittingInstance:
    """Read an instance file.

    Raises
    ------
    InputError
        One line naming file, field, rule and value.
    """
    return read_model(SplittingInstance, path)


def save_instance(instance: SplittingInstance, path: str | Path) -> None:
    """Write an instance file, atomically."""
    write_model(instance, path)
