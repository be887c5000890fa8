"""Small training instances for the tests of policies, and what every policy must get right."""

from typing import Any

from models.training import Job, Machine, SigmoidUtility, TrainingInstance


def flat(priority: float = 10.0) -> SigmoidUtility:
    """A utility that does not fall with time: priority / 2."""
    return SigmoidUtility(kind="sigmoid", priority=priority, decay=0.0, target=0.0)


def unit_job(name: str = "j", *, worker_slots: int = 10, **changes: Any) -> Job:
    """One worker does 100 samples a slot wherever it is, and needs a GPU; PSs need nothing."""
    values: dict[str, Any] = {
        "name": name,
        "arrival": 0,
        "epochs": 1,
        "samples": 100 * worker_slots,
        "batch": 5,
        "gradient": 0.0,
        "sample_time": 0.01,
        "workers_per_ps": 2.0,
        "bandwidth_internal": 2.0,
        "bandwidth_external": 1.0,
        "worker": {"gpu": 1},
        "ps": {},
        "utility": SigmoidUtility(kind="sigmoid", priority=10, decay=0.5, target=3),
    }
    return Job(**{**values, **changes})


def cluster(
    *jobs: Job, machines: list[dict[str, float]] | None = None, slots: int = 8
) -> TrainingInstance:
    """An instance with one machine of 6 GPUs and 6 CPUs, or the given ones."""
    capacities = [{"gpu": 6.0, "cpu": 6.0}] if machines is None else machines
    return TrainingInstance(
        slots=slots,
        resources=("gpu", "cpu"),
        machines=tuple(
            Machine(name=f"m{h}", capacity=capacity) for h, capacity in enumerate(capacities)
        ),
        jobs=tuple(jobs),
    )


def workers_by_slot(run: Any, name: str) -> dict[int, int]:
    """Workers of a job in each slot in which it has any."""
    outcome = next(job for job in run.solution.jobs if job.name == name)
    workers: dict[int, int] = {}
    for item in outcome.allocation:
        workers[item.slot] = workers.get(item.slot, 0) + item.workers
    return workers


def explanation_of(run: Any, name: str) -> str:
    """What the log says about a job."""
    return str(next(entry.explanation for entry in run.log.decisions if entry.name == name))
