"""What goes to stdout (answers) and to stderr (everything said on the way)."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["Table", "answers_only", "emit", "emit_json", "finish_streams", "plain", "say"]


@dataclass(frozen=True)
class Table:
    """A table for people.

    Attributes
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Numbers are shown with six digits, None as ``-``; a column of numbers (or of None alone)
        is set to the right.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        cells = [[_cell(value) for value in row] for row in self.rows]
        widths = [
            max([len(heading), *(len(row[k]) for row in cells)])
            for k, heading in enumerate(self.columns)
        ]
        right = [self._is_numeric(k) for k in range(len(self.columns))]
        lines = [_line(self.columns, widths, right), "  ".join("-" * width for width in widths)]
        lines += [_line(row, widths, right) for row in cells]
        return "\n".join(lines)

    def _is_numeric(self, column: int) -> bool:
        values = [row[column] for row in self.rows if row[column] is not None]
        if not values:  # a number that no row has, such as a completion
            return bool(self.rows)
        return all(isinstance(value, int | float) for value in values)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(str(value).split())


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def plain(value: Any) -> Any:
    """Turn a value into what JSON can hold: numbers that are not finite become None."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json", by_alias=True))
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def emit_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout, in ASCII so that every terminal can hold it."""
    emit(json.dumps(plain(content), indent=1, allow_nan=False))


def emit(text: object) -> None:
    """Print an answer on stdout; a reader that has gone away (``| head``) is not an error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _discard(sys.stdout)


def say(text: str) -> None:
    """Tell the user something on stderr: progress, warnings."""
    with contextlib.suppress(BrokenPipeError):
        print(text, file=sys.stderr, flush=True)


def finish_streams() -> None:
    """Flush both streams, so that a closed pipe does not show up while Python exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """Send what a stream still holds, and gets later, nowhere."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


@contextlib.contextmanager
def answers_only() -> Iterator[None]:
    """Keep stdout free of what libraries print meanwhile, also from C: it goes to stderr."""
    try:
        out, err = sys.stdout.fileno(), sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # a captured stream in a test or a notebook
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    # sys.stdout stays the object that it is: Pyomo, which captures output by descriptors too,
    # waits for itself forever when it finds stderr in stdout's place.
    sys.stdout.flush()
    kept = os.dup(out)
    try:
        os.dup2(err, out)
        yield
    finally:
        sys.stdout.flush()
        _flush_c_streams()
        os.dup2(kept, out)
        os.close(kept)


def _flush_c_streams() -> None:
    # C has its own buffer in front of stdout, and would empty it after we have switched back.
    with contextlib.suppress(ImportError, OSError, TypeError, AttributeError):
        import ctypes

        ctypes.CDLL(None).fflush(None)
