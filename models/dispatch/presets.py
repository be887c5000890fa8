"""What the generated system and its jobs are like (ours, after the Eurora of the source)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CORES", "MEMORY", "QUEUES", "RESOURCES", "Queue", "queue_of"]

RESOURCES = ("cores", "gpus", "mics", "memory")
CORES = 16
MEMORY, LARGE_MEMORY = 16.0, 32.0  # GB
LARGE_SHARE = (6, 64)  # nodes of LARGE_MEMORY, of so many
ACCELERATORS = 2  # per node, GPUs and MICs in turn
UNIT_CORES = (1, 16)
UNIT_MEMORY = (1, 14)  # GB
UNIT_ACCELERATORS = (0, 2)
SHORTEST_SHARE = 0.2  # of the estimate that a job really takes, uniform from this to 1
OUTRUN_SHARE = 0.05  # of the jobs take up to LONGEST_SHARE times their estimate
LONGEST_SHARE = 1.2
POWER_ERROR = 0.15  # standard deviation of the relative error of predicted power


@dataclass(frozen=True)
class Queue:
    """A queue: its share of the jobs, durations [s], number of units, expected wait [s]."""

    name: str
    share: float
    shortest: int
    longest: int
    most_units: int
    expected_wait: int


QUEUES = (
    Queue("debug", 0.3, 3 * 60, 30 * 60, 2, 30 * 60),
    Queue("parallel", 0.5, 15 * 60, 360 * 60, 4, 6 * 3600),
    Queue("longpar", 0.2, 2 * 3600, 24 * 3600, 4, 24 * 3600),
)


def queue_of(duration: int) -> Queue:
    """Return the first queue whose longest duration is enough, for jobs that have none."""
    return next((queue for queue in QUEUES if duration <= queue.longest), QUEUES[-1])
