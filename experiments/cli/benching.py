"""The command that measures how long typical work takes: bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.arguments import check_outputs
from experiments.cli.families import Family
from experiments.cli.options import AsJson
from experiments.cli.output import Table, answers_only, emit, emit_json
from models.files import InputError

if TYPE_CHECKING:
    from experiments.bench_reference import BenchReference

__all__ = ["bench"]

FELL_SHORT = 1


def bench(
    families: Sequence[Family],
    names: Annotated[list[str] | None, typer.Argument(metavar="[FAMILY]...")] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="REFERENCE",
            help="Compare with a stored reference, by ratios only; exit code 1 if one has fallen.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the ratios as a reference."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Measure how long typical work takes on this machine, alternatives side by side."""
    from experiments.bench_reference import FALLEN, BenchReference, reference_of
    from experiments.versions import versions
    from models.files import read_model, write_model

    known = {family.name: family for family in families if family.bench is not None}
    for name in names or ():
        if name not in known:
            raise InputError(f"must be one of {', '.join(known)}", source="FAMILY", value=name)
    chosen = list(dict.fromkeys(names or known))
    check_outputs({"-o": output}, inputs=[against] if against else [])
    stored = read_model(BenchReference, against) if against else None
    if stored is not None:
        for name in names or ():
            if name not in stored.families:
                raise InputError(
                    "must hold ratios of every family that is named",
                    source=str(against),
                    field="families",
                    value=name,
                )
        chosen = [name for name in chosen if name in stored.families]
    measured = {}
    for name in chosen:
        function = known[name].bench
        assert function is not None
        with answers_only():
            measured[name] = function()
        if not as_json:
            emit(f"{name}\n")
            emit("\n".join(_lines(measured[name])))
    reference = reference_of(measured)
    rows = _compared(stored, reference, chosen) if stored is not None else []
    if output is not None:
        write_model(reference, output)
    if as_json:
        emit_json(
            {
                "kind": "bench-times",
                "version": 1,
                "versions": versions(),
                "families": measured,
                "against": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
            }
        )
    elif stored is not None:
        emit("")
        emit(Table(COLUMNS, [list(row) for row in rows]))
    return FELL_SHORT if any(row[-1] == FALLEN for row in rows) else 0


COLUMNS = ("ratio", "then", "now", "verdict")


def _compared(
    stored: BenchReference, found: BenchReference, families: Sequence[str]
) -> list[tuple[str, float | None, float | None, str]]:
    from experiments.bench_reference import compare

    return [
        (f"{family} / {name}", then, now, verdict)
        for family in families
        for name, then, now, verdict in compare(stored.families[family], found.families[family])
    ]


def _lines(content: Mapping[str, Any], above: str = "") -> list[str]:
    """Lay out numbers as lines, and mappings of records as tables."""
    lines = []
    for name, value in content.items():
        heading = above + name.replace("_", " ")
        if not isinstance(value, Mapping):
            lines.append(f"{heading}: {_shown(value)}")
        elif all(isinstance(record, Mapping) for record in value.values()):
            columns = list(dict.fromkeys(key for record in value.values() for key in record))
            rows = [[row, *(record.get(key) for key in columns)] for row, record in value.items()]
            lines.append(str(Table((heading, *(key.replace("_", " ") for key in columns)), rows)))
        elif any(isinstance(part, Mapping) for part in value.values()):
            lines += _lines(value, f"{heading}, ")
        else:
            parts = (f"{key.replace('_', ' ')} {_shown(part)}" for key, part in value.items())
            lines.append(f"{heading}: " + ", ".join(parts))
    return lines


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
