"""Instances on which the LP of one job, (6)-(10), is held against its integer optimum.

A gap needs a route that comes back to a node. That can pay where a job's data is large at both
ends and small between, so the sizes come in two shapes. Three sources, from tame to hostile: a
generated network with the queues that the greedy makes there; rates and queues that spread over
two orders of magnitude; the smallest counterexample with all its numbers disturbed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.splitting import Job, Layer, Link, Node, Queues, SplittingInstance
from models.splitting.counterexamples import load_counterexample
from models.splitting.generator import generate

__all__ = ["SHAPES", "disturbed", "hostile", "random_queues", "shaped"]

SHAPES = ("shrinking", "u-shaped")
INPUT = 2e6  # bytes: 0.2 to 2 s over a generated link
WORK = 4e8  # operations of a layer, at most: about 1 s at a generated node
RATIO = 0.7  # of neighbouring sizes, where they shrink
LEAST = 0.01  # of the input, in the middle of the U
EDGE = 0.001  # of the work, in a hostile job's first and last layer


def shaped(layers: int, shape: str, jobs: int, nodes: int, seed: int) -> SplittingInstance:
    """Draw a generated network with jobs of L layers, each of U(0, `WORK`).

    Parameters
    ----------
    layers : int
        L.
    shape : {"shrinking", "u-shaped"}
        Sizes d_0..d_L fall by a factor, or fall to the middle layer and rise again; each times
        U(0.5, 1).
    jobs, nodes : int
    seed : int
    """
    stream = np.random.Generator(np.random.PCG64([seed, layers, SHAPES.index(shape)]))
    network = generate(nodes, 0, seed=seed).instance
    made = []
    for j in range(jobs):
        ends = stream.integers(nodes, size=2).tolist()
        work = WORK * stream.uniform(0.0, 1.0, layers)
        made.append(_job(j, ends, work, INPUT * _sizes(layers, shape, stream)))
    return SplittingInstance(nodes=network.nodes, links=network.links, jobs=tuple(made))


def hostile(
    layers: int, shape: str, nodes: int, stream: np.random.Generator
) -> tuple[SplittingInstance, Queues]:
    """Draw one job from a node to itself, with rates and queues that spread widely.

    Node rates are log-uniform over 10^7..10^9 operations/s, link rates over 10^5..10^7 bytes/s,
    and half of the queues are empty, the others log-uniform over 0.01..10 s. The first and the
    last layer have little work, so that they may well be computed at the source.
    """
    network = generate(nodes, 0, seed=int(stream.integers(2**31))).instance
    node_rates = _log_uniform(1e7, 1e9, nodes, stream)
    link_rates = _log_uniform(1e5, 1e7, network.number_of_links, stream)
    made_nodes = tuple(
        Node(name=node.name, rate=float(rate))
        for node, rate in zip(network.nodes, node_rates, strict=True)
    )
    links = tuple(
        Link(name=link.name, start=link.start, end=link.end, rate=float(rate))
        for link, rate in zip(network.links, link_rates, strict=True)
    )
    work = WORK * stream.uniform(0.0, 1.0, layers)
    work[[0, -1]] *= EDGE
    there = int(stream.integers(nodes))
    job = _job(0, [there, there], work, INPUT * _sizes(layers, shape, stream))
    instance = SplittingInstance(nodes=made_nodes, links=links, jobs=(job,))
    return instance, random_queues(instance, stream)


def random_queues(instance: SplittingInstance, stream: np.random.Generator) -> Queues:
    """Half of the nodes and links have a queue, log-uniform over 0.01..10 s."""
    lengths = []
    for rates in (instance.node_rate, instance.link_rate):
        there = stream.random(len(rates)) < 0.5
        lengths.append(there * _log_uniform(0.01, 10.0, len(rates), stream) * rates)
    return Queues(*lengths)


def disturbed(spread: float, stream: np.random.Generator) -> tuple[SplittingInstance, Queues]:
    """Multiply every number of the smallest counterexample by exp(spread N(0, 1))."""
    base = load_counterexample("smallest")

    def near(value: float) -> float:
        return float(value * np.exp(spread * stream.standard_normal()))

    nodes = tuple(Node(name=n.name, rate=near(n.rate or 0.0)) for n in base.nodes)
    links = tuple(
        Link(name=e.name, start=e.start, end=e.end, rate=near(e.rate or 0.0)) for e in base.links
    )
    job = base.jobs[0]
    made = _job(
        0,
        [0, 0],
        np.array([near(c) for c in job.compute]),
        np.array([near(d) for d in job.data]),
    )
    instance = SplittingInstance(nodes=nodes, links=links, jobs=(made,))
    # Queues are times here: the rates of a queue and of its node are disturbed together.
    node = [near(q / r) for q, r in zip(base.node_queue, base.node_rate, strict=True)]
    link = [near(q / r) for q, r in zip(base.link_queue, base.link_rate, strict=True)]
    return instance, Queues(
        np.array(node) * instance.node_rate, np.array(link) * instance.link_rate
    )


def _sizes(layers: int, shape: str, stream: np.random.Generator) -> NDArray[np.float64]:
    steps = np.arange(layers + 1)
    if shape == "shrinking":
        sizes = RATIO**steps
    else:
        sizes = np.maximum((1 - 2 * steps / layers) ** 2, LEAST)
    return np.asarray(sizes * stream.uniform(0.5, 1.0, layers + 1))


def _log_uniform(
    low: float, high: float, number: int, stream: np.random.Generator
) -> NDArray[np.float64]:
    return np.exp(stream.uniform(np.log(low), np.log(high), number))


def _job(index: int, ends: list[int], work: NDArray[np.float64], data: NDArray[np.float64]) -> Job:
    layers = tuple(
        Layer(compute=float(c), output=float(d), memory=0.0)
        for c, d in zip(work, data[1:], strict=True)
    )
    return Job(
        name=f"j{index}",
        source=f"n{ends[0]}",
        destination=f"n{ends[1]}",
        input=float(data[0]),
        layers=layers,
    )
