"""The command ``schedlab splitting picture``: one kind of picture alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli.arguments import FIGURES, check_outputs, check_suffix
from experiments.cli.inspecting import FigureFile
from experiments.cli.options import InstanceFile
from experiments.cli.output import answers_only
from models.files import InputError

if TYPE_CHECKING:
    from experiments.splitting.pictures import Kind

__all__ = ["picture"]


def picture(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="network|layered|timeline",
            help="network: kinds of nodes, links and paths; layered: the layered graph in three "
            "dimensions with the paths; timeline: when each job computes, sends and waits, in the "
            "fictitious system and in the real network.",
        ),
    ],
    instance: InstanceFile,
    output: FigureFile,
    solution: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOLUTION]", help="Solution (JSON); without it no paths, and no timeline."
        ),
    ] = None,
    jobs: Annotated[
        str,
        typer.Option(
            metavar="A,B,C", help="Only these jobs. [default: all; of layered the first 5]"
        ),
    ] = "",
) -> int:
    """Draw the network, the layered graph, or the jobs' time."""
    chosen = _kind(kind)
    check_suffix("-o", output, FIGURES)
    if chosen == "timeline" and solution is None:
        raise InputError("is needed for a timeline", source="SOLUTION")
    inputs = (instance,) if solution is None else (instance, solution)
    check_outputs({"-o": output}, inputs=inputs)
    with answers_only():
        from experiments.splitting.pictures import draw_picture
        from models.splitting import load_instance, load_routing

        loaded = load_instance(instance)
        routing = None if solution is None else load_routing(solution)
        names = [name.strip() for name in jobs.split(",")] if jobs else []
        try:
            draw_picture(chosen, loaded, routing, output, jobs=names)
        except InputError as error:
            if error.source:
                raise
            if error.field == "jobs":
                raise InputError(f"--{error}") from None  # the argument is an option here
            raise error.within(str(instance if error.field == "nodes" else solution)) from None
    return 0


def _kind(text: str) -> Kind:
    from experiments.splitting.pictures import KINDS

    for kind in KINDS:
        if text == kind:
            return kind
    raise InputError(f"must be one of {', '.join(KINDS)}", source="KIND", value=text)
