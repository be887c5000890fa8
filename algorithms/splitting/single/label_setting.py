"""Waiting charged once per node: eq. (6), exactly.

The per-visit route comes first. It is optimal unless coming back to a node can pay, which is
rare and found out at once. Otherwise two lower bounds are computed, and where they lie below the
route, labels are searched in their order.
"""

from __future__ import annotations

from algorithms.splitting.single.answer import SingleAnswer
from algorithms.splitting.single.kernels import PROVED, TOO_MANY_LABELS
from algorithms.splitting.single.searcher import Searcher
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
        self.counters = {"searches": 0, "label_searches": 0, "labels": 0, "integer_programs": 0}
        self._searcher = Searcher(instance, exact=True, most_labels=most_labels)

    def route(self, job: int, queues: Queues) -> SingleAnswer | None:
        """Return a best route of a job behind the queues, None if it has no route.

        Raises
        ------
        SolverError
            If there were too many labels and the integer program was not solved either.
        """
        self.counters["searches"] += 1
        found = self._searcher.search(job, queues)
        self.counters["label_searches"] += found.outcome >= PROVED
        self.counters["labels"] += found.labels
        if found.route is None:
            return None
        known = SingleAnswer(found.route, found.seconds, found.seconds)
        if found.outcome == TOO_MANY_LABELS:
            return self._integer_program(job, queues, known)
        return known

    def _integer_program(self, job: int, queues: Queues, known: SingleAnswer) -> SingleAnswer:
        # Needs a solver, which is loaded only here.
        from algorithms.splitting.single.linear_program import solve_integer

        self.counters["integer_programs"] += 1
        found = solve_integer(self.instance, job, queues)
        return found if found.seconds < known.seconds else known
