"""Rounding a program many times and counting what went wrong (Lemmas 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.rounding import SNAP
from algorithms.training.theory.cover_packing import CoverPacking
from algorithms.training.theory.rounding_guarantees import Guarantee

__all__ = ["Trials", "draw_roundings", "judge_roundings", "observe"]

CHUNK = 2000  # draws at a time, so that their rows fit into memory
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Trials:
    """How many of `draws` roundings did what.

    Attributes
    ----------
    draws : int
    cost : int
        Cost above 3G/delta times the LP's.
    cover, packing : int
        Some cover (packing) row failed by the guarantee's threshold.
    worst_cover, worst_packing : int
        Failures of the one row that failed most often.
    covered, packed, feasible : int
        All cover rows hold in truth; all packing rows do; both do.
    """

    draws: int = 0
    cost: int = 0
    cover: int = 0
    packing: int = 0
    worst_cover: int = 0
    worst_packing: int = 0
    covered: int = 0
    packed: int = 0
    feasible: int = 0


def draw_roundings(
    target: NDArray[np.float64], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Round up with the fraction as probability, else down (eqs. 22, 23).

    Parameters
    ----------
    target : array, shape (columns,)
        G times the LP optimum; what is within 1e-6 of a whole number is that number.
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    array, shape (draws, columns)
    """
    nearest = np.round(target)
    target = np.where(np.abs(target - nearest) <= SNAP, nearest, target)
    low = np.floor(target)
    return low + (rng.random((draws, len(target))) < target - low)


def judge_roundings(
    program: CoverPacking,
    relaxed: NDArray[np.float64],
    guarantee: Guarantee,
    x: NDArray[np.float64],
) -> dict[str, NDArray[np.bool_]]:
    """Say for each rounding which events happened; see `Trials`.

    Parameters
    ----------
    program : CoverPacking
    relaxed : array, shape (columns,)
        The LP optimum.
    guarantee : Guarantee
    x : array, shape (draws, columns)

    Returns
    -------
    dict of arrays
        ``cost``, ``covered``, ``packed``, shaped (draws,); ``cover``, ``packing``, shaped
        (draws, rows).
    """
    cover = x @ program.cover.T / program.cover_least
    room = np.maximum(program.packing_most, TOLERANCE)
    packing = x @ program.packing.T / room
    if guarantee.favour == "packing":
        cover_fails = cover <= guarantee.cover_factor + TOLERANCE * np.sign(guarantee.cover_factor)
    else:
        cover_fails = cover < guarantee.cover_factor - TOLERANCE
    limit = guarantee.cost_factor * float(program.costs @ relaxed)
    return {
        "cost": x @ program.costs > limit * (1 + TOLERANCE),
        "cover": cover_fails,
        "packing": packing > guarantee.packing_factor + TOLERANCE,
        "covered": (cover >= 1 - TOLERANCE).all(axis=1),
        "packed": (packing <= 1 + TOLERANCE).all(axis=1),
    }


def observe(
    program: CoverPacking,
    relaxed: NDArray[np.float64],
    guarantee: Guarantee,
    draws: int,
    rng: np.random.Generator,
) -> Trials:
    """Round `draws` times and count."""
    # Columns at 0 stay there, and rows without a column that moves never change.
    used = np.flatnonzero(relaxed > SNAP)
    small = CoverPacking(
        program.costs[used],
        program.cover[:, used],
        program.cover_least,
        program.packing[:, used],
        program.packing_most,
    )
    total = dict.fromkeys(("cost", "covered", "packed", "feasible", "cover", "packing"), 0)
    by_row = {
        "cover": np.zeros(len(program.cover_least), dtype=np.int64),
        "packing": np.zeros(len(program.packing_most), dtype=np.int64),
    }
    for first in range(0, draws, CHUNK):
        x = draw_roundings(guarantee.gain * relaxed[used], min(CHUNK, draws - first), rng)
        events = judge_roundings(small, relaxed[used], guarantee, x)
        for name in ("cost", "covered", "packed"):
            total[name] += int(events[name].sum())
        total["feasible"] += int((events["covered"] & events["packed"]).sum())
        for name in ("cover", "packing"):
            total[name] += int(events[name].any(axis=1).sum())
            by_row[name] += events[name].sum(axis=0)
    return Trials(
        draws=draws,
        worst_cover=int(by_row["cover"].max(initial=0)),
        worst_packing=int(by_row["packing"].max(initial=0)),
        **total,
    )
