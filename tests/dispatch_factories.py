"""Small dispatch instances for tests of all layers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.dispatch import DispatchInstance, Job, Node

RESOURCES = ("cores", "gpus", "mics", "memory")


def make_node(name: str = "n0", cores: float = 16, gpus: float = 0, **changes: Any) -> Node:
    values: dict[str, Any] = {
        "name": name,
        "capacity": {"cores": cores, "gpus": gpus, "memory": 16},
        "idle_power": 100.0,
    }
    return Node(**{**values, **changes})


def make_job(name: str = "j0", units: Sequence[float] = (8,), **changes: Any) -> Job:
    """Make a job with units of so many cores; 10 W per core."""
    values: dict[str, Any] = {
        "name": name,
        "submit": 0,
        "duration": 60,
        "expected_wait": 60,
        "power": 10.0 * sum(units),
        "units": tuple({"cores": cores} for cores in units),
    }
    return Job(**{**values, **changes})


def make_instance(
    jobs: Sequence[Job] = (), nodes: Sequence[Node] | None = None, **changes: Any
) -> DispatchInstance:
    values: dict[str, Any] = {
        "resources": RESOURCES,
        "nodes": (make_node(),) if nodes is None else tuple(nodes),
        "jobs": tuple(jobs),
    }
    return DispatchInstance(**{**values, **changes})


def random_instance(
    seed: int, jobs: int = 5, nodes: int = 2, *, longest: int = 6, submits: int = 4
) -> DispatchInstance:
    """Draw a tiny instance: two resources, small times, sometimes a cap, sometimes fractions."""
    rng = np.random.default_rng(seed)
    step = float(rng.choice([1.0, 0.5, 0.1]))

    def amount(low: int, high: int) -> float:
        return round(int(rng.integers(low, high + 1)) * step, 6)

    made = tuple(
        Node(
            name=f"n{n}",
            capacity={"cores": amount(2, 4), "memory": amount(2, 4)},
            idle_power=float(rng.integers(0, 3)),
        )
        for n in range(nodes)
    )
    idle = sum(node.idle_power for node in made)
    drawn = tuple(
        Job(
            name=f"j{j}",
            submit=int(rng.integers(0, submits + 1)),
            duration=int(rng.integers(1, longest + 1)),
            expected_wait=int(rng.choice([1, 2, 5])),
            power=float(rng.integers(0, 6)),
            units=tuple(
                {"cores": amount(0, 2), "memory": amount(1, 2)}
                for _ in range(int(rng.integers(1, 3)))
            ),
        )
        for j in range(jobs)
    )
    cap = None if rng.random() < 0.3 else idle + float(rng.integers(5, 11))
    return DispatchInstance(resources=("cores", "memory"), power_cap=cap, nodes=made, jobs=drawn)
