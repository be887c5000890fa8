"""Count the table ``data/google2011_submits.csv`` from raw parts of the Google trace.

``python -m experiments.training.count_google_submits PART... -o data/google2011_submits.csv``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from models.files import InputError, write_atomic
from models.google_table import submit_table
from models.google_trace import TraceReport, read_trace

__all__ = ["counted_table", "main"]


def counted_table(parts: Sequence[Path]) -> str:
    """Return the table's text: the same parts give the same bytes, in whatever order."""
    parts = sorted(parts, key=lambda part: part.name)
    submits = read_trace(parts)
    report = submits.report
    assert report is not None  # read_trace always reports
    return submit_table(submits, _comments([part.name for part in parts], report, len(submits)))


def _comments(names: Sequence[str], report: TraceReport, kept: int) -> list[str]:
    return [
        "Job submissions per minute and scheduling class in the Google cluster trace of 2011.",
        "Counted from: Google cluster data 2011-2 (C. Reiss, J. Wilkes, J. L. Hellerstein),",
        "table job_events, licence CC-BY 4.0 (https://creativecommons.org/licenses/by/4.0/).",
        "Changed: only counts are left. Minute m is [m, m + 1) minutes after the trace's time 0.",
        *(f"part: {name}" for name in names),
        f"rows read: {report.rows}; SUBMIT rows: {report.submits}; submissions counted: {kept}",
        f"left out: {report.duplicates} SUBMIT rows of jobs submitted before, "
        f"{report.at_time_zero} jobs submitted at time 0, "
        f"{report.malformed_rows} malformed rows",
        "made by: python -m experiments.training.count_google_submits PART... -o FILE",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; returns the exit code (2 for bad input)."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.training.count_google_submits",
        description="Count submissions per minute and class in parts of the Google trace 2011.",
    )
    parser.add_argument("parts", nargs="+", type=Path, metavar="PART", help="job_events CSV[.gz]")
    parser.add_argument("-o", "--output", required=True, type=Path, help="table to write")
    options = parser.parse_args(arguments)
    try:
        write_atomic(options.output, counted_table(options.parts))
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
