"""Arrivals from a cluster trace: its jobs' scheduling classes decide the ports."""

from __future__ import annotations

import numpy as np

from models.files import InputError
from models.google_trace import HIGHEST_CLASS, MICROSECONDS_PER_MINUTE, Submits
from models.multiserver.arrivals import ListArrivals
from models.multiserver.streams import check_listed, trace_arrivals

__all__ = ["MICROSECONDS", "stream_of_trace"]

MICROSECONDS = MICROSECONDS_PER_MINUTE // 60
"""In a second."""


def stream_of_trace(
    submits: Submits,
    slots: int,
    ports: int,
    *,
    slot_seconds: float | None = None,
    seed: int = 0,
) -> ListArrivals:
    """Put the jobs of a trace in slots and at ports.

    Parameters
    ----------
    submits : Submits
        Times and scheduling classes, from `models.google_table.read_arrivals`.
    slots, ports : int
    slot_seconds : float, optional
        Length of a slot; by default the slots last as long as the trace does.
    seed : int
        Of the port among those of the job's class, and of the moment within the trace's
        resolution.

    Returns
    -------
    ListArrivals
        The first job comes in slot 0. Port l takes jobs of the class l modulo 4 (of several such
        ports, one by chance; where a class has no port, its own number modulo the ports is). As
        the model has at most one job per port and slot, further ones are left out.

    Raises
    ------
    InputError
        For a slot length that is not a positive number.
    """
    if ports < 1:
        raise InputError("must be at least 1", field="ports", value=ports)
    if slot_seconds is not None and not 0 < slot_seconds < np.inf:
        raise InputError("must be a number above 0", field="slot_seconds", value=slot_seconds)
    check_listed(slots)
    rng = np.random.Generator(np.random.PCG64(seed))
    times = submits.times + rng.random(len(submits)) * submits.resolution
    times -= times.min()
    span = float(times.max()) + submits.resolution
    length = span / max(slots, 1) if slot_seconds is None else slot_seconds * MICROSECONDS
    classes = HIGHEST_CLASS + 1
    turns = rng.random(len(submits))
    own = np.maximum((ports - submits.classes + classes - 1) // classes, 1)
    port = submits.classes + classes * np.floor(turns * own).astype(np.int64)
    return trace_arrivals(times, port, slots, ports, length=length)
