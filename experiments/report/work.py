"""What a worker process does for the report: one experiment by its name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from experiments.report.entries import Entry, entry_of
from experiments.store import FILE_NAME, Store

__all__ = ["entry_by_name", "opened"]


@contextlib.contextmanager
def opened(results: Path) -> Iterator[Store | None]:
    """Open the results store if there is one."""
    if not (results / FILE_NAME).exists():
        yield None
        return
    with Store.open(results, create=False) as store:
        yield store


def entry_by_name(name: str, results: str, scratch: str) -> Entry:
    """Draw and judge a registered experiment from the store in this folder."""
    from experiments.registry import find

    with opened(Path(results)) as store:
        return entry_of(find(name), store, Path(scratch))
