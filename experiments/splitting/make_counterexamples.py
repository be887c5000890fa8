"""Make the two instances of ``data/splitting/`` on which Theorem 1 is false.

``python -m experiments.splitting.make_counterexamples QUEUES.json -o data/splitting``

The smallest one is made from the numbers below; the one with queues that the greedy made needs
the numbers of a file: N, edges, mu_link, Q_link, mu_node, Q_node, c, d, s, t.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.files import InputError, parse_json, read_text
from models.splitting import Job, Layer, Link, Node, SplittingInstance, save_instance

__all__ = ["SMALLEST", "instance_of", "main"]

# Node 0 is source and destination. Queues cost 4 s at node 0, from node 1 back, and to node 2.
SMALLEST: dict[str, Any] = {
    "N": 3,
    "edges": [[0, 1], [1, 0], [0, 2], [2, 0]],
    "mu_link": [1, 1000, 1000, 1],
    "Q_link": [0, 4000, 4000, 0],
    "mu_node": [1, 100, 100],
    "Q_node": [4, 0, 0],
    "c": [0.1, 100, 0.1],
    "d": [10, 1, 1, 10],
    "s": 0,
    "t": 0,
}


def instance_of(numbers: Mapping[str, Any]) -> SplittingInstance:
    """Make the instance of one job from bare numbers."""
    names = [f"n{u}" for u in range(numbers["N"])]
    nodes = tuple(
        Node(name=name, rate=float(rate), queue=float(queue))
        for name, rate, queue in zip(names, numbers["mu_node"], numbers["Q_node"], strict=True)
    )
    links = tuple(
        Link(
            name=f"{names[u]}-{names[v]}",
            start=names[u],
            end=names[v],
            rate=float(rate),
            queue=float(queue),
        )
        for (u, v), rate, queue in zip(
            numbers["edges"], numbers["mu_link"], numbers["Q_link"], strict=True
        )
    )
    layers = tuple(
        Layer(compute=float(compute), output=float(output), memory=0.0)
        for compute, output in zip(numbers["c"], numbers["d"][1:], strict=True)
    )
    job = Job(
        name="j0",
        source=names[numbers["s"]],
        destination=names[numbers["t"]],
        input=float(numbers["d"][0]),
        layers=layers,
    )
    return SplittingInstance(nodes=nodes, links=links, jobs=(job,))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; returns the exit code (2 for bad input)."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.splitting.make_counterexamples",
        description="Make the two counterexamples to Theorem 1.",
    )
    parser.add_argument("numbers", type=Path, metavar="FILE", help="the greedy's (JSON)")
    parser.add_argument("-o", "--output", required=True, type=Path, help="folder")
    options = parser.parse_args(arguments)
    try:
        numbers = parse_json(read_text(options.numbers), str(options.numbers))
        try:
            greedy = instance_of(numbers)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"is not an instance of bare numbers: {error!r}", source=str(options.numbers)
            ) from None
        save_instance(instance_of(SMALLEST), options.output / "counterexample-smallest.json")
        save_instance(greedy, options.output / "counterexample-greedy.json")
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
