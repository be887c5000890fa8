"""Takes better values into the library, and nothing that has not been checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.library.checking import attained, objections
from experiments.library.instances import digest_of, make_instance
from experiments.library.records import (
    Entry,
    Side,
    agree,
    read_library,
    solution_path,
    write_library,
    write_solution,
)
from models.files import InputError

if TYPE_CHECKING:
    from experiments.cli.families import Bounds, Family

__all__ = ["Improvement", "improve_by_computing", "improve_by_solution"]


@dataclass(frozen=True)
class Improvement:
    """What was taken: sides that got better, and why a candidate was left out."""

    entry: Entry
    better: tuple[str, ...]
    refused: tuple[str, ...] = ()


def improve_by_solution(
    family: Family, entry: Entry, solution: Any, *, by: str, how: str
) -> Improvement:
    """Take a solution if the audit passes it and it is better than the one that is known."""
    entry, instance = _prepared(family, entry)
    return _with_solution(family, entry, instance, solution, by, how)


def improve_by_computing(
    family: Family, entry: Entry, *, policies: tuple[str, ...], time_limit: float, by: str, how: str
) -> Improvement:
    """Run policies with seed 0, then the family's exact method, and take what is better.

    Parameters
    ----------
    family, entry
    policies : tuple of str
    time_limit : float
        Seconds for the exact method; 0 leaves it out.
    by, how : str
        Who computes, and with which versions.
    """
    entry, instance = _prepared(family, entry)
    better: list[str] = []
    refused: list[str] = []
    for name in policies:
        policy = family.policies()[name]
        outcome = policy.run(instance, policy.parameters(), 0)
        if outcome.solution is None:
            refused.append(f"{name}: no solution")
            continue
        found = _with_solution(
            family, entry, instance, outcome.solution, by, f"{name}, seed 0; {how}"
        )
        entry = found.entry
        better += found.better
        refused += [f"{name}: {reason}" for reason in found.refused]
    if time_limit > 0:
        bounds = family.optimum(instance, time_limit, 0, **entry.optimum)
        options = "".join(f" --{key} {value}" for key, value in entry.optimum.items())
        method = "".join(f", {note}" for note in bounds.notes)
        made = f"optimum{options} --time-limit {time_limit:g}{method}; {how}"
        found = _with_bounds(family, entry, instance, bounds, by, made)
        entry = found.entry
        better += found.better
        refused += found.refused
    return Improvement(entry, tuple(better), tuple(refused))


def _prepared(family: Family, entry: Entry) -> tuple[Entry, Any]:
    """Return the instance, which must be the recorded one; a first time records it."""
    instance = make_instance(family, entry)
    digest = digest_of(instance)
    if entry.digest is None:
        return entry.model_copy(update={"digest": digest}), instance
    if entry.digest != digest:
        raise InputError(
            "the recipe gives another instance than the recorded one",
            source=f"{family.name}/{entry.name}",
        )
    return entry, instance


def _with_solution(
    family: Family, entry: Entry, instance: Any, solution: Any, by: str, how: str
) -> Improvement:
    if found := objections(family, entry, instance, solution):
        return Improvement(entry, (), tuple(found))
    value = float(solution.objective)
    maximise = family.sense == "max"
    known = attained(family, entry)
    if known is not None and (value <= known.value if maximise else value >= known.value):
        return Improvement(entry, ())
    if known is not None and agree(value, known.value):
        return Improvement(entry, ())
    bound = entry.upper if maximise else entry.lower
    if bound is not None and (value > bound.value if maximise else value < bound.value):
        if not agree(value, bound.value):
            said = f"{value:.10g} passes the audit but is beyond the bound {bound.value:.10g}"
            return Improvement(entry, (), (f"{said}: one of them is wrong",))
        # Within tolerances the same; a bound that the value passes by rounding moves with it.
        entry = entry.model_copy(
            update={("upper" if maximise else "lower"): bound.model_copy(update={"value": value})}
        )
    side = "lower" if maximise else "upper"
    entry = entry.model_copy(update={side: Side(value=value, by=by, how=how)})
    _keep(family, entry, solution)
    return Improvement(entry, (side,))


def _with_bounds(
    family: Family, entry: Entry, instance: Any, bounds: Bounds, by: str, how: str
) -> Improvement:
    better: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    if bounds.solution is not None:
        found = _with_solution(family, entry, instance, bounds.solution, by, how)
        entry, better, refused = found.entry, found.better, found.refused
    maximise = family.sense == "max"
    side = "upper" if maximise else "lower"
    value = bounds.upper if maximise else bounds.lower
    known = getattr(entry, side)
    if value is None or abs(value) == float("inf"):
        return Improvement(entry, better, refused)
    held = attained(family, entry)
    if held is not None and (value < held.value if maximise else value > held.value):
        if not agree(value, held.value):
            said = f"the bound {value:.10g} contradicts the audited {held.value:.10g}"
            return Improvement(entry, better, (*refused, said))
        value = held.value
    if known is None or (value < known.value if maximise else value > known.value):
        entry = entry.model_copy(update={side: Side(value=value, by=by, how=how)})
        better = (*better, side)
        write_library(read_library(family.name).with_entry(entry))
    return Improvement(entry, better, refused)


def _keep(family: Family, entry: Entry, solution: Any) -> None:
    """Write the solution first: a value without its solution must never stand in the file."""
    write_solution(solution, solution_path(family.name, entry))
    write_library(read_library(family.name).with_entry(entry))
