"""The audit of a routing, computed from the two files with its own arithmetic.

Nothing here calls the formulas that the algorithms use: service, waiting and budgets are
written out again, by name and over pairs of jobs, so that a mistake there is found here.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from models.audit import AuditReport, Violation, statement_differs
from models.files import InputError
from models.splitting.instance import Job, Link, Node, SplittingInstance
from models.splitting.routing import JobRouting, SplittingRouting

__all__ = ["CONSTRAINTS", "audit"]

CONSTRAINTS = ("path", "layers", "budget", "memory", "priority", "statement")
RELATIVE = 1e-6
ABSOLUTE = 1e-12


def audit(instance: SplittingInstance, routing: SplittingRouting) -> AuditReport:
    """Check a routing's paths, layers, budgets, priorities and every number that it states.

    Parameters
    ----------
    instance : SplittingInstance
    routing : SplittingRouting

    Returns
    -------
    AuditReport
        With the objective of `routing.problem` [s] recomputed, infinite if something unusable is
        used; constraints are named as in `CONSTRAINTS`. Budgets and memory count for problem
        "service" only.

    Raises
    ------
    InputError
        If the routing is not one of this instance: a job is missing or unknown, or a node or
        link unknown.
    """
    _check_belongs(instance, routing)
    network = _Network(instance)
    outcomes = {outcome.name: outcome for outcome in routing.jobs}
    found: list[Violation] = []
    for job in instance.jobs:
        found += _path(network, job, outcomes[job.name])
        found += _layers(network, job, outcomes[job.name])
    services = {job.name: network.service(job, outcomes[job.name]) for job in instance.jobs}
    if routing.problem == "service":
        found += _budgets(instance, outcomes)
        objective = _total(services.values())
    else:
        completions = _completions(network, instance, outcomes, services)
        found += _differences("completion", outcomes, completions)
        objective = max(completions.values(), default=0.0)
    found += _differences("service", outcomes, services)
    found += _priorities(routing)
    # An infinite time is another constraint's fault, unless it is too large for a number.
    if statement_differs(routing.objective, objective) or (math.isinf(objective) and not found):
        found.append(Violation("statement", "objective", abs(routing.objective - objective)))
    order = {name: k for k, name in enumerate(CONSTRAINTS)}
    return AuditReport(objective, tuple(sorted(found, key=lambda v: order[v.constraint])))


def _check_belongs(instance: SplittingInstance, routing: SplittingRouting) -> None:
    jobs = {job.name for job in instance.jobs}
    nodes = {node.name for node in instance.nodes}
    links = {link.name for link in instance.links}
    for j, outcome in enumerate(routing.jobs):
        if outcome.name not in jobs:
            raise InputError(
                "is not a job of the instance", field=f"jobs[{j}].name", value=outcome.name
            )
        for k, node in enumerate(outcome.nodes):
            if node not in nodes:
                raise InputError(
                    "is not a node of the instance", field=f"jobs[{j}].nodes[{k}]", value=node
                )
        for k, (link, _) in enumerate(outcome.hops):
            if link not in links:
                raise InputError(
                    "is not a link of the instance", field=f"jobs[{j}].hops[{k}][0]", value=link
                )
    missing = jobs - {outcome.name for outcome in routing.jobs}
    if missing:
        raise InputError(
            "every job of the instance must be listed", field="jobs", value=min(missing)
        )


def _total(amounts: Iterable[float]) -> float:
    """The exact sum, rounded once; infinite if it is beyond the largest number."""
    try:
        return math.fsum(amounts)
    except OverflowError:
        return math.inf


def _seconds(work: float, rate: float | None) -> float:
    """How long some work takes: nothing at infinite rate, forever at rate 0."""
    if rate is None:
        return 0.0
    return work / rate if rate > 0 else math.inf


class _Network:
    """Nodes and links by name, and a job's work on them."""

    def __init__(self, instance: SplittingInstance) -> None:
        self.nodes: dict[str, Node] = {node.name: node for node in instance.nodes}
        self.links: dict[str, Link] = {link.name: link for link in instance.links}

    def computed(self, job: Job, outcome: JobRouting) -> Iterator[tuple[Node, float]]:
        """Node and operations, layer by layer."""
        for layer, name in zip(job.layers, outcome.nodes, strict=False):
            yield self.nodes[name], layer.compute

    def sent(self, job: Job, outcome: JobRouting) -> Iterator[tuple[Link, float]]:
        """Link and bytes, hop by hop; a hop that carries no layer of the job has no bytes."""
        sizes = [job.input, *(layer.output for layer in job.layers)]
        for name, layer in outcome.hops:
            yield self.links[name], sizes[layer] if 0 <= layer < len(sizes) else 0.0

    def service(self, job: Job, outcome: JobRouting) -> float:
        """Seconds of computing and sending (eq. 1)."""
        return _total(
            [
                *(_seconds(work, node.rate) for node, work in self.computed(job, outcome)),
                *(_seconds(size, link.rate) for link, size in self.sent(job, outcome)),
            ]
        )


