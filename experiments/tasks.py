"""Which tasks a sweep consists of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.declaration import Experiment, resolve
from experiments.store import Key, canonical
from models.files import InputError

__all__ = ["check_options", "tasks_of"]


def tasks_of(
    experiment: Experiment,
    *,
    seeds: int | None = None,
    quick: bool = False,
    options: Mapping[str, Any] | None = None,
) -> list[Key]:
    """Return the tasks of a sweep: every grid point with seed 0, then with seed 1, and so on.

    In this order a sweep that is stopped early has all its points, with fewer seeds each.

    Parameters
    ----------
    experiment : Experiment
    seeds : int, optional
        Seeds per point; the declaration's number by default.
    quick : bool
        The small grid.
    options : mapping, optional
        Parameters to add to every point; the declaration must name them. A `Path` is a file:
        the digest of its content goes beside it, as ``NAME_sha256``, so that rows of another
        file of the same name are not taken for its rows.

    Raises
    ------
    InputError
        For an unknown option, a file that cannot be read or a number of seeds below 1.
    """
    if seeds is None:
        seeds = experiment.quick_seeds if quick else experiment.seeds
    if seeds < 1:
        raise InputError("must be at least 1", field="seeds", value=seeds)
    points = [canonical(point) for point in _points(experiment, quick, options or {})]
    return [Key(point, seed) for seed in range(seeds) for point in dict.fromkeys(points)]


def check_options(
    experiment: Experiment, *, quick: bool = False, options: Mapping[str, Any] | None = None
) -> None:
    """Refuse options that no task could use, such as a file that is no trace.

    Parameters
    ----------
    experiment, quick, options
        See `tasks_of`.

    Raises
    ------
    InputError
        Naming the file or option, and what is wrong with it.
    """
    if experiment.check:
        resolve(experiment.check)(_points(experiment, quick, options or {}))


def _points(
    experiment: Experiment, quick: bool, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    added: dict[str, Any] = {}
    for name, value in options.items():
        if name not in experiment.options:
            raise InputError(f"{experiment.name} has no such option", field=name)
        added[name] = str(value) if isinstance(value, Path) else value
        if isinstance(value, Path):
            added[f"{name}_sha256"] = _digest(value)
    return [{**point, **added} for point in experiment.parameters(quick)]


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
