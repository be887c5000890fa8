"""Which versions computed a row."""

from __future__ import annotations

import functools
import platform
from importlib import metadata

__all__ = ["PACKAGES", "versions"]

PACKAGES = ("schedlab", "numpy", "scipy", "numba", "pyomo", "highspy", "ortools")


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on.

    Only the installed metadata is read: nothing heavy is imported. A package that is not
    installed (a source tree that is run in place) is ``"unknown"``.
    """
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found
