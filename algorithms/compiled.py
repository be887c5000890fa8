"""How functions are compiled: at their first call, and kept on disk where that is possible.

A compiled function is kept until its own file changes. One that calls compiled functions of
another file would go on using their old versions, so those that belong together share a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile when first called; keep the result on disk, where there is a place for it."""
    try:
        kept: Callable[..., Any] = njit(cache=True)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written
        kept = njit(function)
    return kept
