"""What an audit returns, the same for every family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["AuditReport", "Violation", "statement_differs"]

RELATIVE = 1e-6
STATEMENT_ABSOLUTE = 1e-9


@dataclass(frozen=True)
class Violation:
    """One constraint that does not hold.

    Attributes
    ----------
    constraint : str
        Name of the constraint, one of the family's list in formats.md.
    where : str
        Where: job, slot, machine, resource.
    amount : float
        Absolute excess over what is allowed, in the constraint's own unit.
    """

    constraint: str
    where: str
    amount: float


@dataclass(frozen=True)
class AuditReport:
    """The findings of an audit: objective recomputed from raw data, and all violations.

    `notes` are what else a family's audit says, by the name that it has in ``audit --json``.
    """

    objective: float
    violations: tuple[Violation, ...] = field(default_factory=tuple)
    notes: Mapping[str, object] = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Whether nothing is violated."""
        return not self.violations

    def as_dict(self) -> dict[str, object]:
        """Return the content of ``audit --json``."""
        return {
            "feasible": self.feasible,
            "objective": self.objective,
            "violations": [
                {"constraint": v.constraint, "where": v.where, "amount": v.amount}
                for v in self.violations
            ],
            **self.notes,
        }


def statement_differs(stated: float, computed: float) -> bool:
    """Whether a stated number is off by more than 1e-6 relative + 1e-9."""
    return abs(stated - computed) > RELATIVE * abs(computed) + STATEMENT_ABSOLUTE
