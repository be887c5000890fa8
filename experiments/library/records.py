"""The files of ``data/library``: one per family, and one solution per instance.

An instance is a recipe: the generator's options and seed. A digest of the instance that came out
shows whether a generator has changed since. Of the optimum an interval is known; the side that a
solution attains (lower if the family maximises, else upper) is the objective of the solution that
lies beside the file, and the other is a bound that somebody proved.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, StringConstraints, model_validator

from models.data import data_file
from models.files import (
    FileModel,
    FrozenDict,
    InputError,
    Name,
    check_unique,
    parse_model,
    read_model,
    to_json,
    write_atomic,
)

__all__ = ["Entry", "Library", "Side", "agree", "read_library", "solution_path", "write_library"]

RELATIVE = 1e-6
"""Objectives that differ by less are the same (formats.md)."""

Texts = Annotated[Mapping[str, str], AfterValidator(FrozenDict)]
Recipe = Annotated[Mapping[str, int | float | str], AfterValidator(FrozenDict)]
EntryName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]


def agree(left: float, right: float) -> bool:
    """Tell whether two objectives are the same up to the tolerance of the file format."""
    return abs(left - right) <= RELATIVE * max(abs(left), abs(right)) + 1e-9


class Side(FileModel):
    """One end of the interval: its value, who proved it, and how."""

    value: float
    by: Name
    how: Name


class Entry(FileModel):
    """An instance of the library.

    Attributes
    ----------
    name : str
    small : bool
        Proved again by ``library check``.
    recipe : mapping
        Options of the family's ``generate``, and ``seed``. ``arrivals`` is a table of data/.
    optimum : mapping
        Options of the family's ``optimum``.
    requires : mapping
        What a solution's fields must be, such as the problem that it solves.
    digest : str or None
        SHA-256 of the instance's file; None before it was first made.
    lower, upper : Side or None
    """

    name: EntryName
    small: bool = False
    recipe: Recipe
    optimum: Texts = FrozenDict()
    requires: Texts = FrozenDict()
    digest: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None
    lower: Side | None = None
    upper: Side | None = None

    @model_validator(mode="after")
    def _check(self) -> Entry:
        if not isinstance(self.recipe.get("seed"), int):
            raise InputError("must name the seed, a whole number", field="recipe")
        if (
            self.lower is not None
            and self.upper is not None
            and self.lower.value > self.upper.value
            and not agree(self.lower.value, self.upper.value)
        ):
            raise InputError(
                "must be at least the lower value", field="upper", value=self.upper.value
            )
        return self

    @property
    def gap(self) -> float | None:
        """Width of the interval over its larger end; None while one end is open."""
        if self.lower is None or self.upper is None:
            return None
        size = max(abs(self.lower.value), abs(self.upper.value))
        return 0.0 if size == 0 else max(0.0, self.upper.value - self.lower.value) / size

    @property
    def proved(self) -> bool:
        """Whether the optimum is known."""
        if self.lower is None or self.upper is None:
            return False
        return agree(self.lower.value, self.upper.value)


class Library(FileModel):
    """The instances of one family."""

    kind: Literal["library"] = "library"
    version: Literal[1] = 1
    family: Name
    entries: tuple[Entry, ...]

    @model_validator(mode="after")
    def _check(self) -> Library:
        check_unique((entry.name for entry in self.entries), "entries")
        return self

    def find(self, name: str) -> Entry:
        """Return the entry with this name.

        Raises
        ------
        InputError
            Naming the entries that there are.
        """
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in self.entries)
        raise InputError(f"must be one of {known}", source=f"{self.family}/NAME", value=name)

    def with_entry(self, changed: Entry) -> Library:
        """Return the library with the entry of this name replaced."""
        entries = tuple(changed if e.name == changed.name else e for e in self.entries)
        return self.model_copy(update={"entries": entries})


def _path(family: str) -> Path:
    return data_file(f"library/{family}.json")


def read_library(family: str) -> Library:
    """Read a family's instances; none if no file comes with the project.

    Raises
    ------
    InputError
        Naming the file and the field that is wrong.
    """
    try:
        return read_model(Library, _path(family))
    except FileNotFoundError:
        return Library(family=family, entries=())


def write_library(library: Library) -> None:
    """Write a family's instances where they were read."""
    write_atomic(_path(library.family), to_json(library))


def solution_path(family: str, entry: Entry) -> Path:
    """Return where the solution of an entry lies, or is to lie."""
    return _path(family).parent / family / f"{entry.name}.json.gz"


def read_solution(model: type[FileModel], path: Path) -> FileModel:
    """Read a solution, packed by gzip if its name ends so.

    Raises
    ------
    InputError
    """
    if path.suffix != ".gz":
        return read_model(model, path)
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", source=str(path)) from None
    return parse_model(model, text, str(path))


def write_solution(solution: FileModel, path: Path) -> None:
    """Write a packed solution; the same solution gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, gzip.compress(to_json(solution).encode("utf-8"), 9, mtime=0))
