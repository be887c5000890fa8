"""What became of each job and why, in words: the log entry that the baselines share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from algorithms.policy import Run
from models.training import TrainingInstance, build_schedule
from models.training.schedule import Placement, Reason, samples_in_slot

__all__ = ["WAITING_COUNTERS", "BaselineLog", "JobOutcome", "baseline_run", "job_outcome"]


@dataclass(frozen=True)
class JobOutcome:
    """What became of one job.

    Attributes
    ----------
    job, name, arrival
        Index, name and arrival slot.
    reason : str or None
        As in the schedule file: why it was not completed, None if it was.
    explanation : str
        The same in words, with what delayed it.
    completion : int or None
        Last slot with a worker, None if not completed.
    first_slot : int or None
        First slot with a worker.
    slots_run : int
        Slots with a worker.
    waiting_slots : int
        Slots without one from the arrival to the completion, or to the horizon.
    samples : float
        Samples processed.
    """

    job: int
    name: str
    arrival: int
    reason: Reason | None
    explanation: str
    completion: int | None = None
    first_slot: int | None = None
    slots_run: int = 0
    waiting_slots: int = 0
    samples: float = 0.0

    @property
    def status(self) -> str:
        """One word: completed, delayed (completed, but it waited), or the reason."""
        if self.reason is not None:
            return self.reason
        return "delayed" if self.waiting_slots else "completed"


@dataclass(frozen=True)
class BaselineLog:
    """The log of a baseline's run.

    Attributes
    ----------
    decisions : tuple of JobOutcome
        By arrival.
    placements : dict
        Job index to placements of the jobs that ran.
    """

    instance: TrainingInstance
    decisions: tuple[JobOutcome, ...]
    placements: dict[int, list[Placement]] = field(default_factory=dict)


def job_outcome(
    instance: TrainingInstance,
    i: int,
    placements: Sequence[Placement],
    *,
    waits: Mapping[str, int] | None = None,
    rejection: tuple[Reason, str] | None = None,
) -> JobOutcome:
    """Describe a job's outcome from its placements.

    Parameters
    ----------
    instance : TrainingInstance
    i : int
    placements : sequence of (slot, machine index, workers, PSs)
    waits : mapping of cause in words to number of slots, optional
        Why the job had no worker in slots in which it could have run.
    rejection : (reason, words), optional
        If the job was turned away.
    """
    job, reach = instance.jobs[i], instance.reach[i]
    by_slot: dict[int, list[tuple[int, int, int]]] = {}
    for slot, machine, workers, ps in placements:
        by_slot.setdefault(slot, []).append((machine, workers, ps))
    samples = sum(samples_in_slot(job, places) for places in by_slot.values())
    done = bool(by_slot) and job.workload_reached(samples)
    end = max(by_slot) if done else instance.slots - 1
    waiting = end - job.arrival + 1 - len(by_slot)
    waited = _waited(waiting, waits or {})
    reason: Reason | None = None
    if done:
        words = f"completed in slot {end}" + (f"; {waited}" if waiting else "")
    elif not reach.possible:
        reason, words = "impossible", reach.why_impossible(job, instance.slots)
    elif rejection is not None:
        reason, words = rejection
    elif not by_slot:
        reason, words = "not-selected", f"never started: {waited}"
    else:
        reason = "unfinished"
        words = (
            f"{samples / job.workload:.0%} of the samples in {_slots(len(by_slot))} "
            f"from slot {min(by_slot)}" + (f"; {waited}" if waiting else "")
        )
    return JobOutcome(
        job=i,
        name=job.name,
        arrival=job.arrival,
        reason=reason,
        explanation=words,
        completion=end if done else None,
        first_slot=min(by_slot, default=None),
        slots_run=len(by_slot),
        waiting_slots=waiting,
        samples=samples,
    )


def _waited(waiting: int, waits: Mapping[str, int]) -> str:
    """Say how long a job waited, and for what, the most frequent cause first."""
    causes = Counter(waits).most_common()
    text = f"waited {_slots(waiting)}"
    if len(causes) == 1:
        return f"{text} ({causes[0][0]})"
    if causes:
        return f"{text} ({', '.join(f'{cause}: {slots}' for cause, slots in causes)})"
    return text


def _slots(number: int) -> str:
    return f"{number} slot" + ("" if number == 1 else "s")


WAITING_COUNTERS = {
    "delayed": "jobs that waited before their first slot",
    "waiting_slots": "slots that jobs waited, arrived and without workers, in all",
}
"""What `baseline_run` counts."""


def baseline_run(policy: str, log: BaselineLog, counters: Mapping[str, int]) -> Run:
    """Make the run of a baseline; how jobs ended is counted beside its own counters."""
    reasons = {o.job: o.reason for o in log.decisions if o.reason is not None}
    schedule = build_schedule(log.instance, policy, log.placements, reasons)
    delayed = sum(o.status == "delayed" for o in log.decisions)
    waiting = sum(o.waiting_slots for o in log.decisions if o.reason != "impossible")
    return Run(schedule, log, {"delayed": delayed, "waiting_slots": waiting, **counters})
