"""Small training instances, changed field by field."""

from collections.abc import Callable
from typing import Any

import pytest

from models.training import Job, Machine, TrainingInstance


def job_fields(**changes: Any) -> dict[str, Any]:
    """A job of 100 samples, of which a worker does 10 in a slot."""
    fields: dict[str, Any] = {
        "name": "j0",
        "arrival": 0,
        "epochs": 10,
        "samples": 10,
        "batch": 4,
        "gradient": 0.0,
        "sample_time": 0.1,
        "workers_per_ps": 2.0,
        "bandwidth_internal": 10.0,
        "bandwidth_external": 1.0,
        "worker": {"gpu": 1.0, "cpu": 1.0},
        "ps": {"cpu": 1.0},
        "utility": {"kind": "sigmoid", "priority": 10.0, "decay": 0.5, "target": 3.0},
    }
    return fields | changes


@pytest.fixture
def fields() -> Callable[..., dict[str, Any]]:
    return job_fields


@pytest.fixture
def make_job() -> Callable[..., Job]:
    return lambda **changes: Job(**job_fields(**changes))


@pytest.fixture
def make_instance() -> Callable[..., TrainingInstance]:
    """Instance from jobs' changes: machines of 4 GPU and 8 CPU, 10 slots."""

    def make(
        *jobs: dict[str, Any],
        slots: int = 10,
        capacities: tuple[dict[str, float], ...] = ({"gpu": 4, "cpu": 8}, {"gpu": 4, "cpu": 8}),
    ) -> TrainingInstance:
        return TrainingInstance(
            slots=slots,
            resources=("gpu", "cpu"),
            machines=tuple(
                Machine(name=f"m{h}", capacity=capacity) for h, capacity in enumerate(capacities)
            ),
            jobs=tuple(
                Job(**job_fields(**({"name": f"j{i}"} | changes))) for i, changes in enumerate(jobs)
            ),
        )

    return make
