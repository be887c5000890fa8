"""Submissions in the Google cluster trace of 2011: the raw ``job_events`` files."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.files import InputError

__all__ = [
    "HIGHEST_CLASS",
    "MICROSECONDS_PER_MINUTE",
    "MalformedRow",
    "Submits",
    "TraceReport",
    "read_trace",
]

MICROSECONDS_PER_MINUTE = 60_000_000
COLUMNS = 8
SUBMIT = 0
HIGHEST_EVENT_TYPE = 8
HIGHEST_CLASS = 3
AFTER_THE_TRACE = 2**63 - 1  # the trace's mark for "after the end"; 0 means "before the start"
LARGEST_ID = 2**64 - 1
LONGEST_LINE = 65_536  # bytes; a real row has about 130
LISTED = 1000  # malformed rows; more are only counted, or a wrong file would fill the memory


class MalformedRow(NamedTuple):
    """A row that breaks a rule: file name, line number from 1, and the rule with the value."""

    file: str
    line: int
    rule: str


@dataclass(frozen=True)
class TraceReport:
    """What was read and what was left out.

    Attributes
    ----------
    rows : int
        Rows read, malformed ones included; blank lines are no rows.
    submits : int
        Valid SUBMIT rows.
    duplicates : int
        SUBMIT rows of a job that has an earlier one.
    at_time_zero : int
        Jobs submitted before the trace begins (time 0), left out.
    malformed_rows : int
        Rows that break a rule, left out.
    malformed : tuple of MalformedRow
        The first 1000 of them.
    """

    rows: int
    submits: int
    duplicates: int
    at_time_zero: int
    malformed_rows: int
    malformed: tuple[MalformedRow, ...]


@dataclass(frozen=True, eq=False)
class Submits:
    """Job submissions in order of time, ready to draw arrivals from.

    Attributes
    ----------
    times : array of int64, shape (submits,)
        Microseconds since the trace's time 0, ascending, read-only.
    classes : array of int64, shape (submits,)
        Scheduling classes 0..3, read-only.
    resolution : int
        Times are known up to so many microseconds: a submit happened in
        [time, time + resolution).
    source : str
        Where they come from, in words.
    report : TraceReport or None
        What was left out; None for the table in ``data/``, which states it in its header.
    """

    times: NDArray[np.int64]
    classes: NDArray[np.int64]
    resolution: int
    source: str
    report: TraceReport | None = None

    def __post_init__(self) -> None:
        self.times.setflags(write=False)
        self.classes.setflags(write=False)

    def __len__(self) -> int:
        return len(self.times)


def read_trace(paths: str | Path | Iterable[str | Path]) -> Submits:
    """Read the first submission of each job from one or more parts of ``job_events``.

    Parameters
    ----------
    paths : path or iterable of paths
        Parts in any order, plain or gzip (told by content, not by name). They are streamed; the
        memory needed is that of one entry per job.

    Returns
    -------
    Submits
        Of jobs first submitted after time 0, by time; equal times in the order read.

    Raises
    ------
    InputError
        If a file cannot be read, is not text, is a broken gzip file or holds no valid SUBMIT
        row, or if all jobs were submitted at time 0. Single bad rows are no error: they are
        listed in the report.

    Notes
    -----
    Columns: time [us], missing info, job id, event type (0 = SUBMIT), user, scheduling class
    0-3, job name, logical job name; no header. Google cluster data 2011-2 (Reiss, Wilkes,
    Hellerstein). "First" is by time, so the order of the parts does not matter; a job whose
    first submission is at time 0 stays out even if it is submitted again later.
    """
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not files:
        raise InputError("at least one trace file is needed")
    first: dict[int, tuple[int, int]] = {}  # job id -> time, class
    malformed: list[MalformedRow] = []
    rows = submits = bad = 0
    for file in files:
        rows_before, submits_before, bad_before = rows, submits, bad
        first_bad: MalformedRow | None = None
        for line, text in _lines(file):
            rows += 1
            try:
                event = _submit(text)
            except _RowError as error:
                bad += 1
                row = MalformedRow(file.name, line, str(error))
                first_bad = first_bad or row
                if bad <= LISTED:
                    malformed.append(row)
                continue
            if event is None:
                continue
            submits += 1
            time, job, scheduling_class = event
            known = first.get(job)
            if known is None or time < known[0]:
                first[job] = (time, scheduling_class)
        if rows == rows_before:
            raise InputError("has no rows", source=str(file))
        if submits == submits_before:
            raise InputError(_no_submit(bad - bad_before, first_bad), source=str(file))
    kept = [event for event in first.values() if event[0] > 0]
    if not kept:
        raise InputError(
            "every job was submitted at time 0, before the trace begins", source=str(files[0])
        )
    table = np.array(kept, dtype=np.int64)
    order = np.argsort(table[:, 0], kind="stable")
    names = ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
    return Submits(
        times=table[order, 0],
        classes=table[order, 1],
        resolution=1,
        source=f"Google cluster trace 2011, job_events ({names})",
        report=TraceReport(
            rows=rows,
            submits=submits,
            duplicates=submits - len(first),
            at_time_zero=len(first) - len(kept),
            malformed_rows=bad,
            malformed=tuple(malformed),
        ),
    )


class _RowError(Exception):
    """The rule that a row breaks."""


def _no_submit(malformed: int, first: MalformedRow | None) -> str:
    rule = "has no valid SUBMIT row (event type 0)"
    if first is not None:
        rule += f"; {malformed} malformed rows, the first in line {first.line}: {first.rule}"
    return rule


def _submit(text: str) -> tuple[int, int, int] | None:
    """Return time, job id and class of a SUBMIT row, None for other events."""
    row = _split(text)
    if len(row) != COLUMNS:
        raise _RowError(f"must have {COLUMNS} columns (got {len(row)})")
    time = _whole(row[0], "time", AFTER_THE_TRACE)
    job = _whole(row[2], "job id", LARGEST_ID)
    if _whole(row[3], "event type", HIGHEST_EVENT_TYPE) != SUBMIT:
        return None
    scheduling_class = _whole(row[5], "scheduling class", HIGHEST_CLASS)
    if time == AFTER_THE_TRACE:
        raise _RowError("time of a SUBMIT must not be the mark for after the trace's end")
    return time, job, scheduling_class


def _split(text: str) -> list[str]:
    # The published files quote nothing, and splitting is several times faster than csv. One line
    # at a time, because an unbalanced quote must not swallow the rows that follow.
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error as error:
        raise _RowError(f"must be one CSV row ({error})") from None


def _whole(text: str, column: str, largest: int) -> int:
    # int() would also take "+5", " 5", "1_000" and digits of other scripts.
    if text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= largest:
        return int(text)
    shown = text if len(text) <= 30 else text[:27] + "..."
    raise _RowError(f"{column} must be a whole number from 0 to {largest} (got {shown!r})")


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of the lines that are not blank."""
    number = 0
    with _opened(file) as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise InputError(
                    f"is not a trace: line {number} is longer than {LONGEST_LINE} bytes",
                    source=str(file),
                )
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise _not_text(file, number) from None
            if "\0" in text:
                raise _not_text(file, number)
            text = text.strip("\r\n")
            if text.strip():
                yield number, text


def _not_text(file: Path, line: int) -> InputError:
    return InputError(f"must be a UTF-8 text file, but line {line} is not text", source=str(file))


@contextmanager
def _opened(file: Path) -> Iterator[BufferedIOBase]:
    """Open a plain or gzip file for reading bytes; failures name the file."""
    try:
        with file.open("rb") as raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked
            else:
                yield raw
    except EOFError:
        raise InputError("is a truncated gzip file", source=str(file)) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file: {error}", source=str(file)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(file)) from None
