"""The commands on the benchmark instances that come with the project: library, check, improve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.arguments import check_outputs, choose_policies
from experiments.cli.families import Family
from experiments.cli.options import AsJson, new_app, with_options
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from models.files import InputError

if TYPE_CHECKING:
    from experiments.library.records import Entry

__all__ = ["library_app"]

CHECK_SECONDS = 60.0
OWN = "schedlab"

InstanceName = Annotated[str, typer.Argument(metavar="FAMILY/NAME", help="As `library` lists it.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[FAMILY|FAMILY/NAME]...", help="All by default.")
]


def library_app(families: Sequence[Family]) -> typer.Typer:
    """Make ``schedlab library``."""
    app = new_app("Benchmark instances, with the best that is known of them.", "library")
    known = {family.name: family for family in families}

    def made(body: Callable[..., int]) -> Callable[..., int]:
        return with_options(body, (known,), None)

    app.callback(invoke_without_command=True)(made(library))
    app.command("list")(made(list_instances))
    app.command("check")(made(check))
    app.command("write")(made(write))
    app.command("improve")(made(improve))
    return app


def library(known: dict[str, Family], context: typer.Context, as_json: AsJson = False) -> int:
    """Benchmark instances of each family, with the best that is known of them; lists them."""
    return 0 if context.invoked_subcommand else list_instances(known, None, as_json)


def list_instances(known: dict[str, Family], names: Names = None, as_json: AsJson = False) -> int:
    """List instances with the interval that holds the optimum.

    With --json also who proved each end of it, and with what.
    """
    chosen = _chosen(known, names)
    if as_json:
        emit_json({"instances": [_content(family, entry) for family, entry in chosen]})
        return 0
    rows = [
        (
            f"{family.name}/{entry.name}",
            ", ".join(f"{key} {value}" for key, value in entry.recipe.items()),
            None if entry.lower is None else entry.lower.value,
            None if entry.upper is None else entry.upper.value,
            None if entry.gap is None else 0.0 if entry.proved else 100 * entry.gap,
            "" if entry.lower is None else _short(entry.lower.how),
            "" if entry.upper is None else _short(entry.upper.how),
        )
        for family, entry in chosen
    ]
    columns = ("instance", "recipe", "lower", "upper", "gap [%]", "lower by", "upper by")
    emit(Table(columns, rows))
    counts = Counter(family.name for family, _ in chosen)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    proved = sum(entry.proved for _, entry in chosen)
    say(f"{told or 'none yet'}; {proved} of {len(chosen)} solved to optimality")
    return 0


def check(
    known: dict[str, Family],
    names: Names = None,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", min=0, help="Seconds for each proof; 0 proves nothing."),
    ] = CHECK_SECONDS,
    as_json: AsJson = False,
) -> int:
    """Audit every solution of the library again, and prove the small instances again."""
    from experiments.library.checking import check_entry

    findings = []
    for family, entry in _chosen(known, names):
        with answers_only():
            found = check_entry(family, entry, time_limit or None)
        findings.append(found)
        if not as_json:
            took = "" if found.seconds is None else f" ({found.seconds:.1f} s)"
            emit(f"{found.name}: {'; '.join(found.faults) or 'ok'} {found.proof}{took}".rstrip())
    bad = sum(bool(found.faults) for found in findings)
    if as_json:
        emit_json({"checked": [{**vars(found), "ok": not found.faults} for found in findings]})
    else:
        again = sum(found.seconds is not None and not found.faults for found in findings)
        say(f"{len(findings)} checked, {again} proved again, {bad} not as recorded")
    return 1 if bad else 0


def write(
    known: dict[str, Family],
    name: InstanceName,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The instance's file.")
    ],
    solution: Annotated[
        Path | None,
        typer.Option("--solution", metavar="FILE", help="Write the best known solution, too."),
    ] = None,
) -> int:
    """Write an instance of the library to a file, for any solver."""
    from experiments.library.instances import make_instance
    from experiments.library.records import read_solution, solution_path
    from models.files import write_model

    check_outputs({"--output": output, "--solution": solution})
    family, entry = _one(known, name)
    with answers_only():
        instance = make_instance(family, entry)
    best = None
    if solution is not None:
        best = read_solution(family.solution_model(), solution_path(family.name, entry))
    write_model(instance, output)
    if solution is not None and best is not None:
        write_model(best, solution)
    return 0


def improve(
    known: dict[str, Family],
    name: InstanceName,
    solution: Annotated[
        Path | None,
        typer.Argument(metavar="[SOLUTION]", help="A solution of yours; else one is computed."),
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Who found it.")] = OWN,
    how: Annotated[str, typer.Option("--how", help="How it was found, in a few words.")] = "",
    policies: Annotated[
        str, typer.Option("--policies", metavar="A,B,...", help="To run with seed 0, first.")
    ] = "",
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0, help="Seconds for the exact method.")
    ] = CHECK_SECONDS,
) -> int:
    """Record a better value; it is taken only with a solution that passes the audit.

    Exit code 1 says that nothing got better.
    """
    from experiments.library.improving import improve_by_computing, improve_by_solution

    family, entry = _one(known, name)
    with answers_only():
        if solution is not None:
            found = improve_by_solution(
                family, entry, family.load_solution(solution), by=by, how=how or "not told"
            )
        else:
            chosen = choose_policies(family.policies(), policies) if policies else []
            found = improve_by_computing(
                family,
                entry,
                policies=tuple(policy.name for policy in chosen),
                time_limit=time_limit,
                by=by,
                how=how or _versions(),
            )
    for reason in found.refused:
        say(f"{name}: refused: {reason}")
    new = found.entry
    interval = [
        "unknown" if side is None else f"{side.value:.10g}" for side in (new.lower, new.upper)
    ]
    sides = f"better {' and '.join(dict.fromkeys(found.better))}" if found.better else "no better"
    emit(f"{name}: {sides}: {interval[0]} to {interval[1]}")
    return 0 if found.better else 1


def _versions() -> str:
    from experiments.versions import versions

    found = versions()
    return ", ".join(f"{name} {found[name]}" for name in ("schedlab", "highspy", "ortools"))


def _chosen(known: dict[str, Family], names: Sequence[str] | None) -> list[tuple[Family, Entry]]:
    """Return the named entries, or all: by family, in the order of the files."""
    from experiments.library.records import read_library

    found: dict[str, tuple[Family, Entry]] = {}
    for name in names or known:
        if "/" in name:
            found[name] = _one(known, name)
            continue
        family = _family(known, name)
        for entry in read_library(family.name).entries:
            found[f"{family.name}/{entry.name}"] = (family, entry)
    return list(found.values())


def _one(known: dict[str, Family], name: str) -> tuple[Family, Entry]:
    from experiments.library.records import read_library

    before, sign, after = name.partition("/")
    if not sign:
        raise InputError("must be FAMILY/NAME", source="FAMILY/NAME", value=name)
    family = _family(known, before)
    return family, read_library(family.name).find(after)


def _family(known: dict[str, Family], name: str) -> Family:
    if name not in known:
        raise InputError(f"must be one of {', '.join(known)}", source="FAMILY", value=name)
    return known[name]


def _content(family: Family, entry: Entry) -> dict[str, Any]:
    return {
        "family": family.name,
        "sense": family.sense,
        "proved": entry.proved,
        "gap": entry.gap,
        **entry.model_dump(mode="json"),
    }


def _short(how: str) -> str:
    return how.partition(";")[0]
