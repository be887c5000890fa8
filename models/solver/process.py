"""The one thing HiGHS keeps for a whole process: its number of threads."""

from __future__ import annotations

import os
from dataclasses import dataclass

from models.solver.result import SolverError


@dataclass(frozen=True)
class _Claim:
    process: int
    threads: int


_claims: list[_Claim] = []


def check_threads(threads: int) -> None:
    """Raise SolverError when this process cannot run HiGHS with this number of threads.

    The first solve decides: HiGHS keeps one pool of threads for a process, refuses to run with
    another size, and hangs in a child forked after the pool was made.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise SolverError(f"threads must be a whole number of at least 1, got {threads!r}")
    for claim in _claims:
        if claim.process != os.getpid():
            raise SolverError(
                "this process was forked after HiGHS had run; start workers with the 'spawn' or "
                "'forkserver' method of multiprocessing"
            )
        if claim.threads != threads:
            raise SolverError(
                f"HiGHS already runs with threads={claim.threads} in this process; use that, or "
                f"a new process for threads={threads}"
            )


def claim_threads(threads: int) -> None:
    """Check the number of threads, and keep it for the life of the process."""
    check_threads(threads)
    if not _claims:
        _claims.append(_Claim(os.getpid(), threads))
