"""Deep networks as chains of layers: the table of profiles that the project ships."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from models.data import data_file
from models.files import InputError, read_text
from models.splitting.instance import Job, Layer

__all__ = ["PROFILE_COLUMNS", "TABLE", "Profile", "profile_table", "read_profiles"]

TABLE = "dnn_profiles.csv"  # its name in data/
PROFILE_COLUMNS = ("model", "layer", "name", "multiplications", "output_bytes", "memory_bytes")
LARGEST_NUMBER = 10**18  # of operations or bytes


@dataclass(frozen=True)
class Profile:
    """One deep network.

    Attributes
    ----------
    name : str
    input : int
        d_0 [bytes].
    layer_names : tuple of str
        What each layer is, such as "conv1+pool1".
    multiplications : tuple of int
        c_l, one multiply-add counting as one.
    outputs : tuple of int
        d_l [bytes].
    memory : tuple of int
        Bytes of each layer's parameters.
    """

    name: str
    input: int
    layer_names: tuple[str, ...]
    multiplications: tuple[int, ...]
    outputs: tuple[int, ...]
    memory: tuple[int, ...]

    def job(self, name: str, source: str, destination: str) -> Job:
        """Make the job that runs this network once."""
        layers = tuple(
            Layer(compute=float(compute), output=float(output), memory=float(memory))
            for compute, output, memory in zip(
                self.multiplications, self.outputs, self.memory, strict=True
            )
        )
        return Job(
            name=name,
            source=source,
            destination=destination,
            input=float(self.input),
            layers=layers,
        )


def profile_table(profiles: list[Profile], comments: list[str]) -> str:
    """Return the table's text: comment lines, column names, one row per layer, 0 for the input."""
    lines = [f"# {comment}" for comment in comments]
    lines.append(",".join(PROFILE_COLUMNS))
    for profile in profiles:
        lines.append(f"{profile.name},0,input,0,{profile.input},0")
        rows = zip(
            profile.layer_names,
            profile.multiplications,
            profile.outputs,
            profile.memory,
            strict=True,
        )
        lines += [
            f"{profile.name},{number},{','.join(map(str, row))}"
            for number, row in enumerate(rows, start=1)
        ]
    return "\n".join(lines) + "\n"


def read_profiles(path: str | Path | None = None) -> dict[str, Profile]:
    """Read a table of profiles.

    Parameters
    ----------
    path : path, optional
        Without it, the table of the project.

    Returns
    -------
    dict of str to Profile
        In the table's order.

    Raises
    ------
    InputError
        Naming file, line, column, value and rule.
    """
    return dict(_shipped()) if path is None else _read(path)


@functools.cache
def _shipped() -> dict[str, Profile]:
    return _read(data_file(TABLE))


Row = tuple[str, int, int, int]  # a layer's name, multiplications, output, memory


def _read(path: str | Path) -> dict[str, Profile]:
    models: dict[str, list[Row]] = {}
    header_seen = False
    source = str(path)
    last = ""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        field = f"line {number}"
        cells = line.split(",")
        if not header_seen:
            if tuple(cells) != PROFILE_COLUMNS:
                rule = f"the columns must be {','.join(PROFILE_COLUMNS)}"
                raise InputError(rule, source=source, field=field, value=line)
            header_seen = True
            continue
        if len(cells) != len(PROFILE_COLUMNS):
            rule = f"must have {len(PROFILE_COLUMNS)} columns"
            raise InputError(rule, source=source, field=field, value=line)
        model, layer_name = cells[0], cells[2]
        for column, text in (("model", model), ("name", layer_name)):
            if not text.strip():
                raise InputError(
                    "must not be blank", source=source, field=f"{field}, {column}", value=text
                )
        layer, multiplications, output, memory = (
            _whole(cells[k], source, f"{field}, {PROFILE_COLUMNS[k]}") for k in (1, 3, 4, 5)
        )
        if model != last and model in models:
            rule = "rows of one model must follow each other"
            raise InputError(rule, source=source, field=f"{field}, model", value=model)
        last = model
        rows = models.setdefault(model, [])
        if layer != len(rows):
            rule = f"layers of a model must be 0, 1, 2, ...: {len(rows)} comes next"
            raise InputError(rule, source=source, field=f"{field}, layer", value=layer)
        if layer == 0 and (multiplications or memory):
            column, value = (
                ("multiplications", multiplications)
                if multiplications
                else ("memory_bytes", memory)
            )
            rule = "must be 0 for the input"
            raise InputError(rule, source=source, field=f"{field}, {column}", value=value)
        rows.append((layer_name, multiplications, output, memory))
    if not models:
        raise InputError("has no models", source=source)
    for model, rows in models.items():
        if len(rows) == 1:
            raise InputError("must have at least one layer", source=source, field=model)
    return {model: _profile(model, rows) for model, rows in models.items()}


def _profile(name: str, rows: list[Row]) -> Profile:
    names, multiplications, outputs, memory = zip(*rows[1:], strict=True)
    return Profile(name, rows[0][2], names, multiplications, outputs, memory)


def _whole(text: str, source: str, field: str) -> int:
    # isdecimal() also accepts digits of other scripts; int() too, but a table has no such thing.
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > LARGEST_NUMBER:
        rule = f"must be a whole number from 0 to {LARGEST_NUMBER:g}"
        raise InputError(rule, source=source, field=field, value=text)
    return int(text)
