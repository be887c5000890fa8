"""Which ports have a job in which slot: drawn, listed, or read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from pydantic import Discriminator, Field, PrivateAttr, Tag

from models.files import FileModel, InputError, Name

__all__ = ["Arrivals", "BernoulliArrivals", "FileArrivals", "ListArrivals", "arrival_table"]

CHUNK_ENTRIES = 2**18  # drawn at a time, so that memory does not grow with the slots

Slots = Annotated[int, Field(ge=0, le=2**53)]
Probability = Annotated[float, Field(ge=0, le=1)]
# Told apart beforehand, so that an error is one of the kind that stands there.
Probabilities = Annotated[
    Annotated[Probability, Tag("number")] | Annotated[tuple[Probability, ...], Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list | tuple) else "number"),
]


class BernoulliArrivals(FileModel):
    """Independent draws: ``Generator(PCG64(seed)).random((slots, ports)) < probability``.

    Attributes
    ----------
    slots : int
        T >= 0.
    probability : float or tuple of float
        One for all ports, or one per port.
    seed : int
    """

    kind: Literal["bernoulli"]
    slots: Slots
    probability: Probabilities
    seed: Annotated[int, Field(ge=0)]

    def check(self, ports: int) -> None:
        """Raise `InputError` unless there is one probability, or one per port."""
        if isinstance(self.probability, tuple) and len(self.probability) != ports:
            raise InputError(
                f"must be one number, or one per port ({ports})",
                field="probability",
                value=len(self.probability),
            )

    def chunks(self, ports: int) -> Iterator[NDArray[np.bool_]]:
        """Yield tables of consecutive slots, shape (some slots, ports)."""
        rng = np.random.Generator(np.random.PCG64(self.seed))
        rows = max(1, CHUNK_ENTRIES // max(ports, 1))
        probability = np.asarray(self.probability)
        for first in range(0, self.slots, rows):
            # Rows are drawn in order, so chunks give the stream of one large draw.
            yield rng.random((min(rows, self.slots - first), ports)) < probability


class ListArrivals(FileModel):
    """Arrivals written out.

    Attributes
    ----------
    slots : int
        T.
    ports : tuple of tuple of int
        For every slot the 0-based indices of the ports with a job.
    """

    kind: Literal["list"]
    slots: Slots
    ports: tuple[tuple[Annotated[int, Field(ge=0)], ...], ...]

    def check(self, ports: int) -> None:
        """Raise `InputError` for a wrong number of rows, or a port that is not there or twice."""
        if len(self.ports) != self.slots:
            raise InputError(
                f"must have one row per slot ({self.slots})", field="ports", value=len(self.ports)
            )
        for t, row in enumerate(self.ports):
            for place, port in enumerate(row):
                if port >= ports:
                    raise InputError(
                        f"must be the index of a port, 0..{ports - 1}",
                        field=f"ports[{t}][{place}]",
                        value=port,
                    )
            if len(set(row)) < len(row):
                raise InputError("must not repeat a port", field=f"ports[{t}]", value=list(row))

    def chunks(self, ports: int) -> Iterator[NDArray[np.bool_]]:
        """Yield tables of consecutive slots, shape (some slots, ports)."""
        rows = max(1, CHUNK_ENTRIES // max(ports, 1))
        for first in range(0, self.slots, rows):
            part = self.ports[first : first + rows]
            table = np.zeros((len(part), ports), dtype=bool)
            for t, row in enumerate(part):
                table[t, list(row)] = True
            yield table


class FileArrivals(FileModel):
    """Arrivals in a NumPy file beside the instance; `attach` reads it.

    Attributes
    ----------
    path : str
        An ``.npz`` file, relative to the instance file.
    key : str
        The array's name in it: bool, or integers 0 and 1, shape (slots, ports).
    """

    kind: Literal["file"]
    path: Name
    key: Name
    _table: NDArray[np.bool_] | None = PrivateAttr(default=None)

    @property
    def slots(self) -> int:
        """T."""
        return len(self._loaded())

    def _loaded(self) -> NDArray[np.bool_]:
        if self._table is None:
            raise InputError(
                "has not been read; use load_instance", field="arrivals.path", value=self.path
            )
        return self._table

    def attach(self, folder: Path) -> None:
        """Read the file.

        Raises
        ------
        InputError
            Naming the file and what is wrong with it.
        """
        path = folder / self.path
        try:
            with np.load(path, allow_pickle=False) as content:
                if not hasattr(content, "files"):
                    raise InputError("must be an .npz file", source=str(path))
                if self.key not in content.files:
                    known = ", ".join(content.files) or "nothing"
                    raise InputError(f"is not in the file, which has {known}", source=str(path))
                table = content[self.key]
        except InputError as error:
            raise InputError(error.rule, source=str(path), field=self.key) from None
        except (OSError, ValueError, BadZipFile, EOFError) as error:
            text = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be read: {text}", source=str(path)) from None
        if table.ndim != 2:
            raise InputError(
                "must be a table of slots and ports",
                source=str(path),
                field=self.key,
                value=list(table.shape),
            )
        if table.dtype != np.bool_:
            if table.dtype.kind not in "iu" or not np.isin(table, (0, 1)).all():
                raise InputError(
                    "must be bool, or integers 0 and 1",
                    source=str(path),
                    field=self.key,
                    value=str(table.dtype),
                )
            table = table.astype(bool)
        table.setflags(write=False)
        self._table = table

    def check(self, ports: int) -> None:
        """Raise `InputError` unless the table has one column per port (once it is read)."""
        if self._table is not None and self._table.shape[1] != ports:
            raise InputError(
                f"must have one column per port ({ports})",
                field=self.key,
                value=self._table.shape[1],
            )

    def chunks(self, ports: int) -> Iterator[NDArray[np.bool_]]:
        """Yield tables of consecutive slots, shape (some slots, ports)."""
        table = self._loaded()
        rows = max(1, CHUNK_ENTRIES // max(ports, 1))
        for first in range(0, len(table), rows):
            yield table[first : first + rows]


Arrivals = Annotated[BernoulliArrivals | ListArrivals | FileArrivals, Field(discriminator="kind")]


def arrival_table(arrivals: Arrivals, ports: int) -> NDArray[np.bool_]:
    """Return x(t) of all slots, shape (slots, ports); for long streams use ``chunks``."""
    parts: Sequence[NDArray[np.bool_]] = list(arrivals.chunks(ports))
    return np.concatenate(parts) if parts else np.zeros((0, ports), dtype=bool)
