"""Arrival slots of generated jobs: the paper's alternating weights, or submissions of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.files import InputError
from models.google_trace import MICROSECONDS_PER_MINUTE, Submits

__all__ = ["WINDOW", "Arrivals", "alternating_arrivals", "trace_arrivals"]

# Consecutive submissions that arrivals are sampled from. Fixed, not a multiple of the number of
# jobs, so that the first 20 of 100 jobs arrive when they would if there were only 20.
WINDOW = 1000
# Scheduling class 0 is time-insensitive, 1 and 2 are sensitive, 3 is critical.
SENSITIVITY_OF_CLASS = np.array([0, 1, 1, 2])


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Arrival slots and, from a trace, how much time matters to each job.

    Attributes
    ----------
    slots : array of int, shape (jobs,)
    sensitivities : array of int, shape (jobs,), or None
        Indices into `models.training.presets.SENSITIVITIES`; None if the source has none.
    source : str
        Where they come from, in words.
    """

    slots: NDArray[np.int64]
    sensitivities: NDArray[np.int64] | None
    source: str


def alternating_arrivals(jobs: int, slots: int, stream: np.random.Generator) -> Arrivals:
    """Draw slots with weight 1/3 in the paper's odd and 2/3 in its even slots.

    The paper counts slots from 1: its odd slots are 0, 2, ... here.
    """
    # Slots come in pairs of weight 1; with an odd number of slots half a pair is left.
    place = stream.random(jobs) * (slots // 2 + (slots % 2) / 3)
    pair = np.floor(place)
    drawn = (2 * pair + (place - pair >= 1 / 3)).astype(np.int64)
    return Arrivals(
        np.minimum(drawn, slots - 1), None, "drawn: weights 1/3, 2/3 in alternating slots"
    )


def trace_arrivals(
    submits: Submits, jobs: int, slots: int, stream: np.random.Generator, window: int | None = None
) -> Arrivals:
    """Sample arrivals from a window of consecutive submissions and stretch it over the slots.

    Parameters
    ----------
    submits : Submits
    jobs, slots : int
        I and T.
    stream : numpy.random.Generator
    window : int, optional
        Length of the window in submissions. By default 1000, or all there are if fewer, or as
        many as there are jobs if that is more.

    Returns
    -------
    Arrivals
        In the order in which they were sampled, not by slot. The window's first submission is
        at the beginning of slot 0, its last at the end of the last slot.

    Raises
    ------
    InputError
        If there are fewer submissions than jobs, or the window does not lie between the two.
    """
    if jobs > len(submits):
        raise InputError(
            f"must be at most {len(submits)}, the number of submissions in {submits.source}",
            field="jobs",
            value=jobs,
        )
    if window is None:
        window = max(jobs, min(WINDOW, len(submits)))
    elif not max(jobs, 1) <= window <= len(submits):
        raise InputError(
            f"must be from {max(jobs, 1)} (jobs) to {len(submits)} (submissions in the source)",
            field="window",
            value=window,
        )
    times = submits.times.astype(float)
    order = np.arange(len(times))
    if submits.resolution > 1:  # only the minute is known: any moment of it is as good
        times += stream.random(len(times)) * submits.resolution
        order = np.argsort(times, kind="stable")
    first = int(stream.integers(len(submits) - window + 1))
    chosen = order[first : first + window]
    begin, end = times[chosen[0]], times[chosen[-1]]
    sample = chosen[stream.permutation(window)[:jobs]]
    share = (times[sample] - begin) / max(end - begin, 1e-300)
    minutes = (end - begin) / MICROSECONDS_PER_MINUTE
    return Arrivals(
        slots=np.minimum(np.floor(share * slots), slots - 1).astype(np.int64),
        sensitivities=SENSITIVITY_OF_CLASS[submits.classes[sample]],
        source=f"{submits.source}: {jobs} of {window} consecutive submissions, "
        f"{minutes:.4g} minutes stretched over {slots} slots",
    )
