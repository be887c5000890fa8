"""The command ``schedlab``: puts the commands together and turns outcomes into exit codes.

Exit codes: 0 done; 1 the answer is "no"; 2 bad input or usage; 130 interrupted by Ctrl-C;
70 a mistake of ours, shown with its traceback.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import typer

from experiments.cli.benching import bench
from experiments.cli.claiming import claims
from experiments.cli.commands import family_app
from experiments.cli.dispatch import DISPATCH
from experiments.cli.families import Family
from experiments.cli.interruption import INTERRUPTED, Interruption, prompt_interruption
from experiments.cli.library import library_app
from experiments.cli.multiserver import MULTISERVER
from experiments.cli.options import new_app, with_options
from experiments.cli.output import emit, finish_streams, say
from experiments.cli.reporting import report
from experiments.cli.reproducing import reproduce
from experiments.cli.splitting import SPLITTING
from experiments.cli.storing import results_app
from experiments.cli.training import TRAINING
from models.files import InputError

__all__ = ["FAMILIES", "build_app", "main"]

FAMILIES: tuple[Family, ...] = (TRAINING, SPLITTING, MULTISERVER, DISPATCH)

NO, BAD_INPUT, OUR_MISTAKE = 1, 2, 70


def build_app(families: Sequence[Family] = FAMILIES) -> typer.Typer:
    """Make the whole command line."""
    app = new_app("Scheduling in computing clusters: models, algorithms, audits and experiments.")
    for family in families:
        app.add_typer(family_app(family))
    app.command("reproduce")(reproduce)
    app.command("claims")(claims)
    app.command("report")(report)
    app.add_typer(results_app())
    app.add_typer(library_app(families))
    app.command("bench")(with_options(bench, (families,), None))
    app.command("version")(version)
    return app


def version() -> int:
    """Show the versions of schedlab and of what its numbers depend on."""
    from experiments.versions import versions

    for package, number in sorted(versions().items(), key=lambda item: item[0] != "schedlab"):
        emit(f"{package} {number}")
    return 0


def main(arguments: Sequence[str] | None = None, families: Sequence[Family] = FAMILIES) -> int:
    """Run ``schedlab`` with these arguments (the process's own by default).

    Returns
    -------
    int
        The exit code; see the module's docstring. Nothing is raised.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:  # where people look for it first
        given = ["version"]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names that a terminal cannot show are spelt out
            stream.reconfigure(errors="backslashreplace")
    try:
        with prompt_interruption() as interruption:
            return _run(given, families, interruption)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        finish_streams()


def _run(arguments: list[str], families: Sequence[Family], interruption: Interruption) -> int:
    command = typer.main.get_command(build_app(families))
    try:
        code = command.main(args=arguments, prog_name="schedlab", standalone_mode=False)
    except InputError as error:
        return _refuse(str(error))
    except MemoryError as error:
        return _refuse(f"this takes more memory than there is: {error}".removesuffix(": "))
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as stop:
        # Typer's answer to a reader that has gone away, while it prints help.
        return 0 if isinstance(stop.__context__, BrokenPipeError) else _code(stop.code)
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error of typer, or of click beneath it
            return _refuse(_usage(error))
        if interruption.heard:  # libraries may turn it into an error of their own
            return INTERRUPTED
        traceback.print_exc()
        return OUR_MISTAKE
    return _code(code)


def _code(code: object) -> int:
    return code if isinstance(code, int) else 0 if code is None else NO


def _refuse(message: str) -> int:
    say("error: " + " ".join(message.split()))
    return BAD_INPUT


def _usage(error: Exception) -> str:
    message: str = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    return message if context is None else f"{context.command_path}: {message}"
