"""The instance as arrays over edges, sorted by computing instance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.multiserver.instance import MultiserverInstance

__all__ = ["EdgeLayout", "edge_layout"]

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class EdgeLayout:
    """Edges sorted by instance, then port: the columns of every allocation array.

    Attributes
    ----------
    port, instance : array of int, shape (edges,)
    first : array of int, shape (instances + 1,)
        Edges first[r] .. first[r + 1] - 1 end at instance r.
    cap : array, shape (edges, resources)
        a[l,k] of the edge's port.
    capacity : array, shape (instances, resources)
    overhead : array, shape (resources,)
    per_channel : bool
        Gain form channel.
    kind : array of int, shape (edges, resources)
        Place in `models.multiserver.gains.KINDS`; the same for all edges in the form sum.
    scale : array, shape (edges, resources)
    ports : int
    """

    port: Indices
    instance: Indices
    first: Indices
    cap: Reals
    capacity: Reals
    overhead: Reals
    per_channel: bool
    kind: Indices
    scale: Reals
    ports: int

    @property
    def edges(self) -> int:
        """|E|."""
        return len(self.port)

    @property
    def resources(self) -> int:
        """K."""
        return len(self.overhead)


def edge_layout(instance: MultiserverInstance) -> EdgeLayout:
    """Lay an instance out."""
    port_index = {port.name: i for i, port in enumerate(instance.ports)}
    instance_index = {server.name: r for r, server in enumerate(instance.instances)}
    pairs = sorted((instance_index[r], port_index[i]) for i, r in instance.edges)
    server = np.array([r for r, _ in pairs], dtype=np.int64)
    port = np.array([i for _, i in pairs], dtype=np.int64)
    functions = [
        {**instance.gain.resources, **instance.gain.instances.get(s.name, {})}
        for s in instance.instances
    ]
    shape = (instance.number_of_instances, instance.number_of_resources)
    kind = np.array(
        [[table[k].code for k in instance.resources] for table in functions], dtype=np.int64
    ).reshape(shape)
    scale = np.array(
        [[table[k].scale for k in instance.resources] for table in functions], dtype=float
    ).reshape(shape)
    return EdgeLayout(
        port=port,
        instance=server,
        first=np.searchsorted(server, np.arange(instance.number_of_instances + 1)).astype(np.int64),
        cap=np.ascontiguousarray(instance.request[port]),
        capacity=np.ascontiguousarray(instance.capacity),
        overhead=np.ascontiguousarray(instance.overhead_rate),
        per_channel=instance.gain.form == "channel",
        kind=np.ascontiguousarray(kind[server]),
        scale=np.ascontiguousarray(scale[server]),
        ports=instance.number_of_ports,
    )
