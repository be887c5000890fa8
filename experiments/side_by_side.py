"""Times of ways to do the same thing, and their ratios with intervals; what benchmarks share.

A ratio is named ``SLOWER_over_FASTER``: how many times as long the first takes. Ratios travel from
machine to machine, seconds do not, so only ratios are compared with a stored reference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

__all__ = ["exponent", "interleaved", "quartiles", "ratio", "ratios_of"]

OVER = "_over_"
CONFIDENCE = 0.95


def interleaved(
    ways: Mapping[str, Callable[[], Any]], repeats: int
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Do each way once, then each again, and so on: what disturbs one disturbs all.

    Returns
    -------
    seconds : dict
        Of the processor, per way and repeat.
    answers : dict
        What each way returned last.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    answers: dict[str, Any] = {}
    for name in list(ways) * repeats:
        began = time.process_time()
        answers[name] = ways[name]()
        seconds[name].append(time.process_time() - began)
    return seconds, answers


def quartiles(seconds: ArrayLike, per: float = 1e3, unit: str = "ms") -> dict[str, float]:
    """Return the median and the quartiles, in milliseconds by default."""
    low, median, high = np.quantile(per * np.asarray(seconds), (0.25, 0.5, 0.75))
    return {unit: float(median), f"{unit}_q1": float(low), f"{unit}_q3": float(high)}


def ratio(name: str, slower: ArrayLike, faster: ArrayLike) -> dict[str, float]:
    """Return the median of the ratios, pair by pair, and an interval for it.

    The interval is that of order statistics, which supposes nothing about the distribution: as
    narrow as 95 % allows, or from the least to the largest where there are fewer than six pairs.

    Parameters
    ----------
    name : str
        ``SLOWER_over_FASTER``.
    slower, faster : arrays, shape (pairs,)
    """
    assert OVER in name
    ratios = np.sort(np.asarray(slower, dtype=float) / np.asarray(faster, dtype=float))
    count = len(ratios)
    below = int(binom.ppf((1 - CONFIDENCE) / 2, count, 0.5))
    return {
        name: float(np.median(ratios)),
        "low": float(ratios[max(below - 1, 0)]),
        "high": float(ratios[min(count - below, count - 1)]),
    }


def exponent(sizes: ArrayLike, seconds: ArrayLike) -> float:
    """Return the slope of the seconds over the sizes, both in logarithms, by least squares."""
    slope, _ = np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(seconds)), 1)
    return float(slope)


def ratios_of(content: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the ratios in a benchmark's numbers: where they are, and ratio, low, high if known."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from ratios_of(value, f"{at}{name} / ")
        elif OVER in name and isinstance(value, int | float):
            found = {"ratio": float(value)}
            if sum(OVER in other for other in content) == 1:
                found |= {key: float(content[key]) for key in ("low", "high") if key in content}
            yield at + name, found