def _path(network: _Network, job: Job, outcome: JobRouting) -> list[Violation]:
    """Hops join up from the source over the computing nodes to the destination (eq. 2)."""
    found = []
    place = job.source
    stops = [*outcome.nodes, job.destination]
    for layer, stop in enumerate(stops):
        for k, (name, carried) in enumerate(outcome.hops):
            if carried != layer:
                continue
            link = network.links[name]
            where = f"job {job.name}, hop {k} over {name}"
            if link.start != place:
                found.append(Violation("path", f"{where} begins elsewhere than at {place}", 1.0))
            if link.rate == 0:
                found.append(Violation("path", f"{where}, whose rate is 0", 1.0))
            place = link.end
        if place != stop:
            what = "output" if layer else "input"
            text = f"job {job.name}, {what} {layer} is at {place} and not at {stop}"
            found.append(Violation("path", text, 1.0))
            place = stop
    return found


def _layers(network: _Network, job: Job, outcome: JobRouting) -> list[Violation]:
    """Every layer is computed once, in order, where computing is possible."""
    found = []
    number = len(job.layers)
    where = f"job {job.name}"
    if len(outcome.nodes) != number:
        text = f"{where}, {len(outcome.nodes)} computing nodes for {number} layers"
        found.append(Violation("layers", text, float(abs(len(outcome.nodes) - number))))
    for k, name in enumerate(outcome.nodes):
        if network.nodes[name].rate == 0:
            found.append(Violation("layers", f"{where}, layer {k + 1} at {name}, rate 0", 1.0))
    before = 0
    for k, (name, layer) in enumerate(outcome.hops):
        excess = max(-layer, layer - number, 0)
        if excess:
            text = f"{where}, hop {k} over {name} carries layer {layer} of 0..{number}"
            found.append(Violation("layers", text, float(excess)))
        if layer < before:
            text = f"{where}, hop {k} over {name} carries layer {layer} after layer {before}"
            found.append(Violation("layers", text, float(before - layer)))
        before = max(before, layer)
    return found


def _budgets(instance: SplittingInstance, outcomes: dict[str, JobRouting]) -> list[Violation]:
    """No node computes or holds more than its budgets, over all jobs (eq. 3, 4)."""
    compute: dict[str, list[float]] = defaultdict(list)
    memory: dict[str, list[float]] = defaultdict(list)
    for job in instance.jobs:
        for layer, name in zip(job.layers, outcomes[job.name].nodes, strict=False):
            compute[name].append(layer.compute)
            memory[name].append(layer.memory)
    found = []
    for node in instance.nodes:
        for constraint, used, budget in (
            ("budget", _total(compute[node.name]), node.compute_budget),
            ("memory", _total(memory[node.name]), node.memory),
        ):
            if budget is not None and used > budget * (1 + RELATIVE) + ABSOLUTE:
                found.append(Violation(constraint, f"node {node.name}", used - budget))
    return found


def _priorities(routing: SplittingRouting) -> list[Violation]:
    """1..J once each for problem "completion"; none for problem "service"."""
    found = []
    stated = Counter(outcome.priority for outcome in routing.jobs)
    for outcome in routing.jobs:
        priority, where = outcome.priority, f"job {outcome.name}"
        if routing.problem == "service":
            if priority is not None:
                found.append(Violation("priority", f"{where}, priority of problem service", 1.0))
            if outcome.completion is not None:
                text = f"{where}, completion of problem service"
                found.append(Violation("statement", text, abs(outcome.completion)))
        elif priority is None:
            found.append(Violation("priority", f"{where}, no priority", 1.0))
        elif not 1 <= priority <= len(routing.jobs):
            text = f"{where}, priority outside 1..{len(routing.jobs)}"
            found.append(Violation("priority", text, 1.0))
        elif stated[priority] > 1:
            text = f"{where}, priority {priority} stated {stated[priority]} times"
            found.append(Violation("priority", text, float(stated[priority] - 1)))
    return found


def _completions(
    network: _Network,
    instance: SplittingInstance,
    outcomes: dict[str, JobRouting],
    services: dict[str, float],
) -> dict[str, float]:
    """Completion times of the fictitious system, by job (eq. 6).

    Jobs without a priority come last and equal priorities in the instance's order, so that
    there are times to compare with even where `priority` is violated.
    """
    rank = {name: (o.priority is None, o.priority or 0) for name, o in outcomes.items()}
    order = sorted(instance.jobs, key=lambda job: rank[job.name])  # stable
    node_work = {node.name: [node.queue] for node in instance.nodes}
    link_work = {link.name: [link.queue] for link in instance.links}
    completions = {}
    for job in order:
        outcome = outcomes[job.name]
        used = {node.name: node for node, _ in network.computed(job, outcome)}
        waits = [_seconds(_total(node_work[name]), used[name].rate) for name in used]
        for link, _ in network.sent(job, outcome):
            waits.append(_seconds(_total(link_work[link.name]), link.rate))
        completions[job.name] = _total([services[job.name], *waits])
        for node, work in network.computed(job, outcome):
            node_work[node.name].append(work)
        for link, size in network.sent(job, outcome):
            link_work[link.name].append(size)
    return completions


def _differences(
    label: str, outcomes: dict[str, JobRouting], computed: dict[str, float]
) -> list[Violation]:
    """Stated seconds that are not the recomputed ones."""
    found = []
    for name, seconds in computed.items():
        stated = getattr(outcomes[name], label)
        where = f"job {name}, {label}"
        if stated is None:
            found.append(Violation("statement", f"{where} is not stated", seconds))
        elif statement_differs(stated, seconds):
            found.append(Violation("statement", where, abs(stated - seconds)))
    return found
