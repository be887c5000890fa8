"""The real network, event by event: preemptive priorities, work only where it is at the time.

The fictitious system of arXiv 2111.07006 (eq. 6) lets a job wait for all work of higher priority at
every node and link that it uses. In the real one it waits only for the work that is there when it
is. A unit of work delays a job at most once, so no job is later than in the fictitious system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.splitting import Route, SplittingInstance

__all__ = ["Piece", "RealRun", "simulate", "tasks_of"]


@dataclass(frozen=True)
class Piece:
    """A time in which a resource works on a job without a break.

    Attributes
    ----------
    job : int
    resource : int
        Node index, or number of nodes + link index.
    begin, end : float
        Seconds.
    """

    job: int
    resource: int
    begin: float
    end: float


@dataclass(frozen=True)
class RealRun:
    """What happened.

    Attributes
    ----------
    completions : tuple of float
        Seconds, per job index.
    pieces : tuple of Piece
        In order of their end.
    """

    completions: tuple[float, ...]
    pieces: tuple[Piece, ...]


def tasks_of(instance: SplittingInstance, job: int, route: Route) -> list[tuple[int, float]]:
    """Resource and seconds of service, in the order in which a job meets them."""
    data = instance.jobs[job]
    tasks = []
    for layer in range(data.number_of_layers + 1):
        for link, carried in route.hops:
            if carried == layer:
                seconds = float(data.data[layer] / instance.link_rate[link])
                tasks.append((instance.number_of_nodes + link, seconds))
        if layer < data.number_of_layers:
            u = route.nodes[layer]
            tasks.append((u, float(data.compute[layer] / instance.node_rate[u])))
    return tasks


def simulate(instance: SplittingInstance, routes: Sequence[Route], order: Sequence[int]) -> RealRun:
    """Run all jobs from time 0 on; each resource serves the highest priority that is there.

    The queues of the instance are there from the start and go before all jobs. A job that is
    preempted goes on later where it stopped.

    Parameters
    ----------
    instance : SplittingInstance
    routes : sequence of Route
        One per job.
    order : sequence of int
        Jobs from the highest priority to the lowest.

    Returns
    -------
    RealRun
    """
    work = np.concatenate([instance.node_queue, instance.link_queue])
    rate = np.concatenate([instance.node_rate, instance.link_rate])
    # When a resource has served its first queue: until then no job is served there.
    free = np.divide(work, rate, out=np.zeros_like(work), where=rate > 0)
    tasks = [tasks_of(instance, job, route) for job, route in enumerate(routes)]
    at = [0] * len(tasks)
    left = [todo[0][1] for todo in tasks]
    completions = [0.0] * len(tasks)
    pieces: list[Piece] = []
    begun: dict[int, tuple[int, float]] = {}  # by resource: the job in service, and since when
    active, now = list(order), 0.0
    while active:
        serving: dict[int, int] = {}
        for job in active:
            serving.setdefault(tasks[job][at[job]][0], job)
        begun = _changed(begun, serving, free, now, pieces)
        steps = {
            job: (left[job] if free[x] <= now else float(free[x]) - now)
            for x, job in serving.items()
        }
        step = min(steps.values())
        later = now + step
        for x, job in serving.items():
            waits = free[x] > now
            if waits:
                if steps[job] == step:
                    later = float(free[x])  # exactly, so that the wait is over
                continue
            # What ends now ends exactly, whatever the subtraction rounds to.
            left[job] = 0.0 if steps[job] == step else left[job] - step
        now = later
        ending = [(x, job) for x, job in serving.items() if steps[job] == step]
        if step == 0:  # tasks without work: the highest priority goes on first, and may come back
            ending = ending[:1]
        for x, job in ending:
            if x in begun:
                pieces.append(Piece(job, x, begun.pop(x)[1], now))
                at[job] += 1
                if at[job] < len(tasks[job]):
                    left[job] = tasks[job][at[job]][1]
                else:
                    completions[job] = now
        active = [job for job in active if at[job] < len(tasks[job])]
    return RealRun(tuple(completions), tuple(pieces))


def _changed(
    begun: dict[int, tuple[int, float]],
    serving: dict[int, int],
    free: np.ndarray,
    now: float,
    pieces: list[Piece],
) -> dict[int, tuple[int, float]]:
    """Who is in service from now on; those preempted leave a piece."""
    for x, (job, since) in begun.items():
        if serving[x] != job and now > since:
            pieces.append(Piece(job, x, since, now))
    return {
        x: begun[x] if begun.get(x, (-1, 0.0))[0] == job else (job, now)
        for x, job in serving.items()
        if free[x] <= now
    }
