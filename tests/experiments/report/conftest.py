"""Fixtures of the report's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path / "results") as opened:
        yield opened
