"""Lets several sweeps on one store share the work instead of doing it twice."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from types import ModuleType

from models.files import InputError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: sweeps at once stay safe, but may compute the same task
    fcntl = None

__all__ = ["Reservations"]


class Reservations:
    """Marks tasks as being computed by this process, for other processes to see.

    A task is a byte's place in a lock file, and the operating system's lock on that byte is the
    mark: it vanishes with the process however that ends, so there is nothing to clean up after
    kill -9. The file stays empty.

    Parameters
    ----------
    path : Path
        The lock file. One object per process and file: closing one releases all.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror or error}", source=str(path)
            ) from None

    def take(self, task: str) -> bool:
        """Reserve a task; False if another process has it."""
        if fcntl is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(task))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def release(self, task: str) -> None:
        """Give a task back, after its row has been written."""
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(task))

    def close(self) -> None:
        """Give everything back."""
        os.close(self._file)


def _place(task: str) -> int:
    # 56 bits: within any file's size limit, and two tasks of a sweep practically never meet.
    return int.from_bytes(hashlib.blake2b(task.encode(), digest_size=7).digest(), "big")
