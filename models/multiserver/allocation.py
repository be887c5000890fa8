"""The solution file of the multiserver problem: a run's rewards and allocations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from models.files import FileModel, Name, read_model, write_model
from models.multiserver.instance import MultiserverInstance
from models.multiserver.layout import EdgeLayout

__all__ = [
    "LONGEST_WRITTEN",
    "Entry",
    "MultiserverRun",
    "allocation_entries",
    "allocation_table",
    "build_run",
    "load_run",
    "save_run",
]

LONGEST_WRITTEN = 100_000
"""Runs of more slots than this do not write the rewards of every slot."""

Reals = NDArray[np.float64]
Entry = tuple[Name, Name, Name, float]
"""Port, computing instance, resource, amount."""


class MultiserverRun(FileModel):
    """A solution file.

    Attributes
    ----------
    policy : str
    protocol : "committed" or "lookahead"
        Whether the allocation of a slot is fixed before its arrivals are seen.
    step, projection : str or None
        None for policies that have none.
    objective : float
        Total reward.
    rewards : tuple of float or None
        By slot; None when there are over 100,000 slots.
    final : tuple of Entry
        The last allocation, without its zeros.
    history : tuple of tuple of Entry, or None
        The allocation rewarded in each slot.
    """

    kind: Literal["multiserver-run"] = "multiserver-run"
    version: Literal[1] = 1
    policy: Name
    protocol: Literal["committed", "lookahead"]
    step: Name | None = Field(...)
    projection: Literal["exact", "paper"] | None = Field(...)
    objective: float
    rewards: tuple[float, ...] | None = Field(...)
    final: tuple[Entry, ...]
    history: tuple[tuple[Entry, ...], ...] | None = Field(...)


def allocation_entries(
    instance: MultiserverInstance, layout: EdgeLayout, allocation: Reals
) -> tuple[Entry, ...]:
    """Write an allocation, shape (edges, resources), by name and without its zeros."""
    edges, resources = np.nonzero(allocation)
    return tuple(
        (
            instance.ports[layout.port[e]].name,
            instance.instances[layout.instance[e]].name,
            instance.resources[k],
            float(allocation[e, k]),
        )
        for e, k in zip(edges, resources, strict=True)
    )


def allocation_table(
    instance: MultiserverInstance, layout: EdgeLayout, entries: Iterable[Entry]
) -> Reals:
    """Read an allocation of the file back, shape (edges, resources).

    Raises
    ------
    KeyError
        For an entry that is on no edge; the audit reports it.
    """
    place = {
        (instance.ports[port].name, instance.instances[server].name): e
        for e, (port, server) in enumerate(zip(layout.port, layout.instance, strict=True))
    }
    resource_index = {name: k for k, name in enumerate(instance.resources)}
    table = np.zeros((layout.edges, layout.resources))
    for port, server, resource, amount in entries:
        table[place[port, server], resource_index[resource]] += amount
    return table


def build_run(
    instance: MultiserverInstance,
    layout: EdgeLayout,
    final: Reals,
    *,
    policy: str,
    protocol: Literal["committed", "lookahead"],
    objective: float,
    rewards: Reals | None,
    step: str | None = None,
    projection: Literal["exact", "paper"] | None = None,
    history: Sequence[Reals] | None = None,
) -> MultiserverRun:
    """Make the solution file's content from arrays; allocations are by edge of the layout."""
    written = None
    if rewards is not None and len(rewards) <= LONGEST_WRITTEN:
        written = tuple(float(reward) for reward in rewards)
    return MultiserverRun(
        policy=policy,
        protocol=protocol,
        step=step,
        projection=projection,
        objective=float(objective),
        rewards=written,
        final=allocation_entries(instance, layout, final),
        history=None
        if history is None
        else tuple(allocation_entries(instance, layout, table) for table in history),
    )


def load_run(path: str | Path) -> MultiserverRun:
    """Read a solution file; raises `InputError` naming file, field, rule and value."""
    return read_model(MultiserverRun, path)


def save_run(run: MultiserverRun, path: str | Path) -> None:
    """Write a solution file, atomically."""
    write_model(run, path)
