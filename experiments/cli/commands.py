"""The commands that every family has, made from its description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from experiments.cli.comparing import compare
from experiments.cli.families import Family
from experiments.cli.inspecting import audit, describe, plot, policies, schema
from experiments.cli.options import new_app, with_options
from experiments.cli.solving import generate, optimum, run

__all__ = ["family_app"]


def family_app(family: Family) -> typer.Typer:
    """Make ``schedlab FAMILY``."""
    app = new_app(family.summary, family.name)
    # Name, body, and the family's function whose keyword-only parameters are options too.
    commands: tuple[tuple[str, Callable[..., int], Callable[..., Any] | None], ...] = (
        ("generate", generate, family.generate),
        ("describe", describe, None),
        ("run", run, family.run),
        ("compare", compare, family.run),
        ("optimum", optimum, family.optimum),
        ("audit", audit, None),
        ("plot", plot, None),
        ("policies", policies, None),
        ("schema", schema, None),
    )
    for name, body, function in commands:
        app.command(name)(with_options(body, (family,), function))
    for name, command in family.commands.items():
        app.command(name)(command)
    return app
