"""Fractional demands as whole numbers, exact where possible and on the safe side otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

__all__ = ["scale_down", "scale_up", "whole_scale"]

LARGEST_SCALE = 10**6


def whole_scale(values: Iterable[float]) -> int:
    """Return the least power of ten, at most 10^6, that makes all decimals whole."""
    digits = 0
    for value in values:
        exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
        digits = max(digits, -int(exponent))
        if digits >= 6:
            return LARGEST_SCALE
    return int(10**digits)


def scale_up(values: Iterable[float], scale: int | None = None) -> tuple[list[int], int]:
    """Return demands as whole numbers, rounded up, and the scale: never less than true."""
    kept = [float(value) for value in values]
    if scale is None:
        scale = whole_scale(kept)
    return [math.ceil(Decimal(repr(value)) * scale) for value in kept], scale


def scale_down(value: float, scale: int) -> int:
    """Return a capacity as a whole number, rounded down; infinity becomes a very large one."""
    if math.isinf(value):
        return 2**53
    return min(math.floor(Decimal(repr(value)) * scale), 2**53)
