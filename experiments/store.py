"""The results store: one SQLite file that holds every row of every experiment.

A row is keyed by experiment, revision, parameters and seed, and is written once. Several processes
may read and write at the same time; each row is one transaction, so whatever kills a process, the
rows that were finished stay.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.declaration import META
from models.files import InputError

if TYPE_CHECKING:
    import pandas

__all__ = ["FILE_NAME", "Failure", "Holding", "Key", "Store", "canonical"]

FILE_NAME = "schedlab.sqlite"
SCHEMA_VERSION = 1
BUSY_SECONDS = 60.0

_KEY = "experiment TEXT, revision INTEGER, parameters TEXT, seed INTEGER"
_MADE = "seconds REAL, versions TEXT, finished_at TEXT"
_PRIMARY = "PRIMARY KEY (experiment, revision, parameters, seed)) WITHOUT ROWID"
_SCHEMA = (
    "CREATE TABLE schema (version INTEGER)",
    f"INSERT INTO schema VALUES ({SCHEMA_VERSION})",
    f"CREATE TABLE rows ({_KEY}, row TEXT, {_MADE}, {_PRIMARY}",
    f"CREATE TABLE failures ({_KEY}, error TEXT, traceback TEXT, command TEXT, {_MADE}, {_PRIMARY}",
)
_NOW = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
_HERE = "experiment = ? AND revision = ?"
_THIS = f"{_HERE} AND parameters = ? AND seed = ?"


class Key(NamedTuple):
    """A task within an experiment: its parameters as canonical JSON, and its seed."""

    parameters: str
    seed: int


@dataclass(frozen=True)
class Failure:
    """A task that failed, and the command that runs it again."""

    experiment: str
    revision: int
    key: Key
    error: str
    traceback: str
    command: str


@dataclass(frozen=True)
class Holding:
    """How much a store holds of one revision of an experiment."""

    experiment: str
    revision: int
    rows: int
    failures: int
    seconds: float
    last: str


def canonical(parameters: Mapping[str, Any]) -> str:
    """Return the one JSON text that stands for these parameters.

    Raises
    ------
    InputError
        If they are not JSON values, or a name is taken by a column of the store.
    """
    for name in parameters:
        if not isinstance(name, str) or name in ("seed", *META):
            raise InputError("cannot be the name of a parameter", field=str(name))
    try:
        return json.dumps(parameters, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"parameters must be JSON values ({error})", value=dict(parameters)
        ) from None


class Store:
    """An open results store; see `Store.open`. Closes itself as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = True) -> Store:
        """Open the store in a results folder.

        Parameters
        ----------
        folder : path
        create : bool
            Make folder and file if they are missing.

        Raises
        ------
        InputError
            If there is no store (and `create` is false), the file is not one, was written by
            another version, or cannot be used.
        """
        path = Path(folder) / FILE_NAME
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                raise InputError("does not exist: there are no results yet", source=str(path))
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"cannot be opened: {error}", source=str(path)) from None
        store = cls(path, connection)
        try:
            with store._errors():
                store._check_schema()
                store._use_wal()
        except BaseException:
            connection.close()
            raise
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # Writing

    def put_row(
        self,
        experiment: str,
        revision: int,
        key: Key,
        row: str,
        *,
        seconds: float = 0.0,
        versions: str = "{}",
    ) -> None:
        """Write one finished row (as JSON text), unless the key has one already.

        A failure that was recorded for the key is forgotten.
        """
        here = (experiment, revision, *key)
        with self._transaction() as connection:
            connection.execute(
                f"INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, {_NOW})",
                (*here, row, seconds, versions),
            )
            connection.execute(f"DELETE FROM failures WHERE {_THIS}", here)

    def put_failure(self, failure: Failure, *, seconds: float = 0.0, versions: str = "{}") -> None:
        """Record a failed task; its last failure replaces earlier ones."""
        with self._transaction() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, {_NOW})",
                (
                    *(failure.experiment, failure.revision, *failure.key),
                    *(failure.error, failure.traceback, failure.command),
                    *(seconds, versions),
                ),
            )

    # Reading

    def keys(self, experiment: str, revision: int) -> set[Key]:
        """Return the finished tasks of an experiment."""
        query = f"SELECT parameters, seed FROM rows WHERE {_HERE}"
        with self._errors():
            return set(map(Key._make, self._connection.execute(query, (experiment, revision))))

    def has(self, experiment: str, revision: int, key: Key) -> bool:
        """Tell whether a task is finished."""
        query = f"SELECT 1 FROM rows WHERE {_THIS}"
        with self._errors():
            found = self._connection.execute(query, (experiment, revision, *key)).fetchone()
        return found is not None

    def rows(
        self, experiment: str, revision: int, keys: Iterable[Key] | None = None
    ) -> pandas.DataFrame:
        """Return finished rows as a table.

        Parameters
        ----------
        experiment, revision
        keys : iterable of Key, optional
            Only these, in this order (those that are not finished are left out). Without it, all
            rows, by parameters (numbers by size) and seed.

        Returns
        -------
        pandas.DataFrame
            The parameters' columns, ``seed``, the row's own columns, then ``seconds``,
            ``finished_at`` and ``versions``, which are not reproducible. Rows that lack a column
            of others hold None there, which pandas shows as NaN among numbers.
        """
        import pandas

        query = f"SELECT parameters, seed, row, {', '.join(META)} FROM rows WHERE {_HERE}"
        with self._errors():
            found = {
                Key(record[0], record[1]): record[2:]
                for record in self._connection.execute(query, (experiment, revision))
            }
        given = {text: json.loads(text) for text in dict.fromkeys(key.parameters for key in found)}
        if keys is None:
            order = sorted(
                found, key=lambda key: (_natural(given[key.parameters]), key.parameters, key.seed)
            )
        else:
            order = [key for key in dict.fromkeys(keys) if key in found]
        parameters = [given[key.parameters] for key in order]
        own = [json.loads(found[key][0]) for key in order]
        columns: dict[str, list[Any]] = {
            **_columns(parameters),
            "seed": [key.seed for key in order],
            **_columns(own),
        }
        for place, name in enumerate(META, start=1):
            columns[name] = [found[key][place] for key in order]
        return pandas.DataFrame(columns)

    def failures(
        self, experiment: str, revision: int, keys: Iterable[Key] | None = None
    ) -> list[Failure]:
        """Return the failed tasks (of `keys`, if given) by parameters and seed."""
        wanted = None if keys is None else set(keys)
        query = (
            f"SELECT parameters, seed, error, traceback, command FROM failures WHERE {_HERE}"
            " ORDER BY parameters, seed"
        )
        with self._errors():
            records = self._connection.execute(query, (experiment, revision)).fetchall()
        return [
            Failure(experiment, revision, Key(*record[:2]), *record[2:])
            for record in records
            if wanted is None or Key(*record[:2]) in wanted
        ]

    def holdings(self) -> list[Holding]:
        """Return what the store holds, by experiment and revision.

        ``seconds`` is what the finished tasks took together, ``last`` when the last one (or the
        last failure) was written.
        """
        query = (
            "SELECT experiment, revision, sum(done), sum(1 - done),"
            " total(CASE WHEN done THEN seconds END), max(finished_at) FROM ("
            "SELECT experiment, revision, 1 AS done, seconds, finished_at FROM rows UNION ALL "
            "SELECT experiment, revision, 0 AS done, seconds, finished_at FROM failures"
            ") GROUP BY experiment, revision ORDER BY experiment, revision"
        )
        with self._errors():
            return [Holding(*record) for record in self._connection.execute(query)]

    def remove(self, experiment: str, revision: int, *, failures_only: bool = False) -> None:
        """Remove the failures of one revision of an experiment, and its rows unless told not to.

        The file keeps its size; the space is used by later rows.
        """
        with self._transaction() as connection:
            for table in ("failures",) if failures_only else ("failures", "rows"):
                connection.execute(f"DELETE FROM {table} WHERE {_HERE}", (experiment, revision))

    # The file

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(
                f"cannot be used as a results store: {error}", source=str(self.path)
            ) from None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # IMMEDIATE waits for other writers; a transaction that starts by reading would not.
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _tables(self) -> set[str]:
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        return {name for (name,) in self._connection.execute(query)}

    def _check_schema(self) -> None:
        # Before anything is written: the file may be somebody else's database.
        if not self._tables():
            with self._transaction() as connection:
                if not self._tables():  # else another process was faster
                    for statement in _SCHEMA:
                        connection.execute(statement)
        found = None
        if {"schema", "rows", "failures"} <= self._tables():
            with contextlib.suppress(sqlite3.OperationalError):
                found = self._connection.execute("SELECT max(version) FROM schema").fetchone()[0]
        if found != SCHEMA_VERSION:
            raise InputError(
                f"must be a results store with schema {SCHEMA_VERSION}",
                source=str(self.path),
                value=found,
            )

    def _use_wal(self) -> None:
        # Readers and a writer do not wait for each other then. Switching does not honour the
        # busy timeout, so two processes that create a store together try again.
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        # A killed process loses nothing; only a power cut could lose the last rows.
        self._connection.execute("PRAGMA synchronous = NORMAL")


def _columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _natural(parameters: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((name, *_rank(value)) for name, value in sorted(parameters.items()))


def _rank(value: object) -> tuple[int, float, str]:
    if value is None:
        return (0, 0, "")
    if isinstance(value, int | float):
        return (1, value, "")
    if isinstance(value, str):
        return (2, 0, value)
    return (3, 0, json.dumps(value))
