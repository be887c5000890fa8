"""Lines of training/theory on probabilities: Lemmas 1-2, Theorems 3-4, and the paper's case."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from experiments.intervals import binomial_interval
from experiments.training.theory_lines import Line

if TYPE_CHECKING:
    import pandas

__all__ = ["MAKERS", "Trial", "probability_line"]

Event = Literal["cost", "cover", "packing"]
USEFUL = 0.01


@dataclass(frozen=True)
class Trial:
    """One program: how often an event happened, what is promised, and what the promise is worth.

    Attributes
    ----------
    count, draws : int
    bound : float
        The promised probability.
    vacuous, chernoff_valid : bool
    exact : float
        The probability itself where it is known, else NaN.
    label : str
        What program it is, shown if it is the worst.
    """

    count: int
    draws: int
    bound: float
    vacuous: bool
    chernoff_valid: bool
    exact: float = math.nan
    label: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of the probability; a point if it is known."""
        if not math.isnan(self.exact):
            return self.exact, self.exact
        return binomial_interval(self.count, self.draws, level)

    @property
    def share(self) -> float:
        """The probability, or how often the event happened."""
        return self.exact if not math.isnan(self.exact) else self.count / max(self.draws, 1)


def probability_line(name: str, trials: Sequence[Trial], *, upper_tail: bool) -> Line | None:
    """Judge "the probability is at most the bound" on many programs together.

    It fails if some program's interval is wholly above its bound, and holds if all are wholly
    at or below; intervals are at level 1 - 0.05/n, so that all n hold together.
    """
    if not trials:
        return None
    level = 1 - 0.05 / len(trials)
    judged = [(t, *t.interval(level)) for t in trials]
    above = [entry for entry in judged if entry[1] > entry[0].bound]
    within = [entry for entry in judged if entry[2] <= entry[0].bound]
    worst, low, high = max(judged, key=lambda e: (e[0].share / e[0].bound, e[2] / e[0].bound))
    drawn = [t for t in trials if math.isnan(t.exact)]
    parts = []
    if drawn:
        count, draws = sum(t.count for t in drawn), sum(t.draws for t in drawn)
        parts.append(f"{count} of {draws} roundings of {len(drawn)} programs")
    if len(drawn) < len(trials):
        parts.append(f"{len(trials) - len(drawn)} programs computed exactly")
    text = (
        f"{' and '.join(parts)}; worst {_probability(worst, low, high)} where {worst.bound:.2g} "
        f"is promised; surely kept by {len(within)} of {len(trials)} programs, surely broken by "
        f"{len(above)}"
    )
    if above and upper_tail:
        outside = sum(not entry[0].chernoff_valid for entry in above)
        text += f", {outside} of them where the Chernoff step is none"
    outcome = "fails" if above else "holds" if len(within) == len(trials) else "undecided"
    return Line(
        name,
        text,
        _all_or_some([t.vacuous for t in trials]),
        _all_or_some([t.chernoff_valid for t in trials]) if upper_tail else "-",
        outcome,  # type: ignore[arg-type]
        len(trials),
        worst.share,
        low,
        high,
    )


def _probability(trial: Trial, low: float, high: float) -> str:
    if not math.isnan(trial.exact):
        return f"{trial.exact:.2g} (exact{trial.label and '; '}{trial.label})"
    return f"{trial.count}/{trial.draws} ({low:.2g} to {high:.2g})"


def _all_or_some(flags: Sequence[bool]) -> str:
    if all(flags):
        return "yes"
    return f"in {sum(flags)} of {len(flags)}" if any(flags) else "no"


def _lemma(lemma: int, event: Event, divide: bool) -> Callable[[str, Any], Line | None]:
    """Make a line from the programs of part ``lemma``; `divide` by m or r, as printed."""

    def make(name: str, rows: pandas.DataFrame) -> Line | None:
        return probability_line(
            name,
            lemma_trials(rows, lemma, event, divide),
            upper_tail=event == "packing",
        )

    return make


