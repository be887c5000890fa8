"""Options that several commands have, and how a family adds its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "AsJson",
    "InstanceFile",
    "Output",
    "Seed",
    "SolutionFile",
    "new_app",
    "own_options",
    "with_options",
]

# Files are checked where they are read, which says what is wrong with them in our own words.
InstanceFile = Annotated[
    Path, typer.Argument(metavar="INSTANCE", help="Instance file (JSON).", readable=False)
]
SolutionFile = Annotated[
    Path, typer.Argument(metavar="SOLUTION", help="Solution file (JSON).", readable=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random draws.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the solution here.")
]


def new_app(help_text: str, name: str | None = None) -> typer.Typer:
    """Make an app or group without colours, so that its texts read the same everywhere."""
    return typer.Typer(
        name=name,
        help=help_text,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def own_options(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the keyword-only parameters of a family's function: they become options.

    Only their annotations are evaluated, since those of the others may name types that are
    imported for type checking alone.
    """
    return [
        parameter.replace(annotation=eval(parameter.annotation, function.__globals__))
        if isinstance(parameter.annotation, str)
        else parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]


def with_options(
    body: Callable[..., int], first: tuple[Any, ...], function: Callable[..., Any] | None
) -> Callable[..., int]:
    """Make a command of a generic body and the options of one family's function.

    Parameters
    ----------
    body : function (*first, command-line parameters..., options) -> exit code
        Its docstring is the command's help.
    first : tuple
        What is passed before the command line's parameters: the family.
    function : function or None
        Its keyword-only parameters are added; their values reach `body` as the mapping
        `options`, which is left out when there is no function.

    Returns
    -------
    function
        With the signature from which typer makes the command.
    """
    own = list(inspect.signature(body, eval_str=True).parameters.values())[len(first) :]
    extra = [] if function is None else own_options(function)
    names = [parameter.name for parameter in extra]

    def command(**given: Any) -> int:
        options = {name: given.pop(name) for name in names}
        if function is None:
            return body(*first, **given)
        return body(*first, **given, options=options)

    shown = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in own + extra
        if parameter.name != "options"
    ]
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    command.__doc__ = body.__doc__
    return command
