"""The dispatch family on the command line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.arguments import check_outputs
from experiments.cli.dispatch_text import count, describe, outcome_table, remarks
from experiments.cli.families import Bounds, Family, Generated
from experiments.cli.options import AsJson, Seed
from experiments.cli.output import answers_only, emit, emit_json
from models.files import InputError

if TYPE_CHECKING:
    from algorithms.policy import Parameters, Policy, Run
    from models.audit import AuditReport
    from models.dispatch import DispatchInstance, DispatchSchedule
    from models.files import FileModel

__all__ = ["DISPATCH"]

Cap = Annotated[
    str,
    typer.Option(
        metavar="WATTS|PERCENT|none",
        help="Power cap; per cent of what everything busy draws above the idle system.",
    ),
]


def _instance_model() -> type[FileModel]:
    from models.dispatch import DispatchInstance

    return DispatchInstance


def _solution_model() -> type[FileModel]:
    from models.dispatch import DispatchSchedule

    return DispatchSchedule


def _audit(instance: DispatchInstance, schedule: DispatchSchedule) -> AuditReport:
    from models.dispatch import audit

    return audit(instance, schedule)


def _policies() -> Mapping[str, Policy]:
    from algorithms.dispatch import POLICIES

    return POLICIES


def _generate(
    seed: int,
    *,
    nodes: Annotated[int, typer.Option(min=1, help="Number of nodes, N.")] = 64,
    jobs: Annotated[int, typer.Option(min=0, help="Number of jobs, J.")] = 100,
    cap: Cap = "35%",
    span: Annotated[
        int,
        typer.Option(min=0, metavar="SECONDS", help="Submits are uniform from 0 to this."),
    ] = 0,
) -> Generated:
    from models.dispatch.generator import generate

    generated = generate(nodes, jobs, cap=cap, span=span, seed=seed)
    return Generated(generated.instance, generated.notes)


def _run(
    policy: Policy,
    instance: DispatchInstance,
    parameters: Parameters,
    seed: int,
    *,
    simulate: Annotated[
        bool,
        typer.Option("--simulate", help="On-line, with real run times and power, not a plan."),
    ] = False,
    overrun: Annotated[
        str | None,
        typer.Option(
            metavar="killed|extended",
            help="With --simulate: what becomes of jobs that outrun their estimate.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="With --simulate: raises predicted power before a job starts."
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(metavar="JOBS", help="With --simulate: tried at an event; default all."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="ORDERS", help="With --simulate and hybrid: tried at an event."),
    ] = None,
) -> Run:
    options = {"overrun": overrun, "margin": margin, "depth": depth, "budget": budget}
    given = {name: value for name, value in options.items() if value is not None}
    if not simulate:
        for name, value in given.items():
            raise InputError("goes with --simulate only", source=f"--{name}", value=value)
        return policy.run(instance, parameters, seed)
    from pydantic import ValidationError

    from algorithms.dispatch.simulation import SimulationSettings, simulate_policy
    from models.files import first_error

    try:
        settings = SimulationSettings(**given)
    except ValidationError as error:
        raise InputError(f"--{first_error(error)}") from None
    try:
        return simulate_policy(policy, instance, parameters, seed, settings)
    except InputError as error:
        if not error.source and error.field in ("policy", "budget"):
            raise InputError(f"--{error}") from None
        raise


def _optimum(instance: DispatchInstance, time_limit: float, seed: int) -> Bounds:
    from algorithms.dispatch.exact.optimum import optimum
    from algorithms.policy import NoSolution

    began = time.monotonic()
    try:
        found = optimum(instance, time_limit=time_limit, seed=seed)
    except NoSolution as reason:
        seconds = time.monotonic() - began
        return Bounds("infeasible", None, None, None, seconds, (str(reason),))
    seconds = time.monotonic() - began
    return Bounds(found.status, found.lower, found.upper, found.schedule, seconds)


def _write_formulation(instance: DispatchInstance, path: Path) -> None:
    from experiments.formulation import write_formulation
    from models.dispatch.time_indexed import build_time_indexed

    write_formulation(build_time_indexed(instance, node_exact=True), path)


def _plot(instance: DispatchInstance, schedule: DispatchSchedule, path: Path) -> None:
    from experiments.dispatch.gantt import plot_schedule

    plot_schedule(instance, schedule, path)


def _bench() -> Mapping[str, Any]:
    from experiments.dispatch.bench import bench

    return bench()


def import_log(
    log: Annotated[Path, typer.Argument(metavar="FILE.swf[.gz]", help="Log in SWF.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Instance file to write.")
    ],
    nodes: Annotated[int, typer.Option(min=1, help="Number of nodes.")],
    cores_per_node: Annotated[int, typer.Option(min=1, help="Cores of each node.")],
    memory: Annotated[
        float | None, typer.Option(metavar="GB", help="Memory of each node; none: no resource.")
    ] = None,
    cap: Cap = "none",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many usable rows.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Make an instance of a workload log; tells which rows were dropped and why."""
    from models.dispatch import save_instance
    from models.dispatch.swf import import_swf

    check_outputs({"-o": output}, inputs=(log,))
    with answers_only():
        try:
            imported = import_swf(
                log, nodes, cores_per_node, memory=memory, cap=cap, limit=limit, seed=seed
            )
        except InputError as error:
            if not error.source and error.field in ("memory", "cap"):
                raise InputError(f"--{error}") from None  # the argument is an option here
            raise error.within(str(log)) from None
        save_instance(imported.instance, output)
    if as_json:
        content: dict[str, Any] = {
            "jobs": imported.instance.number_of_jobs,
            "dropped": [{"line": row.line, "reason": row.reason} for row in imported.dropped],
        }
        emit_json(content)
    else:
        for note in imported.notes:
            emit(note)
    return 0


DISPATCH = Family(
    name="dispatch",
    summary="Jobs of a supercomputer under a power cap (PhD thesis, Bologna 2017).",
    sense="min",
    objective="weighted queue time [s]",
    instance_model=_instance_model,
    solution_model=_solution_model,
    audit=_audit,
    policies=_policies,
    generate=_generate,
    describe=describe,
    count=count,
    outcome_table=outcome_table,
    optimum=_optimum,
    write_formulation=_write_formulation,
    plot=_plot,
    bench=_bench,
    run=_run,
    remarks=remarks,
    commands={"import": import_log},
)
