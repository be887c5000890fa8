r"""The whole problem in CP-SAT: every unit has one node, every node its own cumulatives.

.. math::

    \min \; & \sum_j \frac{\max_i ewt_i}{ewt_j} (s_j - q_j) & \text{(5.2)} \\
    & \sum_n x_{un} = 1 \quad \forall u \\
    & \text{cumulative}(s_{j(u)}, d_{j(u)}, req_{ur} x_{un}, cap_{nr}) \quad \forall n, r \\
    & \text{cumulative}(s, d, p, cap - idle)

Ours; the source has no such model. Proves cases of up to 4 nodes and 10 jobs in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.dispatch.arrays import with_slack
from models.dispatch.cp_sat import round_demands
from models.dispatch.instance import DispatchInstance
from models.dispatch.relaxed import RelaxedModel, build_relaxed

__all__ = ["NodeExactModel", "build_node_exact"]


@dataclass(frozen=True)
class NodeExactModel:
    """A CP-SAT model and its variables.

    Attributes
    ----------
    relaxed : RelaxedModel
        Model, starts and objective: the node-exact model is the relaxed one with more in it.
    on : dict of (unit, node) to BoolVar
        Whether the unit sits on the node; only where it fits alone.
    """

    relaxed: RelaxedModel
    on: dict[tuple[int, int], Any]

    @property
    def variables(self) -> list[Any]:
        """Starts of the possible jobs, then `on` in its order."""
        return [*self.relaxed.start, *self.on.values()]

    def hint(self, start: ArrayLike, unit_node: ArrayLike) -> None:
        """Give a schedule, shapes (J,) and (U,), for the search to begin with."""
        self.relaxed.hint(start)
        nodes = np.asarray(unit_node, dtype=np.int64)
        for (u, n), literal in self.on.items():
            self.relaxed.model.add_hint(literal, int(nodes[u] == n))

    def read(
        self, instance: DispatchInstance, values: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Starts (J,) and nodes of units (U,), -1 where there is none, of a solution."""
        start = np.full(instance.number_of_jobs, -1, dtype=np.int64)
        unit_node = np.full(len(instance.arrays.unit_job), -1, dtype=np.int64)
        number = len(self.relaxed.start)
        start[self.relaxed.jobs] = values[:number]
        for (u, n), chosen in zip(self.on, values[number:].tolist(), strict=True):
            if chosen:
                unit_node[u] = n
        return start, unit_node


def build_node_exact(
    instance: DispatchInstance, *, at_most: float | None = None, optimistic: bool = False
) -> NodeExactModel:
    """Build the node-exact model; parameters as of `build_relaxed`."""
    arrays = instance.arrays
    relaxed = build_relaxed(instance, at_most=at_most, optimistic=optimistic)
    model = relaxed.model
    on: dict[tuple[int, int], Any] = {}
    intervals: dict[tuple[int, int], Any] = {}
    for start, j in zip(relaxed.start, relaxed.jobs.tolist(), strict=True):
        for u in range(int(arrays.unit_first[j]), int(arrays.unit_first[j + 1])):
            fits = (arrays.unit_demand[u] <= arrays.capacity_limit).all(axis=1)
            for n in np.flatnonzero(fits).tolist():
                on[u, n] = model.new_bool_var(f"on_{u}_{n}")
                intervals[u, n] = model.new_optional_fixed_size_interval_var(
                    start, int(arrays.duration[j]), on[u, n], f"unit_{u}_{n}"
                )
            model.add_exactly_one(on[u, n] for n in np.flatnonzero(fits).tolist())
    for r in range(instance.number_of_resources):
        for n in range(instance.number_of_nodes):
            units = [u for u, node in on if node == n and arrays.unit_demand[u, r] > 0]
            demands, room = round_demands(
                arrays.unit_demand[units, r],
                float(with_slack(arrays.capacity[n, r])),
                optimistic=optimistic,
            )
            if sum(demands) > room:
                model.add_cumulative([intervals[u, n] for u in units], demands, room)
    return NodeExactModel(relaxed, on)
