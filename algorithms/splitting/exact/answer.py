"""What an exact method proves: an interval, and the routes of its upper end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from models.splitting import Route

__all__ = ["CLAIMED", "SOUGHT", "Answer", "interval"]

CLAIMED = 1e-8
"""Relative width at which an interval counts as closed."""

SOUGHT = 1e-9
"""Relative gap at which the integer programs stop."""


@dataclass(frozen=True)
class Answer:
    """An interval that holds the optimum.

    Attributes
    ----------
    status : {"optimal", "bounded", "infeasible"}
        "bounded" if time or work ended first; then there may be no routes.
    lower, upper : float
        Seconds; the upper end is attained by the routes, and inf without any.
    routes : tuple of Route or None
        One per job.
    order : tuple of int or None
        Jobs from the highest priority to the lowest, in problem "completion".
    reason : str
        Why it is infeasible.
    relaxation : float
        Value of the LP relaxation [s], 0 where none was solved.
    counters : mapping of str to int
    """

    status: Literal["optimal", "bounded", "infeasible"]
    lower: float
    upper: float
    routes: tuple[Route, ...] | None = None
    order: tuple[int, ...] | None = None
    reason: str = ""
    relaxation: float = 0.0
    counters: Mapping[str, int] = field(default_factory=dict)


def interval(
    lower: float,
    upper: float,
    routes: Sequence[Route] | None,
    order: Sequence[int] | None = None,
    relaxation: float = 0.0,
    counters: Mapping[str, int] | None = None,
) -> Answer:
    """Make the answer of an interval; a solver's bound, which has a tolerance, gives way."""
    lower = min(lower, upper)
    closed = routes is not None and upper - lower <= CLAIMED * upper
    return Answer(
        status="optimal" if closed else "bounded",
        lower=lower,
        upper=upper,
        routes=None if routes is None else tuple(routes),
        order=None if order is None else tuple(order),
        relaxation=relaxation,
        counters=dict(counters or {}),
    )
