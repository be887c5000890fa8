"""What the command line says about splitting instances and routings."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.cli.families import Description
from experiments.cli.output import Table

if TYPE_CHECKING:
    from algorithms.policy import Run
    from models.splitting import JobRouting, SplittingInstance, SplittingRouting

__all__ = ["count", "describe", "outcome_table"]


def describe(instance: SplittingInstance) -> Description:
    """Describe an instance: sizes, quantities with units, and which jobs cannot be routed."""
    from models.splitting.reach import why_over_budget, why_unroutable

    unroutable = _reasons(instance, why_unroutable(instance))
    over_budget = _reasons(instance, why_over_budget(instance))
    sizes = {
        "nodes": instance.number_of_nodes,
        "links": instance.number_of_links,
        "jobs": instance.number_of_jobs,
        "layers": sum(job.number_of_layers for job in instance.jobs),
        "routable": instance.number_of_jobs - len(unroutable),
    }
    special = {
        "unusable nodes": sum(node.rate == 0 for node in instance.nodes),
        "infinitely fast nodes": sum(node.rate is None for node in instance.nodes),
        "unusable links": sum(link.rate == 0 for link in instance.links),
        "infinitely fast links": sum(link.rate is None for link in instance.links),
        "jobs from a node to itself": sum(job.source == job.destination for job in instance.jobs),
    }
    quantities = [
        {"name": name, "unit": unit, "count": len(values), **_spread(values)}
        for name, unit, values in _quantities(instance)
    ]
    budgets = [entry for entry in _budgets(instance) if entry["nodes"]]
    content = {
        "kind": instance.kind,
        **sizes,
        "special": {name.replace(" ", "_"): number for name, number in special.items()},
        "unroutable": unroutable,
        "over_budget": over_budget,
        "budgets": budgets,
        "quantities": quantities,
    }
    sections: list[tuple[str, Table | str]] = [
        ("", ", ".join(f"{name}: {value}" for name, value in sizes.items())),
        ("", "\n".join(f"{name}: {number}" for name, number in special.items() if number)),
        ("Quantities", _records(quantities)),
    ]
    if budgets:
        sections.append(("Budgets (problem service)", _records(budgets)))
    if unroutable:
        sections.append(("Jobs that cannot be routed", _records(unroutable)))
    if over_budget:
        sections.append(("Jobs that fit no budget (problem service)", _records(over_budget)))
    infeasible = ""
    if unroutable:
        first = unroutable[0]
        infeasible = f"{len(unroutable)} job(s) cannot be routed, the first: {first['name']}, "
        infeasible += first["why"]
    return Description(content, [part for part in sections if part != ("", "")], infeasible)


def _reasons(instance: SplittingInstance, why: Sequence[str | None]) -> list[dict[str, str]]:
    return [
        {"name": job.name, "why": reason}
        for job, reason in zip(instance.jobs, why, strict=True)
        if reason is not None
    ]


def _quantities(instance: SplittingInstance) -> list[tuple[str, str, list[float]]]:
    nodes, links, jobs = instance.nodes, instance.links, instance.jobs
    layers = [layer for job in jobs for layer in job.layers]
    return [
        ("node rate", "operations/s", [node.rate for node in nodes if node.rate]),
        ("node queue", "operations", [node.queue for node in nodes if node.queue]),
        ("link rate", "bytes/s", [link.rate for link in links if link.rate]),
        ("link queue", "bytes", [link.queue for link in links if link.queue]),
        ("layers of a job", "layers", [float(job.number_of_layers) for job in jobs]),
        ("input of a job", "bytes", [job.input for job in jobs]),
        ("computing of a job", "operations", [float(job.compute.sum()) for job in jobs]),
        ("computing of a layer", "operations", [layer.compute for layer in layers]),
        ("output of a layer", "bytes", [layer.output for layer in layers]),
        ("memory of a layer", "bytes", [layer.memory for layer in layers]),
    ]


def _budgets(instance: SplittingInstance) -> list[dict[str, Any]]:
    """What the nodes may take, beside what all jobs together need."""
    layers = [layer for job in instance.jobs for layer in job.layers]
    rows = []
    for name, unit, budgets, needed in (
        (
            "compute budget",
            "operations",
            [node.compute_budget for node in instance.nodes],
            sum(layer.compute for layer in layers),
        ),
        (
            "memory",
            "bytes",
            [node.memory for node in instance.nodes],
            sum(layer.memory for layer in layers),
        ),
    ):
        limited = [budget for budget in budgets if budget is not None]
        rows.append(
            {
                "name": name,
                "unit": unit,
                "nodes": len(limited),
                **_spread(limited),
                "total": sum(limited) if len(limited) == len(budgets) else None,
                "needed": needed,
            }
        )
    return rows


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"least": None, "median": None, "most": None}
    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


def _records(records: list[dict[str, Any]]) -> Table:
    columns = list(records[0])
    headings = [column.replace("_", " ") for column in columns]
    return Table(headings, [[record[column] for column in columns] for record in records])


def count(instance: SplittingInstance, routing: SplittingRouting) -> dict[str, int]:
    """Count jobs, and the nodes and links that they use."""
    del instance
    return {
        "jobs": len(routing.jobs),
        "nodes used": len({node for job in routing.jobs for node in job.nodes}),
        "links used": len({link for job in routing.jobs for link, _ in job.hops}),
        "jobs split over nodes": sum(len(set(job.nodes)) > 1 for job in routing.jobs),
        "hops": sum(len(job.hops) for job in routing.jobs),
    }


def outcome_table(instance: SplittingInstance, run: Run) -> Table:
    """Tell for each job when it ends, where its layers are computed and which way it goes."""
    jobs = {job.name: job for job in instance.jobs}
    ends = {link.name: link.end for link in instance.links}
    rows = []
    for outcome in run.solution.jobs:
        waiting = None if outcome.completion is None else outcome.completion - outcome.service
        rows.append(
            [
                outcome.name,
                outcome.priority,
                outcome.completion,
                outcome.service,
                waiting,
                _placement(outcome),
                " ".join([jobs[outcome.name].source, *(ends[link] for link, _ in outcome.hops)]),
            ]
        )
    columns = ("job", "priority", "completion", "service", "waiting", "layers at", "way")
    return Table(columns, rows)


def _placement(outcome: JobRouting) -> str:
    """Where which layers are computed, such as ``1-4 n2, 5 n0``."""
    runs: list[tuple[int, int, str]] = []
    for layer, node in enumerate(outcome.nodes, start=1):
        if runs and runs[-1][2] == node:
            runs[-1] = (runs[-1][0], layer, node)
        else:
            runs.append((layer, layer, node))
    return ", ".join(
        f"{first} {node}" if first == last else f"{first}-{last} {node}"
        for first, last, node in runs
    )
