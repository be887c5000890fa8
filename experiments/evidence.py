"""Which stored rows speak for an experiment, and what its claims are worth by them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.declaration import Claim, Experiment, Verdict
from experiments.store import Key, Store
from experiments.tasks import tasks_of

if TYPE_CHECKING:
    import pandas

__all__ = ["Evidence", "evidence_of", "judge", "not_run"]


@dataclass(frozen=True)
class Evidence:
    """The rows of one grid that can be compared with each other.

    Attributes
    ----------
    points : tuple of str
        The grid as canonical parameters.
    seeds : tuple of int
        The seeds that every point of the grid has a row for; the others are left out, so that
        points are compared on the same draws.
    quick : bool
        It is the small grid.
    """

    points: tuple[str, ...]
    seeds: tuple[int, ...]
    quick: bool = False

    @property
    def keys(self) -> list[Key]:
        """The rows, seed by seed."""
        return [Key(point, seed) for seed in self.seeds for point in self.points]


def evidence_of(experiment: Experiment, store: Store, *, quick: bool = False) -> Evidence:
    """Return what the store holds of the full grid, or of the small one."""
    points = tuple(key.parameters for key in tasks_of(experiment, seeds=1, quick=quick))
    wanted = set(points)
    finished = store.keys(experiment.stored_as, experiment.revision)
    counts = Counter(key.seed for key in finished if key.parameters in wanted)
    whole = sorted(seed for seed, count in counts.items() if count == len(points))
    return Evidence(points, tuple(whole), quick)


def judge(
    experiment: Experiment, evidence: Evidence, rows: pandas.DataFrame
) -> list[tuple[Claim, Verdict]]:
    """Judge every claim; only the full grid with as many seeds as declared counts.

    Parameters
    ----------
    experiment : Experiment
    evidence : Evidence
    rows : DataFrame
        The rows of `evidence`.
    """
    if evidence.quick:
        return not_run(experiment, "Only the quick grid has rows.")
    if len(evidence.seeds) < experiment.seeds:
        text = f"{len(evidence.seeds)} of the {experiment.seeds} seeds have rows"
        return not_run(experiment, f"{text} for the whole grid.")
    return experiment.judge(rows)


def not_run(experiment: Experiment, why: str) -> list[tuple[Claim, Verdict]]:
    """Return the verdict ``not-run`` for every claim, with the reason."""
    return [(claim, Verdict(why, "not-run")) for claim in experiment.claims]
