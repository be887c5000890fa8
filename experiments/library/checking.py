"""Looks whether what the library says is so: instance, solution, and the proofs of small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.library.instances import digest_of, make_instance
from experiments.library.records import Entry, agree, read_solution, solution_path
from models.files import InputError

if TYPE_CHECKING:
    from experiments.cli.families import Bounds, Family

__all__ = ["Finding", "attained", "check_entry", "objections"]


@dataclass(frozen=True)
class Finding:
    """What came out for one entry.

    Attributes
    ----------
    name : str
        ``family/name``.
    faults : tuple of str
        What is not as the library says; empty if all is well.
    proof : str
        What became of the proof, if one was tried.
    seconds : float or None
        How long it took.
    """

    name: str
    faults: tuple[str, ...]
    proof: str = ""
    seconds: float | None = None


def attained(family: Family, entry: Entry) -> Any:
    """Return the side of the interval that a solution attains."""
    return entry.lower if family.sense == "max" else entry.upper


def objections(family: Family, entry: Entry, instance: Any, solution: Any) -> list[str]:
    """Say what speaks against a solution: its kind, or what the audit finds.

    The objective that it states is recomputed by the audit, which is the only thing believed.
    """
    found = []
    for field, wanted in entry.requires.items():
        if (given := getattr(solution, field, None)) != wanted:
            found.append(f"the solution's {field} must be {wanted} (got {given})")
    if found:
        return found
    report = family.audit(instance, solution)
    return [
        f"the solution breaks {v.constraint} at {v.where} by {v.amount:.6g}"
        for v in report.violations
    ]


def check_entry(family: Family, entry: Entry, time_limit: float | None) -> Finding:
    """Check one entry.

    Parameters
    ----------
    family : Family
    entry : Entry
    time_limit : float or None
        Seconds for the proof of a small one; None proves nothing again.
    """
    name = f"{family.name}/{entry.name}"
    instance = make_instance(family, entry)
    if entry.digest is None:
        return Finding(name, ("nothing is recorded yet",))
    if digest_of(instance) != entry.digest:
        return Finding(name, ("the recipe gives another instance than the recorded one",))
    faults = _check_solution(family, entry, instance)
    if time_limit is None or not entry.small:
        return Finding(name, tuple(faults))
    bounds = family.optimum(instance, time_limit, 0, **entry.optimum)
    proof, wrong = _compare(entry, bounds, time_limit)
    return Finding(name, (*faults, *wrong), proof, bounds.seconds)


def _check_solution(family: Family, entry: Entry, instance: Any) -> list[str]:
    side = attained(family, entry)
    if side is None:
        return ["no value is recorded"]
    try:
        solution: Any = read_solution(family.solution_model(), solution_path(family.name, entry))
    except InputError as error:
        return [str(error)]
    found = objections(family, entry, instance, solution)
    if not agree(solution.objective, side.value):
        found.append(f"the solution is worth {solution.objective:.10g}, not {side.value:.10g}")
    return found


def _compare(entry: Entry, bounds: Bounds, time_limit: float) -> tuple[str, list[str]]:
    """Return what the new proof says, and what it contradicts."""
    low = float("-inf") if bounds.lower is None else bounds.lower
    high = float("inf") if bounds.upper is None else bounds.upper
    interval = f"between {low:.10g} and {high:.10g}"
    wrong = []
    if entry.upper is not None and low > entry.upper.value and not agree(low, entry.upper.value):
        wrong.append(f"{low:.10g} is proved as lower value, above {entry.upper.value:.10g}")
    if entry.lower is not None and high < entry.lower.value and not agree(high, entry.lower.value):
        wrong.append(f"{high:.10g} is proved as upper value, below {entry.lower.value:.10g}")
    if bounds.status == "infeasible":
        wrong.append("is said to have no solution")
    if wrong:
        return interval, wrong
    if bounds.status != "optimal":
        return interval, [f"not proved again within {time_limit:g} s: {interval}"]
    return f"optimal {bounds.lower:.10g}", []
