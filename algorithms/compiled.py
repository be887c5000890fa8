"""How functions are compiled: at their first call, and kept on disk where that is possible.

A compiled function is kept until its own file changes. One that calls compiled functions of
another file would go on using their old versions, so those that belong together share a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite.ir import Constant, IntType  # type: ignore[import-untyped]
from numba import njit, uint64
from numba.extending import intrinsic

__all__ = ["compiled", "high_product"]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile when first called; keep the result on disk, where there is a place for it."""
    try:
        kept: Callable[..., Any] = njit(cache=True)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written
        kept = njit(function)
    return kept


def _high_product(typing_context: Any, a: Any, b: Any) -> Any:
    del typing_context

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        wide = IntType(128)
        one, other = (builder.zext(value, wide) for value in arguments)
        upper = builder.lshr(builder.mul(one, other), Constant(wide, 64))
        return builder.trunc(upper, IntType(64))

    return uint64(a, b), generate


# The upper 64 bits of the product of two uint64, in compiled functions: one instruction, as in C.
high_product: Any = intrinsic(_high_product)
