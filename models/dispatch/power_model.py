"""The power model that generated and imported jobs follow, and caps given in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from models.dispatch.instance import Node
from models.files import InputError

__all__ = ["IDLE", "WATTS", "busy_power", "power_of", "read_cap"]

IDLE = 100.0
"""Watts of a node without a job."""

WATTS = {"cores": 9.0, "gpus": 110.0, "mics": 100.0}
"""Watts above idle of one busy core or accelerator. Ours; the source states none."""


def power_of(amounts: Mapping[str, float]) -> float:
    """Watts above idle that busy resources draw."""
    return sum(WATTS[name] * amount for name, amount in amounts.items() if name in WATTS)


def busy_power(nodes: Sequence[Node]) -> float:
    """Watts above idle with everything busy."""
    return sum(power_of(node.capacity) for node in nodes)


def read_cap(text: str, nodes: Sequence[Node]) -> float | None:
    """Read a cap: ``none``, watts, or per cent of the busy power above idle.

    Parameters
    ----------
    text : str
        ``"35%"`` is the idle system plus 35 % of what everything busy draws above it.
    nodes : sequence of Node

    Raises
    ------
    InputError
        If it is neither.
    """
    words = text.strip().lower()
    if words == "none":
        return None
    share = words.endswith("%")
    try:
        number = float(words.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not (0 <= number < 1e15):  # NaN too
        raise InputError("must be watts, per cent such as 50%, or none", field="cap", value=text)
    if not share:
        return number
    idle = sum(node.idle_power for node in nodes)
    return round(idle + number / 100 * busy_power(nodes), 3)
