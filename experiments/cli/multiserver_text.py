"""What the command line says about multiserver instances and runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.cli.families import Description
from experiments.cli.output import Table

if TYPE_CHECKING:
    from algorithms.policy import Run
    from models.multiserver import MultiserverInstance, MultiserverRun

__all__ = ["count", "describe", "outcome_table", "remarks"]

MOST_AMOUNTS = 8
"""A run's table shows a column per resource up to so many."""


def describe(instance: MultiserverInstance) -> Description:
    """Describe an instance: sizes, spreads, the constants of Theorem 1, ports that earn nothing."""
    from models.multiserver.earning import why_worthless

    worthless = [
        {"name": port.name, "why": why}
        for port, why in zip(instance.ports, why_worthless(instance), strict=True)
        if why is not None
    ]
    sizes = {
        "slots": instance.slots,
        "ports": instance.number_of_ports,
        "instances": instance.number_of_instances,
        "resources": instance.number_of_resources,
        "edges": instance.number_of_edges,
    }
    theorem = {
        "D": instance.diameter,
        "G": instance.gradient_bound,
        "bound": bound(instance),
    }
    resources = _resources(instance)
    content: dict[str, Any] = {
        "kind": instance.kind,
        **sizes,
        "gain_form": instance.gain.form,
        "arrivals": instance.arrivals.kind,
        "jobs_per_slot": _jobs_per_slot(instance),
        "theorem_1": theorem,
        "resource": resources,
        "worthless": worthless,
    }
    sections: list[tuple[str, Table | str]] = [
        ("", ", ".join(f"{name}: {value}" for name, value in sizes.items())),
        (
            "",
            f"gain form: {instance.gain.form}; arrivals: {instance.arrivals.kind}, "
            f"{content['jobs_per_slot']:.6g} jobs per slot",
        ),
        (
            "",
            f"Theorem 1: D = {theorem['D']:.6g}, G = {theorem['G']:.6g}; regret of oga "
            f"(committed, step theory) at most D G sqrt(T) = {theorem['bound']:.6g}",
        ),
        ("Resources, in their own units; gain and overhead in reward per unit", _table(resources)),
    ]
    if worthless:
        sections.append(("Ports that can earn nothing", _table(worthless)))
    return Description(content, sections)


def bound(instance: MultiserverInstance) -> float:
    """D G sqrt(T), what Theorem 1 allows the regret to be."""
    return instance.diameter * instance.gradient_bound * math.sqrt(instance.slots)


def _jobs_per_slot(instance: MultiserverInstance) -> float:
    """On average; expected where arrivals are drawn."""
    from models.multiserver import BernoulliArrivals
    from models.multiserver.stationary import job_counts

    arrivals = instance.arrivals
    if isinstance(arrivals, BernoulliArrivals):
        if isinstance(arrivals.probability, tuple):
            return math.fsum(arrivals.probability)
        return arrivals.probability * instance.number_of_ports
    return float(job_counts(instance).sum()) / max(instance.slots, 1)


def _resources(instance: MultiserverInstance) -> list[dict[str, Any]]:
    from models.multiserver.layout import edge_layout

    layout = edge_layout(instance)
    rows = []
    for k, name in enumerate(instance.resources):
        capacity = float(instance.capacity[:, k].sum())
        function = instance.gain.resources[name]
        rows.append(
            {
                "resource": name,
                "gain": function.kind,
                "scale": function.scale,
                "overhead": float(instance.overhead_rate[k]),
                **_spread("request", instance.request[:, k].tolist()),
                **_spread("capacity", instance.capacity[:, k].tolist()),
                "contention": float(layout.cap[:, k].sum()) / capacity if capacity else None,
            }
        )
    return rows


def _spread(name: str, values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {f"{name}_least": None, f"{name}_median": None, f"{name}_most": None}
    return {
        f"{name}_least": min(values),
        f"{name}_median": statistics.median(values),
        f"{name}_most": max(values),
    }


def _table(records: list[dict[str, Any]]) -> Table:
    columns = list(records[0])
    headings = [column.replace("_", " ") for column in columns]
    return Table(headings, [[record[column] for column in columns] for record in records])


def count(instance: MultiserverInstance, solution: MultiserverRun) -> dict[str, int]:
    """Count slots, jobs, and the channels that the last allocation uses."""
    from models.multiserver.stationary import job_counts

    return {
        "slots": instance.slots,
        "jobs": int(job_counts(instance).sum()),
        "channels in use at the end": len(
            {(port, server) for port, server, _, _ in solution.final}
        ),
    }


def outcome_table(instance: MultiserverInstance, run: Run) -> Table:
    """Tell for each port how many jobs came, and what the last allocation gives one."""
    from models.multiserver.allocation import allocation_table
    from models.multiserver.layout import edge_layout
    from models.multiserver.reward import port_rewards, totals
    from models.multiserver.stationary import job_counts

    layout = edge_layout(instance)
    final = allocation_table(instance, layout, run.solution.final)
    amounts, worth, jobs = totals(layout, final), port_rewards(layout, final), job_counts(instance)
    edges = [0] * instance.number_of_ports
    for port in layout.port:
        edges[port] += 1
    shown = range(min(instance.number_of_resources, MOST_AMOUNTS))
    rows = [
        [
            port.name,
            edges[i],
            int(jobs[i]),
            *(float(amounts[i, k]) for k in shown),
            float(worth[i]),
        ]
        for i, port in enumerate(instance.ports)
    ]
    names = [instance.resources[k] for k in shown]
    return Table(("port", "edges", "jobs", *names, "worth of the last allocation"), rows)


def remarks(instance: MultiserverInstance, run: Run) -> list[str]:
    """Say which protocol, gain form, step and projection the reward belongs to."""
    solution = run.solution
    said = [f"protocol: {solution.protocol}", f"gain form: {instance.gain.form}"]
    if solution.step is not None:
        said += [f"step: {solution.step}", f"projection: {solution.projection}"]
    lines = [", ".join(said)]
    proved = (solution.protocol, solution.step, solution.projection)
    if proved == ("committed", "theory", "exact"):
        lines.append(
            f"Theorem 1: at most D G sqrt(T) = {bound(instance):.6g} below the best fixed "
            "allocation (see optimum)"
        )
    return lines
