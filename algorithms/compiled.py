"""How functions are compiled: at their first call, and kept on disk where that is possible.

Numba takes a kept function for good until its own file changes, though it also holds a copy of
what it calls. So the files of the compiled functions that it calls, directly or not, are part of
the name under which it is kept here. They are found by name when it is defined: what a function
calls in its own file and has calls to other files must stand above it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from llvmlite.ir import Constant, IntType  # type: ignore[import-untyped]
from numba import njit, uint64
from numba.extending import intrinsic

__all__ = ["compiled", "high_product"]

_files_below: dict[FunctionType, frozenset[str]] = {}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile when first called; keep the result on disk, where there is a place for it."""
    assert isinstance(function, FunctionType)
    own = function.__code__.co_filename
    below = frozenset(
        file
        for called in _called(function)
        for file in (called.__code__.co_filename, *_files_below[called])
    )
    _files_below[function] = below - {own}
    if below - {own}:
        function.__qualname__ += "_" + _fingerprint(below - {own})
    try:
        kept: Callable[..., Any] = njit(cache=True)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written
        kept = njit(function)
    return kept


def _called(function: FunctionType) -> Iterator[FunctionType]:
    """Yield the compiled functions that a function names."""
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        members = [value]
        if isinstance(value, ModuleType):
            members = [getattr(value, member, None) for member in names]
        for member in members:
            called = getattr(member, "py_func", None)
            if called in _files_below:
                yield called


def _fingerprint(files: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    return digest.hexdigest()[:12]


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
