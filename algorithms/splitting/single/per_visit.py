"""Waiting charged per visit: a shortest path, and an upper bound of eq. (6).

A node's waiting is charged once per run of consecutive layers computed there. Then the problem is
a shortest path over 2 N (L + 1) vertices. It differs from eq. (6) only for routes that come back
to compute at a node after layers computed elsewhere.
"""

from __future__ import annotations

from algorithms.splitting.single.answer import SingleAnswer
from algorithms.splitting.single.searcher import Searcher
from models.splitting import Queues, SplittingInstance

__all__ = ["PerVisitRouter"]


class PerVisitRouter:
    """Routes with waiting charged per visit, for the jobs of one instance.

    It is exact (eq. 6) if L <= 2, if no node has a queue, and generally if its route is no
    dearer than the LP bound; see `algorithms.splitting.single.label_setting`.

    Parameters
    ----------
    instance : SplittingInstance

    Attributes
    ----------
    slack : float
    counters : dict
    """

    slack = 1e-12

    def __init__(self, instance: SplittingInstance) -> None:
        self._searcher = Searcher(instance, exact=False, most_labels=0)
        self.counters = {"searches": 0}

    def route(self, job: int, queues: Queues) -> SingleAnswer | None:
        """Return the best route with waiting charged per visit, None if there is none."""
        self.counters["searches"] += 1
        found = self._searcher.search(job, queues)
        if found.route is None:
            return None
        return SingleAnswer(found.route, found.seconds, found.charged)
