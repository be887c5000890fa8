"""The command that measures how long typical work takes: bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from experiments.cli.families import Family
from experiments.cli.options import AsJson
from experiments.cli.output import Table, answers_only, emit, emit_json
from models.files import InputError

__all__ = ["bench"]


def bench(
    families: Sequence[Family],
    names: Annotated[list[str] | None, typer.Argument(metavar="[FAMILY]...")] = None,
    as_json: AsJson = False,
) -> int:
    """Measure how long typical work takes on this machine."""
    known = {family.name: family for family in families if family.bench is not None}
    for name in names or ():
        if name not in known:
            raise InputError(f"must be one of {', '.join(known)}", source="FAMILY", value=name)
    measured = {}
    for name in dict.fromkeys(names or known):
        function = known[name].bench
        assert function is not None
        with answers_only():
            measured[name] = function()
        if not as_json:
            emit(f"{name}\n")
            emit("\n".join(_lines(measured[name])))
    if as_json:
        emit_json(measured)
    return 0


def _lines(content: Mapping[str, Any]) -> list[str]:
    """Lay out numbers as lines, and mappings of records as tables."""
    lines = []
    for name, value in content.items():
        heading = name.replace("_", " ")
        if not isinstance(value, Mapping):
            lines.append(
                f"{heading}: {value:.6g}" if isinstance(value, float) else f"{heading}: {value}"
            )
        elif all(isinstance(record, Mapping) for record in value.values()):
            columns = list(dict.fromkeys(key for record in value.values() for key in record))
            rows = [[row, *(record.get(key) for key in columns)] for row, record in value.items()]
            lines.append(str(Table((heading, *(key.replace("_", " ") for key in columns)), rows)))
        else:
            lines.append(f"{heading}: " + ", ".join(f"{key} {part}" for key, part in value.items()))
    return lines
