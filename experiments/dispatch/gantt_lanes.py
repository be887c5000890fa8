"""What a Gantt chart of a dispatch schedule shows: bars in the nodes' lanes, power over time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from models.dispatch import DispatchInstance, DispatchSchedule
from models.files import InputError

__all__ = ["Bar", "bars_of", "power_profile"]

THINNEST = 0.06
"""Of a lane: a unit that needs next to nothing of its node is seen nevertheless."""


@dataclass(frozen=True)
class Bar:
    """A unit on its node.

    Attributes
    ----------
    job, node : int
    start, end : int
        Seconds, half-open.
    bottom, height : float
        Shares of the lane.
    """

    job: int
    node: int
    start: int
    end: int
    bottom: float
    height: float


def bars_of(instance: DispatchInstance, schedule: DispatchSchedule) -> list[Bar]:
    """Stack the units of each node without overlap.

    A unit is as high as its largest share of any of the node's resources. It takes the lowest
    gap that is free when it starts. Where stacks come out higher than the lane (one unit fills
    the cores, another the memory), all bars of this node are pressed together.

    Raises
    ------
    InputError
        If the schedule names jobs or nodes that the instance does not have.
    """
    by_node: dict[int, list[Bar]] = defaultdict(list)
    for j, start, end, nodes in _running(instance, schedule):
        for demand, n in zip(instance.jobs[j].units, nodes, strict=False):
            capacity = instance.nodes[n].capacity
            shares = [_share(amount, capacity.get(name, 0.0)) for name, amount in demand.items()]
            height = max(shares, default=0.0)
            by_node[n].append(Bar(j, n, start, end, 0.0, max(height, THINNEST)))
    return [bar for n in sorted(by_node) for bar in _stack(by_node[n])]


def _share(amount: float, capacity: float) -> float:
    return min(amount / capacity, 1.0) if capacity > 0 else float(amount > 0)


def _stack(bars: list[Bar]) -> list[Bar]:
    placed: list[Bar] = []
    there: list[Bar] = []
    for bar in sorted(bars, key=lambda b: (b.start, -b.height, b.job)):
        there = [other for other in there if other.end > bar.start]
        bottom = 0.0
        for other in sorted(there, key=lambda b: b.bottom):
            if other.bottom - bottom >= bar.height - 1e-9:
                break
            bottom = max(bottom, other.bottom + other.height)
        there.append(replace(bar, bottom=bottom))
        placed.append(there[-1])
    top = max(1.0, *(bar.bottom + bar.height for bar in placed))
    return [replace(bar, bottom=bar.bottom / top, height=bar.height / top) for bar in placed]


def power_profile(
    instance: DispatchInstance, schedule: DispatchSchedule
) -> tuple[list[int], list[float]]:
    """Power over time: idle nodes and running jobs, real power if the schedule is simulated.

    Returns
    -------
    times : list of int, length K + 1
        Seconds, ascending; at least two.
    watts : list of float, length K
        watts[k] is drawn from times[k] until times[k + 1].
    """
    changes: dict[int, float] = {0: 0.0}
    simulated = schedule.mode == "simulated"
    for j, start, end, _ in _running(instance, schedule):
        job = instance.jobs[j]
        watts = job.real_power if simulated else job.power
        changes[start] = changes.get(start, 0.0) + watts
        changes[end] = changes.get(end, 0.0) - watts
    times = sorted(changes)
    if len(times) == 1:
        times.append(times[0] + 1)
    level, levels = instance.idle_power, []
    for time in times[:-1]:
        level += changes[time]
        levels.append(level)
    return times, levels


def _running(
    instance: DispatchInstance, schedule: DispatchSchedule
) -> list[tuple[int, int, int, list[int]]]:
    """Job, start, end and nodes of each started job, by indices of the instance."""
    index = {job.name: j for j, job in enumerate(instance.jobs)}
    found = []
    for k, outcome in enumerate(schedule.jobs):
        field = f"jobs[{k}]"
        if outcome.name not in index:
            raise InputError("is no job of the instance", field=f"{field}.name", value=outcome.name)
        nodes = []
        for u, name in enumerate(outcome.nodes):
            if name not in instance.node_index:
                where = f"{field}.nodes[{u}]"
                raise InputError("is no node of the instance", field=where, value=name)
            nodes.append(instance.node_index[name])
        if outcome.start is not None and outcome.end is not None and outcome.end > outcome.start:
            found.append((index[outcome.name], outcome.start, outcome.end, nodes))
    return found
