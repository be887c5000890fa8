"""Splitting instances for tests: tiny ones, small enough to try every placement."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from models.splitting import Job, Layer, Link, Node, SplittingInstance


def make_job(
    name: str = "j0",
    source: str = "n0",
    destination: str = "n0",
    compute: Sequence[float] = (1.0,),
    data: Sequence[float] = (1.0, 1.0),
) -> Job:
    """A job with c_1..c_L and d_0..d_L; every layer takes one byte of memory."""
    layers = tuple(
        Layer(compute=c, output=d, memory=1.0) for c, d in zip(compute, data[1:], strict=True)
    )
    return Job(name=name, source=source, destination=destination, input=data[0], layers=layers)


def make_instance(
    rates: Sequence[float | None],
    links: Sequence[tuple[int, int, float | None] | tuple[int, int, float | None, float]],
    jobs: Sequence[Job],
    queues: Sequence[float] | None = None,
    **node_fields: Sequence[Any],
) -> SplittingInstance:
    """Nodes n0, n1, ... with the given rates; links e0, e1, ... as (start, end, rate[, queue]).

    Further node fields, such as ``memory``, are sequences with one entry per node.
    """
    queues = [0.0] * len(rates) if queues is None else queues
    nodes = tuple(
        Node(
            name=f"n{u}",
            rate=rate,
            queue=queue,
            **{key: values[u] for key, values in node_fields.items()},
        )
        for u, (rate, queue) in enumerate(zip(rates, queues, strict=True))
    )
    made = tuple(
        Link(
            name=f"e{e}",
            start=f"n{link[0]}",
            end=f"n{link[1]}",
            rate=link[2],
            queue=link[3] if len(link) > 3 else 0.0,
        )
        for e, link in enumerate(links)
    )
    return SplittingInstance(nodes=nodes, links=made, jobs=tuple(jobs))


def random_small(
    seed: int,
    nodes: int | None = None,
    layers: int | None = None,
    jobs: int | None = None,
    *,
    queues: bool = True,
    whole: bool | None = None,
    routable: bool = True,
) -> SplittingInstance:
    """A random instance with everything that is allowed.

    Parallel links, zero and infinite rates, zero work and bytes, source = destination, data
    sizes that fall, rise, or fall and rise again (U-shaped).

    Parameters
    ----------
    seed : int
    nodes, jobs : int, optional
        By default 1 to 4 nodes, 1 to 3 jobs.
    layers : int, optional
        Of every job; by default each has 1 to 4.
    queues : bool
        False: no work at the start.
    whole : bool, optional
        Small whole numbers, so that many routes tie; by default in half of the instances.
    routable : bool
        False: some jobs may have no route. True: drawn again until all have one.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    whole = bool(rng.random() < 0.5) if whole is None else whole
    count = int(rng.integers(1, 5)) if nodes is None else nodes
    number = int(rng.integers(1, 4)) if jobs is None else jobs
    while True:
        rates = [_rate(rng, whole) for _ in range(count)]
        waiting = [_amount(rng, whole, 6.0) if queues else 0.0 for _ in range(count)]
        links = _links(rng, whole, count, queues)
        made = [_job(f"j{j}", rng, whole, count, layers) for j in range(number)]
        instance = make_instance(rates, links, made, waiting)
        if not routable or all(_has_route(instance, j) for j in range(number)):
            return instance


def _rate(rng: np.random.Generator, whole: bool) -> float | None:
    draw = rng.random()
    if draw < 0.1:
        return 0.0
    if draw < 0.2:
        return None
    if draw < 0.3:
        return 100.0
    return float(rng.integers(1, 4)) if whole else float(rng.uniform(0.2, 5.0))


def _amount(rng: np.random.Generator, whole: bool, most: float) -> float:
    if rng.random() < 0.3:
        return 0.0
    return float(rng.integers(1, most + 1)) if whole else float(rng.uniform(0.1, most))


def _links(rng: np.random.Generator, whole: bool, count: int, queues: bool) -> list[Any]:
    links = []
    density = rng.uniform(0.5, 1.0)
    for u, v in itertools.permutations(range(count), 2):
        parallel = 2 if rng.random() < 0.15 else 1
        for _ in range(parallel if rng.random() < density else 0):
            links.append((u, v, _rate(rng, whole), _amount(rng, whole, 3.0) if queues else 0.0))
    order = rng.permutation(len(links))
    return [links[k] for k in order]


def _job(name: str, rng: np.random.Generator, whole: bool, count: int, layers: int | None) -> Job:
    number = int(rng.integers(1, 5)) if layers is None else layers
    shape = rng.choice(["any", "falling", "rising", "u"])
    data = np.array([_amount(rng, whole, 4.0) for _ in range(number + 1)])
    if shape == "falling":
        data = np.sort(data)[::-1]
    elif shape == "rising":
        data = np.sort(data)
    elif shape == "u":
        data[0] += 5.0
        data[-1] += 5.0
        data[1:-1] *= 0.2
    compute = [_amount(rng, whole, 5.0) for _ in range(number)]
    ends = rng.integers(0, count, size=2)
    return make_job(name, f"n{ends[0]}", f"n{ends[1]}", compute, data.tolist())


def _has_route(instance: SplittingInstance, job: int) -> bool:
    forward = reached(instance, int(instance.source[job]))
    return any(
        instance.node_rate[u] > 0 and int(instance.destination[job]) in reached(instance, u)
        for u in forward
    )


def reached(instance: SplittingInstance, root: int) -> set[int]:
    """Nodes that are reached from a node over usable links."""
    seen, stack = {root}, [root]
    while stack:
        u = stack.pop()
        for start, end, rate in zip(
            instance.link_start.tolist(),
            instance.link_end.tolist(),
            instance.link_rate.tolist(),
            strict=True,
        ):
            if start == u and rate > 0 and end not in seen:
                seen.add(end)
                stack.append(end)
    return seen


def placements(instance: SplittingInstance, job: int) -> Iterator[tuple[int, ...]]:
    """All ways to choose a computing node for every layer."""
    usable = [u for u in range(instance.number_of_nodes) if instance.node_rate[u] > 0]
    yield from itertools.product(usable, repeat=instance.jobs[job].number_of_layers)


def with_budgets(instance: SplittingInstance, seed: int) -> SplittingInstance:
    """The same instance with budgets that bind."""
    rng = np.random.default_rng(seed)
    nodes = tuple(
        node.model_copy(
            update={
                "compute_budget": float(rng.uniform(2, 12)),
                "memory": float(rng.integers(1, 6)),
            }
        )
        for node in instance.nodes
    )
    return SplittingInstance(nodes=nodes, links=instance.links, jobs=instance.jobs)
