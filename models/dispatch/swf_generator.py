"""Made-up workload logs of any length, in the Standard Workload Format.

Real logs may not be copied into a repository; this one has their traits, all declared here: days
and weeks in the submits, many small and short jobs, sizes that are mostly powers of two, estimates
that are round and too long, jobs that outrun theirs, failed and cancelled ones.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.files import InputError, write_atomic

__all__ = ["DAY", "make_log", "write_log"]

DAY = 86_400
WEEKEND = 0.5  # submits on days 6 and 7, relative to the others
NIGHT = 0.25  # least submits of a day, at 4 h, relative to the most, at 16 h
POWERS_OF_TWO = 0.75  # of the jobs; the others have any size
SPREAD = 1.8  # of the logarithm of run times, which are log-normal
SHORTEST, LONGEST = 5, 3 * DAY  # run times before they are scaled to the load [s]
LIMITS = (300, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, DAY, 2 * DAY, 4 * DAY, 8 * DAY)
ASKED = 3.0  # estimates are up to so many times the run time, rounded up to one of the limits
CANCELLED, FAILED, OUTRUN = 0.03, 0.06, 0.02  # of the jobs
MEMORY = 2.0**20  # KB per processor, on the mean of the logarithm
Ints = NDArray[np.int64]


def make_log(
    jobs: int, *, days: int = 365, processors: int = 240, load: float = 0.7, seed: int = 0
) -> str:
    """Draw a log.

    Parameters
    ----------
    jobs : int
        Rows, cancelled ones included.
    days : int
        Submits are spread over so many.
    processors : int
        Of the system; a job asks for an eighth of them at most.
    load : float
        Work of all jobs over what the processors can do in this time.
    seed : int

    Returns
    -------
    str
        The file's content. Same arguments, same content.

    Raises
    ------
    InputError
        Naming the argument, its value and the rule.
    """
    for field, value, least in (
        ("jobs", jobs, 0),
        ("days", days, 1),
        ("processors", processors, 8),
        ("seed", seed, 0),
    ):
        if value < least:
            raise InputError(f"must be at least {least}", field=field, value=value)
    if not 0 < load < 10:
        raise InputError("must be above 0 and below 10", field="load", value=load)
    rng = np.random.Generator(np.random.PCG64(seed))
    submit = _submits(jobs, days, rng)
    size = _sizes(jobs, processors // 8, rng)
    run = np.clip(np.exp(rng.normal(math.log(1200), SPREAD, jobs)), SHORTEST, LONGEST)
    if jobs:
        run *= load * processors * days * DAY / float(size @ run)
    run = np.maximum(1, np.rint(run)).astype(np.int64)
    limits = np.array(LIMITS)
    wished = run * rng.uniform(1.0, ASKED, jobs)
    asked = limits[np.minimum(np.searchsorted(limits, wished), len(limits) - 1)]
    asked = np.maximum(asked, run)
    draw = rng.random(jobs)
    outruns = draw > 1 - OUTRUN
    asked[outruns] = np.maximum(1, (run[outruns] / 1.1).astype(np.int64))
    status = np.where(draw < CANCELLED, 5, np.where(draw < CANCELLED + FAILED, 0, 1))
    run[draw < CANCELLED] = 0
    memory = np.rint(MEMORY * np.exp2(rng.integers(-3, 2, jobs))).astype(np.int64)
    user = rng.zipf(1.5, jobs) % 97 + 1
    columns = (np.arange(jobs) + 1, submit, run, size, asked, memory, status, user)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lines = [
        "; Version: 2.2",
        "; Computer: none; made by schedlab's models.dispatch.swf_generator",
        f"; Note: {jobs} jobs, {days} days, load {load:g}, seed {seed}",
        f"; MaxJobs: {jobs}",
        f"; MaxProcs: {processors}",
        *(
            f"{k} {q} -1 {d} {p} -1 -1 {p} {e} {m} {s} {u} 1 -1 1 1 -1 -1"
            for k, q, d, p, e, m, s, u in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def write_log(path: str | Path, jobs: int, **options: Any) -> None:
    """Write what `make_log` draws, atomically."""
    write_atomic(Path(path), make_log(jobs, **options))


def _submits(jobs: int, days: int, rng: np.random.Generator) -> Ints:
    """Submits in ascending order: hours of the day and days of the week differ."""
    hours = np.arange(24)
    daily = NIGHT + (1 - NIGHT) * (1 + np.cos((hours - 16) / 24 * 2 * np.pi)) / 2
    weekly = np.where(np.arange(days) % 7 < 5, 1.0, WEEKEND)
    rate = np.outer(weekly, daily).reshape(-1)
    hour = rng.choice(len(rate), jobs, p=rate / rate.sum())
    return np.asarray(np.sort(hour * 3600 + rng.integers(0, 3600, jobs)), dtype=np.int64)


def _sizes(jobs: int, most: int, rng: np.random.Generator) -> Ints:
    """Numbers of processors: small ones are more frequent."""
    power = 2 ** rng.integers(0, int(math.log2(most)) + 1, jobs)
    other = np.floor(np.exp(rng.uniform(0, math.log(most + 1), jobs))).astype(np.int64)
    size = np.where(rng.random(jobs) < POWERS_OF_TWO, power, other)
    return np.asarray(np.clip(size, 1, most), dtype=np.int64)