def lemma_trials(rows: pandas.DataFrame, lemma: int, event: Event, divide: bool) -> list[Trial]:
    """Return the trials of one event; exact programs count once, whatever the seeds."""
    part = rows[rows["part"] == "lemma"]
    part = part[part["lemma"] == lemma] if len(part) else part
    trials, seen = [], set()
    for row in part.to_dict("records"):
        bound = row["delta"] / 3
        if divide:
            bound /= row["cover_rows" if event == "cover" else "packing_rows"]
        vacuous = bool(row["cost_factor"] < 1) if event == "cost" else bool(row["vacuous"])
        # Vacuity is about the relaxed event of the lemma, not about the one of its proof.
        if event == ("packing" if lemma == 1 else "cover"):
            vacuous = False
        valid = bool(row["chernoff_valid"])
        if row["program"] != "blocks":
            count = int(row[f"n_{event}"])
            trials.append(Trial(count, int(row["n_draws"]), bound, vacuous, valid))
            continue
        exact = float(row[f"exact_{event}"]) if event != "cost" else math.nan
        key = tuple(row[k] for k in ("cover", "packing", "cover_rows", "packing_rows", "delta"))
        if not math.isnan(exact) and key not in seen:
            seen.add(key)
            width = f"W_a = {row['cover']:g}, m = {row['cover_rows']:g}"
            if event == "packing":
                width = f"W_b = {row['packing']:g}, r = {row['packing_rows']:g}"
            label = f"{width}, delta = {row['delta']:g}"
            trials.append(Trial(0, 0, bound, vacuous, valid, exact, label))
    return trials


def _theorem(favour: str, event: Event) -> Callable[[str, Any], Line | None]:
    """Make a line from the slot programs that runs met."""

    def make(name: str, rows: pandas.DataFrame) -> Line | None:
        from experiments.training.theory_run import SLOT_FIELDS

        trials = []
        for row in rows[rows["part"] == "run"].to_dict("records"):
            for values in json.loads(row[f"slots_{favour}"]):
                slot = dict(zip(SLOT_FIELDS, values, strict=True))
                vacuous = {
                    "cost": bool(slot["meaningless_cost"]),
                    ("cover" if favour == "packing" else "packing"): bool(slot["vacuous"]),
                }
                trials.append(
                    Trial(
                        int(slot[event]),
                        int(slot["draws"]),
                        row["delta"] / 3,
                        vacuous.get(event, False),
                        bool(slot["chernoff_valid"]),
                    )
                )
        return probability_line(name, trials, upper_tail=event == "packing")

    return make


def _papers_case(name: str, rows: pandas.DataFrame) -> Line | None:
    """W_b = 15, r = 401: how often all rows hold, and what the proof's step is worth there."""
    part = rows[rows["part"] == "lemma"]
    if not len(part):
        return None
    part = part[(part["lemma"] == 1) & (part["packing"] == 15) & (part["packing_rows"] == 401)]
    drawn = part[part["program"] == "slot-like"]
    exact = part[(part["program"] == "blocks") & (part["delta"] == 0.1)]
    if not len(drawn):
        return None
    count, draws = int(drawn["n_feasible"].sum()), int(drawn["n_draws"].sum())
    low, high = binomial_interval(count, draws)
    tail = ""
    if len(exact):
        tail = (
            f"; in separate full rows some packing row fails with probability "
            f"{exact['exact_packing'].iloc[0]:.2g} (exact) where {0.1 / 3:.2g} is promised"
        )
    text = (
        f"G = {drawn['gain'].min():.3f}, eps = {drawn['upper_eps'].max():.2f}: {count} of {draws} "
        f"roundings meet all rows ({low:.2g} to {high:.2g}){tail}"
    )
    outcome = "fails" if high < USEFUL else "holds" if low >= USEFUL else "undecided"
    return Line(
        name,
        text,
        _all_or_some(drawn["vacuous"].astype(bool).tolist()),
        _all_or_some(drawn["chernoff_valid"].astype(bool).tolist()),
        outcome,  # type: ignore[arg-type]
        len(drawn),
        count / draws,
        low,
        high,
    )


MAKERS: dict[str, Callable[[str, Any], Line | None]] = {
    "lemma-1-cost": _lemma(1, "cost", False),
    "lemma-1-cover-printed": _lemma(1, "cover", True),
    "lemma-1-cover-union": _lemma(1, "cover", False),
    "lemma-1-packing": _lemma(1, "packing", False),
    "lemma-2-cost": _lemma(2, "cost", False),
    "lemma-2-packing-printed": _lemma(2, "packing", True),
    "lemma-2-packing-union": _lemma(2, "packing", False),
    "lemma-2-cover": _lemma(2, "cover", False),
    "papers-case": _papers_case,
    "theorem-3-cost": _theorem("packing", "cost"),
    "theorem-3-cover": _theorem("packing", "cover"),
    "theorem-3-packing": _theorem("packing", "packing"),
    "theorem-4-cost": _theorem("cover", "cost"),
    "theorem-4-packing": _theorem("cover", "packing"),
    "theorem-4-cover": _theorem("cover", "cover"),
}
