"""Arrival streams that are not independent draws: bursts, the adversary's flip, a trace."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.files import InputError
from models.multiserver.arrivals import ListArrivals

__all__ = [
    "LONGEST_LISTED",
    "STREAMS",
    "bursty_arrivals",
    "check_listed",
    "flip_arrivals",
    "listed",
    "named_stream",
    "trace_arrivals",
]

STREAMS = ("bernoulli", "bursty", "flip")
MEAN_BURST = 20.0  # slots
LONGEST_LISTED = 10_000_000
"""Streams that are written out slot by slot have at most so many."""


def listed(table: ArrayLike) -> ListArrivals:
    """Write a table, shape (slots, ports), as a list of the ports that arrive in each slot."""
    rows: Iterable[NDArray[np.bool_]] = np.asarray(table, dtype=bool)
    ports = tuple(tuple(int(i) for i in row.nonzero()[0]) for row in rows)
    return ListArrivals(kind="list", slots=len(ports), ports=ports)


def check_listed(slots: int) -> None:
    """Raise `InputError` for more slots than are written out."""
    if slots > LONGEST_LISTED:
        rule = f"must be at most {LONGEST_LISTED:,} where arrivals are written out"
        raise InputError(rule, field="slots", value=slots)


def bursty_arrivals(
    slots: int, ports: int, *, burst: float = 20.0, pause: float = 20.0, seed: int = 0
) -> ListArrivals:
    """Draw ports that are busy or quiet for a while, each a Markov chain with two states.

    Parameters
    ----------
    slots, ports : int
    burst, pause : float
        Mean lengths of the two, geometrically distributed, at least 1 [slots]. In a burst there
        is a job in every slot.
    seed : int
    """
    for name, value in (("burst", burst), ("pause", pause)):
        if not 1 <= value < np.inf:
            raise InputError("must be a number of at least 1", field=name, value=value)
    rng = np.random.Generator(np.random.PCG64(seed))
    busy = rng.random(ports) < burst / (burst + pause)  # the chain's long-run share
    table = np.zeros((slots, ports), dtype=bool)
    for t in range(slots):
        table[t] = busy
        leaves = rng.random(ports) < np.where(busy, 1 / burst, 1 / pause)
        busy = busy ^ leaves
    return listed(table)


def flip_arrivals(slots: int, share: float = 0.25) -> ListArrivals:
    """Two ports: the first alone until `share` of the slots, then the second alone.

    Against steps that die out: what was learnt before the flip is never unlearnt.
    """
    table = np.zeros((slots, 2), dtype=bool)
    turn = int(slots * share)
    table[:turn, 0] = True
    table[turn:, 1] = True
    return listed(table)


def trace_arrivals(
    times: ArrayLike, classes: ArrayLike, slots: int, ports: int, *, length: float
) -> ListArrivals:
    """Put a trace's jobs in slots, their class (modulo the ports) being the port.

    Parameters
    ----------
    times : array, shape (jobs,)
        Of submission; slot t holds t * length <= time < (t + 1) * length, later jobs are left out.
    classes : array of int, shape (jobs,)
    slots, ports : int
    length : float
        Of a slot, in the unit of `times`.

    Returns
    -------
    ListArrivals
        At most one job per port and slot, as the model has it: further ones are one.
    """
    if not 0 < length < np.inf:
        raise InputError("must be above 0", field="length", value=length)
    when = np.asarray(times, dtype=float)
    slot = np.floor_divide(when, length).astype(np.int64)
    inside = (slot >= 0) & (slot < slots)
    table = np.zeros((slots, ports), dtype=bool)
    table[slot[inside], np.asarray(classes, dtype=np.int64)[inside] % ports] = True
    return listed(table)


def named_stream(
    stream: str, slots: int, ports: int, *, probability: float = 0.7, seed: int = 0
) -> ListArrivals | None:
    """Return one of `STREAMS` with a port's long-run share of slots; None is for independent draws.

    Raises
    ------
    InputError
        For an unknown name, or numbers with which the stream cannot be.
    """
    if stream not in STREAMS:
        raise InputError(f"must be one of {', '.join(STREAMS)}", field="stream", value=stream)
    if stream != "bernoulli":
        check_listed(slots)
    if stream == "bursty":
        most = MEAN_BURST / (MEAN_BURST + 1)  # a pause lasts one slot at least
        if not 0 < probability <= most:
            rule = f"must be above 0 and at most {most:.4g} with bursts"
            raise InputError(rule, field="probability", value=probability)
        pause = MEAN_BURST * (1 - probability) / probability
        return bursty_arrivals(slots, ports, burst=MEAN_BURST, pause=max(pause, 1.0), seed=seed)
    if stream == "flip":
        if ports != 2:
            raise InputError("must be 2 with the flip stream", field="ports", value=ports)
        return flip_arrivals(slots)
    return None
