"""The splitting family on the command line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from experiments.cli.families import Bounds, Family, Generated
from experiments.cli.splitting_picture import picture
from experiments.cli.splitting_simulate import simulate
from experiments.cli.splitting_text import count, describe, outcome_table
from models.files import InputError

if TYPE_CHECKING:
    from algorithms.policy import Policy
    from models.audit import AuditReport
    from models.files import FileModel
    from models.splitting import SplittingInstance, SplittingRouting

__all__ = ["SPLITTING"]

PROBLEMS = ("completion", "service")

Problem = Annotated[
    str,
    typer.Option(
        metavar="completion|service",
        help="completion: least largest completion time; service: least total service time.",
    ),
]


def _instance_model() -> type[FileModel]:
    from models.splitting import SplittingInstance

    return SplittingInstance


def _solution_model() -> type[FileModel]:
    from models.splitting import SplittingRouting

    return SplittingRouting


def _audit(instance: SplittingInstance, routing: SplittingRouting) -> AuditReport:
    from models.splitting import audit

    return audit(instance, routing)


def _policies() -> Mapping[str, Policy]:
    from algorithms.splitting import POLICIES

    return POLICIES


def _generate(
    seed: int,
    *,
    nodes: Annotated[int, typer.Option(min=1, help="Number of nodes, N.")] = 20,
    jobs: Annotated[int, typer.Option(min=0, help="Number of jobs, J.")] = 5,
    gamma: Annotated[float, typer.Option(help="All link rates are multiplied by it.")] = 1.0,
    models: Annotated[
        str,
        typer.Option(
            metavar="A,B,C", help="Deep networks that jobs run, from data/dnn_profiles.csv."
        ),
    ] = "cnn5,alexnet,resnet50",
    side: Annotated[
        float, typer.Option(metavar="METRES", help="Side of the square that the nodes lie in.")
    ] = 30.0,
    radius: Annotated[
        float, typer.Option(metavar="METRES", help="Closer nodes have a link each way.")
    ] = 7.5,
) -> Generated:
    from models.splitting.generator import generate

    generated = generate(
        nodes,
        jobs,
        gamma=gamma,
        models=[name.strip() for name in models.split(",")],
        side=side,
        radius=radius,
        seed=seed,
    )
    return Generated(generated.instance, generated.report.lines())


def _optimum(
    instance: SplittingInstance, time_limit: float, seed: int, *, problem: Problem = "completion"
) -> Bounds:
    from algorithms.policy import NoSolution
    from algorithms.splitting.exact.optimum import optimum

    began = time.monotonic()
    try:
        found = optimum(instance, problem=_known(problem), time_limit=time_limit, seed=seed)
    except NoSolution as reason:
        seconds = time.monotonic() - began
        return Bounds("infeasible", None, None, None, seconds, (str(reason),))
    seconds = time.monotonic() - began
    upper = None if found.routing is None else found.upper
    return Bounds(found.status, found.lower, upper, found.routing, seconds)


def _known(problem: str) -> Literal["completion", "service"]:
    if problem == "completion":
        return "completion"
    if problem == "service":
        return "service"
    raise InputError(f"must be one of {', '.join(PROBLEMS)}", source="--problem", value=problem)


def _write_formulation(
    instance: SplittingInstance, path: Path, *, problem: Problem = "completion"
) -> None:
    from algorithms.splitting.exact.priorities import priority_program
    from experiments.formulation import write_formulation
    from models.splitting.service_ilp import build_service_ilp

    build = priority_program if _known(problem) == "completion" else build_service_ilp
    write_formulation(build(instance), path)


def _plot(instance: SplittingInstance, routing: SplittingRouting, path: Path) -> None:
    from experiments.splitting.pictures import plot_routing

    plot_routing(instance, routing, path)


def _bench() -> Mapping[str, Any]:
    from experiments.splitting.bench import bench

    return bench()


SPLITTING = Family(
    name="splitting",
    summary="Routing jobs of deep networks through a computing network (arXiv 2111.07006).",
    sense="min",
    objective="objective [s]",
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
    commands={"simulate": simulate, "picture": picture},
)
