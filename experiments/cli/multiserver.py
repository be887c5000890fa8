"""The multiserver family on the command line (not plugged in before its policies are there)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.families import Bounds, Description, Generated

if TYPE_CHECKING:
    from models.multiserver import MultiserverInstance

__all__ = ["describe", "generate", "optimum", "write_formulation"]


def generate(
    seed: int,
    *,
    ports: Annotated[int, typer.Option(help="Number of ports, L.")] = 10,
    instances: Annotated[int, typer.Option(help="Number of computing instances, R.")] = 20,
    resources: Annotated[int, typer.Option(help="Number of resources, K.")] = 6,
    degree: Annotated[
        int | None, typer.Option(help="Ports that each instance serves; all by default.")
    ] = None,
    contention: Annotated[float, typer.Option(help="Requests over capacity.")] = 2.0,
    gain: Annotated[
        str, typer.Option(metavar="linear|log|poly|reciprocal|mixed", help="Gain functions.")
    ] = "linear",
    slots: Annotated[int, typer.Option(help="Number of slots, T.")] = 1000,
    probability: Annotated[float, typer.Option(help="Of a job, by port and slot.")] = 0.7,
) -> Generated:
    """Draw an instance."""
    from models.multiserver.generator import ASSUMPTIONS
    from models.multiserver.generator import generate as draw

    instance = draw(
        ports,
        instances,
        resources,
        degree=degree,
        contention=contention,
        gain=gain,
        slots=slots,
        probability=probability,
        seed=seed,
    )
    return Generated(instance, ASSUMPTIONS)


def describe(instance: MultiserverInstance) -> Description:
    """Describe an instance: sizes, the constants of Theorem 1, ports that can earn nothing."""
    served = {port for port, _ in instance.edges}
    content: dict[str, Any] = {
        "kind": instance.kind,
        "slots": instance.slots,
        "ports": instance.number_of_ports,
        "instances": instance.number_of_instances,
        "resources": instance.number_of_resources,
        "edges": instance.number_of_edges,
        "gain_form": instance.gain.form,
        "D": instance.diameter,
        "G": instance.gradient_bound,
        "isolated": [port.name for port in instance.ports if port.name not in served],
    }
    text = "\n".join(f"{name}: {value}" for name, value in content.items())
    return Description(content, [("", text)])


def optimum(instance: MultiserverInstance, time_limit: float, seed: int) -> Bounds:
    """The stationary optimum y*."""
    del seed
    from models.multiserver.layout import edge_layout
    from models.multiserver.stationary import job_counts, solve_stationary, stationary_run

    began = time.monotonic()
    layout = edge_layout(instance)
    found = solve_stationary(layout, job_counts(instance), time_limit=time_limit)
    solution = stationary_run(instance, found, layout)
    seconds = time.monotonic() - began
    notes = ("stationary: the best allocation that is the same in every slot",)
    return Bounds(found.status, found.lower, found.upper, solution, seconds, notes)


def write_formulation(instance: MultiserverInstance, path: Path) -> None:
    """Write the LP of (10); concave gains by their first tangents, which bound it from above."""
    from experiments.formulation import write_formulation as write
    from models.multiserver.layout import edge_layout
    from models.multiserver.stationary import first_tangents, job_counts
    from models.multiserver.stationary_lp import build_stationary_lp, stationary_problem

    problem = stationary_problem(edge_layout(instance), job_counts(instance))
    write(build_stationary_lp(problem, first_tangents(problem)), path)
