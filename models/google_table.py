"""The table of submissions per minute and class that the project ships; arrivals from a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from models.files import InputError, read_text
from models.google_trace import MICROSECONDS_PER_MINUTE, Submits, read_trace

__all__ = ["TABLE", "TABLE_COLUMNS", "read_arrivals", "read_submit_table", "submit_table"]

TABLE = "google2011_submits.csv"  # its name in data/


CLASSES = 4
TABLE_COLUMNS = ("minute", *(f"class{k}" for k in range(CLASSES)))
LARGEST_NUMBER = 10**6  # of a minute or a count; the whole trace has 41,760 minutes


def submit_table(submits: Submits, comments: Iterable[str] = ()) -> str:
    """Count submissions per minute and scheduling class.

    Parameters
    ----------
    submits : Submits
    comments : iterable of str
        Lines for the head of the file, without the leading ``#``.

    Returns
    -------
    str
        CSV text: comment lines, column names, then one row per minute from the first to the
        last with a submission. Minute m is [m, m + 1) minutes after the trace's time 0.
    """
    minutes = submits.times // MICROSECONDS_PER_MINUTE
    first, last = int(minutes[0]), int(minutes[-1])
    counts = np.zeros((last - first + 1, CLASSES), dtype=np.int64)
    np.add.at(counts, (minutes - first, submits.classes), 1)
    lines = [f"# {comment}" for comment in comments]
    lines.append(",".join(TABLE_COLUMNS))
    lines += [
        ",".join(str(number) for number in (minute, *row))
        for minute, row in enumerate(counts.tolist(), start=first)
    ]
    return "\n".join(lines) + "\n"


def read_submit_table(path: str | Path) -> Submits:
    """Read a table that `submit_table` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    Submits
        With the minutes' beginnings as times and a resolution of one minute. Within a minute
        the order is by class, which means nothing: draw the time within the minute.

    Raises
    ------
    InputError
        Naming file, line and rule.
    """
    times: list[int] = []
    classes: list[int] = []
    last_minute = -1
    header_seen = False
    source = str(path)
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        row = line.split(",")
        field = f"line {number}"
        if not header_seen:
            if tuple(row) != TABLE_COLUMNS:
                raise InputError(
                    f"the columns must be {','.join(TABLE_COLUMNS)}",
                    source=source,
                    field=field,
                    value=line,
                )
            header_seen = True
            continue
        if len(row) != len(TABLE_COLUMNS):
            raise InputError(
                f"must have {len(TABLE_COLUMNS)} columns", source=source, field=field, value=line
            )
        minute, *counts = (
            _whole(text, source, f"{field}, {column}")
            for text, column in zip(row, TABLE_COLUMNS, strict=True)
        )
        if minute <= last_minute:
            raise InputError(
                "minutes must ascend", source=source, field=f"{field}, minute", value=minute
            )
        last_minute = minute
        for scheduling_class, count in enumerate(counts):
            times += [minute * MICROSECONDS_PER_MINUTE] * count
            classes += [scheduling_class] * count
    if not times:
        raise InputError("has no submits", source=source)
    return Submits(
        times=np.array(times, dtype=np.int64),
        classes=np.array(classes, dtype=np.int64),
        resolution=MICROSECONDS_PER_MINUTE,
        source=f"Google cluster trace 2011, submits per minute ({Path(path).name})",
    )


def read_arrivals(path: str | Path) -> Submits:
    """Read submissions from a file: a part of the trace (plain or gzip) or a counted table.

    Raises
    ------
    InputError
        From `read_submit_table` if the file begins like a table, else from `read_trace`.
    """
    try:
        with Path(path).open("rb") as stream:
            start = stream.read(8)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
    is_table = start.removeprefix(b"\xef\xbb\xbf").startswith((b"#", b"minut"))
    return read_submit_table(path) if is_table else read_trace(path)


def _whole(text: str, source: str, field: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 7 and int(text) <= LARGEST_NUMBER:
        return int(text)
    raise InputError(
        f"must be a whole number from 0 to {LARGEST_NUMBER}",
        source=source,
        field=field,
        value=text,
    )
