"""What the compiled dispatching reads: jobs and nodes, their order, and what turns out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "EASY",
    "NEVER",
    "POWER",
    "PRIORITY",
    "RESOURCE",
    "SKIP",
    "STOP",
    "Order",
    "Problem",
    "Reality",
]

SKIP, STOP, EASY = 0, 1, 2
"""What a job that does not fit does to those behind it: nothing, blocks them, or reserves."""

RESOURCE, POWER, PRIORITY = 0, 1, 2
"""Why a job waits: no room on the nodes; no power; others go before it.

Looked at first is power, then power beside a reservation, then the nodes, then the nodes beside it.
"""

NEVER = np.int64(2**62)
"""A time that does not come."""


class Problem(NamedTuple):
    """What kernels read; shapes as in `DispatchArrays`.

    `power` is what a job must find free to start. `unit_class` numbers equal demands; `packed`
    has the nodes of jobs which the order of nodes misplaces on the empty system, from the exact
    search (P3), and -1 elsewhere.
    """

    capacity: Any
    limit: Any
    headroom: float
    duration: Any
    power: Any
    unit_first: Any
    unit_demand: Any
    unit_class: Any
    packed: Any


class Reality(NamedTuple):
    """What turns out, per job: seconds from start to end, and watts."""

    duration: Any
    power: Any


class Order(NamedTuple):
    """Order of jobs and nodes as numbers.

    Of waiting jobs, the first has the most (t - q + 1) / pace + offset, then the least tie, then
    is first in the file. A quotient of whole numbers is rounded once: equal ones stay equal.
    Nodes go by sign * (sum of free/capacity), ascending.
    """

    pace: Any
    offset: Any
    tie: Any
    sign: float
