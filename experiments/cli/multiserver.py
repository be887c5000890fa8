"""The multiserver family on the command line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.families import Bounds, Family, Generated
from experiments.cli.multiserver_text import count, describe, outcome_table, remarks
from models.files import InputError

if TYPE_CHECKING:
    from algorithms.policy import Policy
    from models.audit import AuditReport
    from models.files import FileModel
    from models.multiserver import ListArrivals, MultiserverInstance, MultiserverRun

__all__ = ["MULTISERVER"]


def _instance_model() -> type[FileModel]:
    from models.multiserver import MultiserverInstance

    return MultiserverInstance


def _solution_model() -> type[FileModel]:
    from models.multiserver import MultiserverRun

    return MultiserverRun


def _read_instance(path: Path) -> MultiserverInstance:
    from models.multiserver import load_instance

    return load_instance(path)


def _audit(instance: MultiserverInstance, solution: MultiserverRun) -> AuditReport:
    from models.multiserver import audit

    return audit(instance, solution)


def _policies() -> Mapping[str, Policy]:
    from algorithms.multiserver import POLICIES

    return POLICIES


def _generate(
    seed: int,
    *,
    ports: Annotated[int, typer.Option(min=1, help="Number of ports, L.")] = 10,
    instances: Annotated[int, typer.Option(min=1, help="Number of computing instances, R.")] = 20,
    resources: Annotated[int, typer.Option(min=1, help="Number of resources, K.")] = 6,
    degree: Annotated[
        int | None, typer.Option(help="Ports that each instance serves; all by default.")
    ] = None,
    graph: Annotated[
        str,
        typer.Option(metavar="regular|random", help="random: the degree is one on average."),
    ] = "regular",
    contention: Annotated[
        float, typer.Option(help="What the ports of an instance request, over its capacity.")
    ] = 2.0,
    gain: Annotated[
        str, typer.Option(metavar="linear|log|poly|reciprocal|mixed", help="Gain functions.")
    ] = "linear",
    form: Annotated[
        str,
        typer.Option(metavar="sum|channel", help="Gain of a job's total, or of each channel."),
    ] = "sum",
    overhead: Annotated[float, typer.Option(help="Factor on all overheads, beta.")] = 1.0,
    slots: Annotated[int, typer.Option(min=0, help="Number of slots, T.")] = 1000,
    probability: Annotated[float, typer.Option(help="Of a job, by port and slot.")] = 0.7,
    stream: Annotated[
        str,
        typer.Option(
            metavar="bernoulli|bursty|flip",
            help="bursty: busy for 20 slots on average; flip: two ports, one after the other.",
        ),
    ] = "bernoulli",
    arrivals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Jobs of the Google trace (.csv or .csv.gz) instead; their class is the port.",
        ),
    ] = None,
    slot_seconds: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Slots of this length; by default all the trace."),
    ] = None,
) -> Generated:
    from models.multiserver.generator import ASSUMPTIONS, generate

    listed = _arrivals(stream, slots, ports, probability, arrivals, slot_seconds, seed)
    instance = generate(
        ports,
        instances,
        resources,
        degree=degree,
        graph=graph,
        contention=contention,
        gain=gain,
        form=form,
        overhead=overhead,
        slots=slots,
        probability=probability,
        arrivals=listed,
        seed=seed,
    )
    notes = [
        f"seed {seed}: {ports} ports, {instances} instances, {resources} resources, "
        f"{instance.number_of_edges} edges, {slots} slots",
        *(f"assumed: {assumption}" for assumption in ASSUMPTIONS),
    ]
    if listed is not None:
        notes.append(f"jobs: {sum(map(len, listed.ports))}")
    return Generated(instance, notes)


def _arrivals(
    stream: str,
    slots: int,
    ports: int,
    probability: float,
    trace: Path | None,
    slot_seconds: float | None,
    seed: int,
) -> ListArrivals | None:
    """Return arrivals that are written out; None for independent draws."""
    from models.multiserver.streams import named_stream

    if trace is None:
        if slot_seconds is not None:
            raise InputError("is for --arrivals", source="--slot-seconds", value=slot_seconds)
        return named_stream(stream, slots, ports, probability=probability, seed=seed)
    if stream != "bernoulli":
        raise InputError("must not be given with --arrivals", source="--stream", value=stream)
    from models.google_table import read_arrivals
    from models.multiserver.trace import stream_of_trace

    try:
        return stream_of_trace(
            read_arrivals(trace), slots, ports, slot_seconds=slot_seconds, seed=seed
        )
    except InputError as error:
        if error.field == "slot_seconds":
            raise InputError(error.rule, source="--slot-seconds", value=slot_seconds) from None
        raise


def _redraw(instance: MultiserverInstance, seed: int) -> MultiserverInstance:
    """Draw other arrivals, where they are drawn; seed 0 are those of the file."""
    from models.multiserver import BernoulliArrivals

    if not isinstance(instance.arrivals, BernoulliArrivals) or seed == 0:
        return instance
    drawn = instance.arrivals.model_copy(update={"seed": instance.arrivals.seed + seed})
    return instance.model_copy(update={"arrivals": drawn})


def _optimum(instance: MultiserverInstance, time_limit: float, seed: int) -> Bounds:
    del seed
    from models.multiserver.layout import edge_layout
    from models.multiserver.stationary import job_counts, solve_stationary, stationary_run

    began = time.monotonic()
    layout = edge_layout(instance)
    found = solve_stationary(layout, job_counts(instance), time_limit=time_limit)
    solution = stationary_run(instance, found, layout)
    seconds = time.monotonic() - began
    notes = ("stationary: the best allocation that is the same in every slot (y*, eq. 10)",)
    return Bounds(found.status, found.lower, found.upper, solution, seconds, notes)


def _write_formulation(instance: MultiserverInstance, path: Path) -> None:
    """Write the LP of (10); concave gains by their first tangents, which bound it from above."""
    from experiments.formulation import write_formulation
    from models.multiserver.layout import edge_layout
    from models.multiserver.stationary import first_tangents, job_counts
    from models.multiserver.stationary_lp import build_stationary_lp, stationary_problem

    problem = stationary_problem(edge_layout(instance), job_counts(instance))
    write_formulation(build_stationary_lp(problem, first_tangents(problem)), path)


def _plot(instance: MultiserverInstance, solution: MultiserverRun, path: Path) -> None:
    from experiments.multiserver.pictures import plot_run

    plot_run(instance, solution, path)


def _bench() -> Mapping[str, Any]:
    from experiments.multiserver.bench import bench

    return bench()


MULTISERVER = Family(
    name="multiserver",
    summary="Online bipartite scheduling of multi-server jobs (arXiv 2305.06572).",
    sense="max",
    objective="total reward",
    instance_model=_instance_model,
    solution_model=_solution_model,
    audit=_audit,
    policies=_policies,
    generate=_generate,
    describe=describe,
    count=count,
    outcome_table=outcome_table,
    remarks=remarks,
    optimum=_optimum,
    write_formulation=_write_formulation,
    plot=_plot,
    redraw=_redraw,
    bench=_bench,
    read_instance=_read_instance,
)
