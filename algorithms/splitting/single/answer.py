"""What a search for one job's route gives back, and what every such search looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from models.splitting import Queues, Route

__all__ = ["Router", "SingleAnswer"]


@dataclass(frozen=True)
class SingleAnswer:
    """A route behind given queues.

    Attributes
    ----------
    route : Route
    seconds : float
        The route's completion time, eq. (6).
    charged : float
        The amount that the search minimised: `seconds` up to rounding if it is exact, no less if
        it charges waiting per visit.
    """

    route: Route
    seconds: float
    charged: float


class Router(Protocol):
    """A way to solve (6)-(10) for the jobs of one instance.

    Attributes
    ----------
    slack : float
        Relative error of `charged`.
    counters : dict of str to int
        Work done so far.
    """

    slack: float
    counters: dict[str, int]

    def route(self, job: int, queues: Queues) -> SingleAnswer | None:
        """Return a best route of a job behind the queues, None if it has no route."""
        ...
