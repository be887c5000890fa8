"""Training instances for tests: tiny ones, small enough to try every schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.training import Job, Machine, SigmoidUtility, TrainingInstance


def make_job(name: str = "j0", **changes: Any) -> Job:
    """A job of 4 samples, of which an internal worker does one per slot; see the fields."""
    fields: dict[str, Any] = {
        "name": name,
        "arrival": 0,
        "epochs": 2,
        "samples": 2,
        "batch": 2,
        "gradient": 0.0,
        "sample_time": 1.0,
        "workers_per_ps": 1.0,
        "bandwidth_internal": 10.0,
        "bandwidth_external": 1.0,
        "worker": {"cpu": 1.0},
        "ps": {"cpu": 1.0},
        "utility": SigmoidUtility(kind="sigmoid", priority=10.0, decay=1.0, target=1.0),
    }
    return Job(**(fields | changes))


def make_instance(
    *jobs: Job, slots: int = 3, capacities: tuple[dict[str, float], ...] = ({"cpu": 4.0},)
) -> TrainingInstance:
    """Machines m0, m1, ... with the given capacities; resources cpu and gpu."""
    machines = tuple(Machine(name=f"m{h}", capacity=c) for h, c in enumerate(capacities))
    return TrainingInstance(
        slots=slots, resources=("cpu", "gpu"), machines=machines, jobs=tuple(jobs)
    )


def random_tiny(seed: int) -> TrainingInstance:
    """At most 2 machines, 3 slots, 3 jobs and 3 workers at once; usually with contention.

    About one job in ten is impossible.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    slots = int(rng.choice([1, 2, 2, 3]))
    machines = int(rng.choice([1, 2, 2]))
    kinds = [
        {"cpu": float(rng.integers(2, 5)), "gpu": float(rng.choice([1, 2, 2.5]))} for _ in range(2)
    ]
    capacities = tuple(kinds[0 if rng.random() < 0.6 else 1] for _ in range(machines))
    jobs: list[Job] = []
    for i in range(int(rng.choice([1, 2, 3, 3, 3]))):
        for _ in range(1 if rng.random() < 0.1 else 20):
            job = random_tiny_job(f"j{i}", rng, slots)
            if make_instance(job, slots=slots, capacities=capacities).reach[0].possible:
                break
        jobs.append(job)
    return make_instance(*jobs, slots=slots, capacities=capacities)


def random_tiny_job(name: str, rng: np.random.Generator, slots: int) -> Job:
    """A job that needs one to a few slots; now and then it is impossible."""
    batch = int(rng.integers(1, 4))
    gamma = float(rng.choice([0.5, 0.7, 1.0, 1.5, 2.0, 3.0]))
    return make_job(
        name,
        arrival=int(rng.choice([0, 0, 0, slots - 1])),
        epochs=1,
        samples=int(rng.integers(1, 6)),
        batch=batch,
        workers_per_ps=gamma,
        gradient=float(rng.choice([0.0, 0.1, 0.4])),
        sample_time=float(rng.choice([0.6, 0.9, 1.0])),
        bandwidth_internal=float(rng.choice([4.0, 20.0])),
        bandwidth_external=float(rng.choice([1.0, 4.0])),
        worker={"cpu": float(rng.choice([0.5, 1, 1])), "gpu": float(rng.choice([0, 0, 1]))},
        ps={"cpu": float(rng.choice([0, 0.5, 1]))},
        utility=SigmoidUtility(
            kind="sigmoid",
            priority=float(rng.uniform(1, 100)),
            decay=float(rng.choice([0.1, 0.5, 1.0, 5.0])),
            target=float(rng.integers(0, 3)),
        ),
    )
