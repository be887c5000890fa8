"""The table of training/theory, line by line, computed from the rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from experiments.declaration import Status, Verdict
from experiments.training.theory_names import SCALING_LINES, STATEMENTS

if TYPE_CHECKING:
    import pandas

__all__ = ["Line", "all_lines", "line_of", "part_of", "verdict_of"]

Outcome = Literal["holds", "fails", "undecided", "not run"]
STATUS: dict[Outcome, Status] = {
    "holds": "reproduced",
    "fails": "not-reproduced",
    "undecided": "partly",
    "not run": "not-run",
}


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes
    ----------
    name : str
        A key of `STATEMENTS`.
    observed : str
        What was measured, with intervals.
    vacuous, chernoff : str
        Whether the bound says anything, and whether the Chernoff step of the proof is one.
    outcome : {"holds", "fails", "undecided", "not run"}
    n : int
        Programs, runs or jobs counted.
    estimate, low, high : float
        The statistic behind the outcome, and its interval.
    """

    name: str
    observed: str
    vacuous: str
    chernoff: str
    outcome: Outcome
    n: int = 0
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def promise(self) -> str:
        """What the paper says."""
        return STATEMENTS[self.name]

    @property
    def verdict(self) -> str:
        """The outcome, with a warning where the bound says nothing."""
        if self.outcome == "holds" and self.vacuous == "yes":
            return "holds, but vacuous"
        counts = re.fullmatch(r"in (\d+) of (\d+)", self.vacuous)
        if self.outcome == "holds" and counts and 2 * int(counts[1]) > int(counts[2]):
            return "holds, mostly vacuous"
        return self.outcome


def line_of(name: str, rows: pandas.DataFrame) -> Line:
    """Compute one line; without the rows that it needs its outcome is "not run"."""
    from experiments.training import theory_probabilities, theory_proof, theory_work

    makers: dict[str, Callable[[str, pandas.DataFrame], Line | None]] = {
        **theory_probabilities.MAKERS,
        **theory_proof.MAKERS,
        **theory_work.MAKERS,
    }
    has_rows = len(rows) and (rows["part"] == part_of(name)).any()
    line = makers[name](name, rows) if has_rows else None
    return line or Line(name, "no rows yet", "", "", "not run")


def part_of(name: str) -> str:
    """Return the part of the sweep whose rows a line needs."""
    if name.startswith("lemma") or name == "papers-case":
        return "lemma"
    return "scaling" if name in SCALING_LINES else "run"


def all_lines(rows: pandas.DataFrame) -> list[Line]:
    """Compute the whole table."""
    return [line_of(name, rows) for name in STATEMENTS]


def verdict_of(name: str, rows: pandas.DataFrame) -> Verdict:
    """Return a line as the verdict on the claim of the same name."""
    line = line_of(name, rows)
    details = [f"Bound vacuous: {line.vacuous}." if line.vacuous not in ("", "no", "-") else ""]
    details.append(
        f"Chernoff step valid: {line.chernoff}." if line.chernoff not in ("", "-") else ""
    )
    text = " ".join(
        part for part in (f"{line.observed[:1].upper()}{line.observed[1:]}.", *details) if part
    )
    numbers = {"n": line.n, "estimate": line.estimate, "low": line.low, "high": line.high}
    return Verdict(text, STATUS[line.outcome], numbers)
