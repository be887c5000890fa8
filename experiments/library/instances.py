"""From a recipe to the instance, and from an instance to its digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from models.data import data_file
from models.files import InputError, to_json

if TYPE_CHECKING:
    from experiments.cli.families import Family
    from experiments.library.records import Entry

__all__ = ["digest_of", "make_instance"]

TABLE = "arrivals"
"""The one option whose value is a file: a table of data/."""


def make_instance(family: Family, entry: Entry) -> Any:
    """Draw the instance of an entry.

    Raises
    ------
    InputError
        If the recipe has an option that the generator lacks or refuses.
    """
    options: dict[str, Any] = dict(entry.recipe)
    seed = options.pop("seed")
    if TABLE in options:
        options[TABLE] = data_file(str(options[TABLE]))
    try:
        return family.generate(seed, **options).instance
    except TypeError as error:
        raise InputError(
            f"is no recipe of {family.name}: {error}", source=f"{family.name}/{entry.name}"
        ) from None


def digest_of(instance: Any) -> str:
    """Return the SHA-256 of the instance's file."""
    return hashlib.sha256(to_json(instance).encode("utf-8")).hexdigest()
