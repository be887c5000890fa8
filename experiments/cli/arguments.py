"""Checks of what stands on the command line, made before any long work starts."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from models.files import InputError

if TYPE_CHECKING:
    from algorithms.policy import Parameters, Policy

__all__ = [
    "check_outputs",
    "check_positive",
    "check_suffix",
    "choose_policies",
    "choose_policy",
    "read_parameters",
    "split_settings",
]

FIGURES = (".png", ".svg")
MODELS = (".lp", ".mps")


def check_outputs(outputs: Mapping[str, Path | None], inputs: Collection[Path] = ()) -> None:
    """Make sure that every file can be written where it is wanted.

    Parameters
    ----------
    outputs : mapping of option name to path or None
    inputs : collection of Path
        Files that must not be overwritten.

    Raises
    ------
    InputError
        If a folder is missing or closed, or two files are the same.
    """
    taken = {path.resolve(): "an input file" for path in inputs}
    for option, path in outputs.items():
        if path is None:
            continue
        try:
            _check_place(option, path)
            place = path.resolve()
        except OSError as error:  # a name that is too long, a loop of links
            raise InputError(
                f"cannot be written: {error.strerror or error}", source=option, value=str(path)
            ) from None
        if place in taken:
            raise InputError(
                f"must not be the same file as {taken[place]}", source=option, value=str(path)
            )
        taken[place] = option


def _check_place(option: str, path: Path) -> None:
    if path.is_dir():
        raise InputError("must be a file, but is a folder", source=option, value=str(path))
    if not path.parent.is_dir():
        raise InputError("must be in an existing folder", source=option, value=str(path))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError("must be in a writable folder", source=option, value=str(path))


def check_suffix(option: str, path: Path | None, known: Sequence[str]) -> None:
    """Make sure that a file's name ends in a known way, in capital letters or not."""
    if path is not None and path.suffix.lower() not in known:
        raise InputError(f"must end in {' or '.join(known)}", source=option, value=str(path))


def check_positive(option: str, value: float) -> None:
    """Make sure that a number is above 0 and finite."""
    if not (math.isfinite(value) and value > 0):
        raise InputError("must be a positive, finite number", source=option, value=value)


def choose_policy(policies: Mapping[str, Policy], name: str, option: str = "--policy") -> Policy:
    """Return the policy with this name.

    Raises
    ------
    InputError
        Listing the names that exist.
    """
    if name not in policies:
        raise InputError(f"must be one of {', '.join(policies)}", source=option, value=name)
    return policies[name]


def choose_policies(policies: Mapping[str, Policy], names: str) -> list[Policy]:
    """Return the policies of a list such as ``fifo,drf``."""
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if wanted.count(name) > 1:
            raise InputError("must name each policy once", source="--policies", value=names)
    return [choose_policy(policies, name, "--policies") for name in wanted]


def split_settings(settings: Sequence[str]) -> dict[str, str]:
    """Split ``key=value`` texts; the value may hold further equality signs."""
    options: dict[str, str] = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        key = key.strip()
        if not sign or not key:
            raise InputError("must be written key=value", source="--set", value=setting)
        if key in options:
            raise InputError("must set each key once", source="--set", value=key)
        options[key] = value.strip()
    return options


def read_parameters(policy: Policy, settings: Sequence[str]) -> Parameters:
    """Build a policy's parameters from the texts of ``--set``.

    Raises
    ------
    InputError
        For a key that the policy does not have, or a value that it refuses.
    """
    options = split_settings(settings)
    known = policy.parameters.model_fields
    for key in options:
        if key not in known:
            rule = f"is not a parameter of {policy.name}, which has "
            rule += ", ".join(known) if known else "none"
            raise InputError(rule, source="--set", value=key)
    return policy.parameters.from_options(options)
