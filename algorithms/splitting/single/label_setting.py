"""Waiting charged once per node: eq. (6), exactly.

The per-visit route comes first. It is optimal unless coming back to a node can pay, which is
rare and found out at once (`find_returns`). Otherwise two lower bounds are computed, and where
they lie below the route, labels are searched in their order.
"""

from __future__ import annotations

import numpy as np

from algorithms.splitting.single.answer import SingleAnswer
from algorithms.splitting.single.kernels import (
    ROUNDING,
    completion,
    find_returns,
    least_rest,
    search_labels,
)
from algorithms.splitting.single.network_arrays import Waiting, waiting
from algorithms.splitting.single.per_visit import PerVisitRouter, route_from
from models.splitting import Queues, SplittingInstance

__all__ = ["MOST_LABELS", "ExactRouter"]

MOST_LABELS = 1_000_000
"""Labels that one search may make: about 100 MB, and 16 bytes more for every 62 nodes."""


class ExactRouter:
    """Best routes by eq. (6), for the jobs of one instance.

    Parameters
    ----------
    instance : SplittingInstance
    most_labels : int
        Beyond so many labels a search is given up, and the integer program (6)-(10) is solved.

    Attributes
    ----------
    slack : float
    counters : dict
        ``searches``, ``label_searches``, ``labels``, ``integer_programs``.
    """

    slack = 1e-11

    def __init__(self, instance: SplittingInstance, most_labels: int = MOST_LABELS) -> None:
        self.instance = instance
        self.most_labels = most_labels
        self.counters = {"searches": 0, "label_searches": 0, "labels": 0, "integer_programs": 0}
        self._per_visit = PerVisitRouter(instance)
        self._per_visit.counters = self.counters
        shape = self._per_visit._arrived.shape
        self._rest, self._shared_rest = np.empty(shape), np.empty(shape)
        self._indices = np.empty(instance.number_of_nodes, dtype=np.int64)

    def route(self, job: int, queues: Queues) -> SingleAnswer | None:
        """Return a best route of a job behind the queues, None if it has no route.

        Raises
        ------
        SolverError
            If there were too many labels and the integer program was not solved either.
        """
        wait = waiting(self.instance, self._per_visit.network, queues)
        known = self._per_visit.search(job, wait)
        if known is None:
            return None
        known = SingleAnswer(known.route, known.seconds, known.seconds)
        data = self.instance.jobs[job]
        if data.number_of_layers < 3:
            return known
        count, possible = find_returns(
            self._per_visit.network, wait, data.compute, data.data, self._indices
        )
        return self._improve(job, queues, wait, known, count) if possible else known

    def _improve(
        self, job: int, queues: Queues, wait: Waiting, known: SingleAnswer, count: int
    ) -> SingleAnswer:
        """Find a better route, or prove that there is none."""
        instance, own = self.instance, self._per_visit
        data = instance.jobs[job]
        L = data.number_of_layers
        share = (1 - 1e-15 * L) / L
        source, destination = int(instance.source[job]), int(instance.destination[job])
        rest, shared_rest = self._rest[: L + 1], self._shared_rest[: L + 1]
        self.counters["label_searches"] += 1
        for part, table in ((share, shared_rest), (0.0, rest)):
            least_rest(
                own.network,
                wait,
                part,
                data.compute,
                data.data,
                source,
                destination,
                known.seconds,
                table,
            )
            if table[0, source] >= known.seconds * (1 - ROUNDING):
                return known
        outcome, _, number, labels = search_labels(
            own.network,
            wait,
            data.compute,
            data.data,
            source,
            destination,
            self._indices,
            count,
            rest,
            shared_rest,
            share,
            known.seconds,
            self.most_labels,
            own._chosen,
            own._hops,
        )
        self.counters["labels"] += labels
        if outcome == 0:
            return known
        if outcome < 0:
            return self._integer_program(job, queues, known)
        chosen, hops = own._chosen[:L], own._hops[:number]
        seconds = completion(own.network, wait, data.compute, data.data, chosen, hops)
        return SingleAnswer(route_from(chosen, hops), seconds, seconds)

    def _integer_program(self, job: int, queues: Queues, known: SingleAnswer) -> SingleAnswer:
        # Needs a solver, which is loaded only here.
        from algorithms.splitting.single.linear_program import solve_integer

        self.counters["integer_programs"] += 1
        found = solve_integer(self.instance, job, queues)
        return found if found.seconds < known.seconds else known
