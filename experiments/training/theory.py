"""training/theory: every lemma and theorem, what it promises and what was observed.

One sweep with four parts, told apart by the column ``part``:

- ``lemma``: a random cover/packing program is rounded many times (or, for programs of separate
  equal rows, the probabilities are computed exactly);
- ``run``: PD-ORS runs, with the optimum, the dual certificate, the allocation-cost relationship
  and a sample of the slot programs that the run met;
- ``example``: the small instances of `experiments.training.counterexamples`;
- ``scaling``: PD-ORS runs of growing T, H and Q, for Theorem 7.

Three figures show the rows: the table, the relationship along runs, and the exponents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.training.theory_names import RELATION_LINES, SCALING_LINES, STATEMENTS

if TYPE_CHECKING:
    import pandas

__all__ = ["ALLOCATION_COST", "DELTA", "SCALING", "SCALING_AXES", "THEORY"]

DELTA = 0.1
ROWS = "training/theory"
REVISION = 1
TASK = "experiments.training.theory_task:task"
STATISTIC = (
    "probabilities: exact binomial (Clopper-Pearson) intervals, 95 % for all programs of a line "
    "together, reproduced if all keep the promise; statements that are to hold always: runs that "
    "surely break them; exponents: mean over seeds with its t interval, kept up to 0.25"
)

SCALING_AXES: dict[str, tuple[int, ...]] = {
    "slots": (10, 20, 40),
    "machines": (5, 10, 20, 40),
    "levels": (10, 20, 40, 80),
}
_SCALING_BASE = {"jobs": 8, "slots": 10, "machines": 5, "levels": 20}


def lemma_grid(quick: bool) -> list[dict[str, Any]]:
    """Programs of known widths: random, of a slot program's shape, and of separate equal rows."""
    draws = 2000 if quick else 20000
    points: list[dict[str, Any]] = []
    widths = [(5, 2, 1.0), (5, 15, 0.1), (30, 15, 0.1), (30, 60, 0.1), (100, 60, 1.0)]
    widths += [(100, 60, 0.1), (100, 500, 0.1), (100, 500, 1.0)]
    for cover, packing, delta in widths[::3] if quick else widths:
        for copies in (1, 25):
            points.append({"program": "random", "copies": copies, "delta": delta})
            points[-1] |= {"cover": cover, "packing": packing, "cover_rows": 5, "packing_rows": 20}
    for cover in (30,) if quick else (12, 30, 45):
        points.append({"program": "slot-like", "copies": 1, "delta": DELTA})
        points[-1] |= {"cover": cover, "packing": 15, "cover_rows": 2, "packing_rows": 401}
    lemmas = [{**p, "lemma": lemma, "draws": draws} for p in points for lemma in (1, 2)]
    # Separate equal rows: (lemma, W_a, m, W_b, r). A width of 0 stands for rows that never bind.
    blocks = [(1, 1, 1, w, 401) for w in (1, 2, 3, 5, 15, 40)]
    blocks += [(1, 100, m, 0, 1) for m in (50, 400, 2000)]
    blocks += [(2, 0, 1, w, r) for w in (3, 15, 40) for r in (50, 401)]
    for lemma, cover, cover_rows, packing, packing_rows in blocks:
        for delta in (DELTA, 1.0):
            lemmas.append({"program": "blocks", "copies": 1, "delta": delta, "lemma": lemma})
            lemmas[-1] |= {"cover": cover, "packing": packing, "draws": 0}
            lemmas[-1] |= {"cover_rows": cover_rows, "packing_rows": packing_rows}
    return [{"part": "lemma", **point} for point in lemmas]


def run_grid(quick: bool) -> list[dict[str, Any]]:
    """Runs whose optimum is known or well bounded; arrivals of the Google trace."""
    sizes = [(8, 10, 4)] if quick else [(8, 10, 4), (20, 20, 10)]
    return [
        {
            "part": "run",
            "jobs": jobs,
            "slots": slots,
            "machines": machines,
            "preset": "calibrated",
            "delta": DELTA,
            "time_limit": 0.5 if quick else 3.0,
            "draws": 500 if quick else 4000,
        }
        for jobs, slots, machines in sizes
    ]


def scaling_grid(quick: bool) -> list[dict[str, Any]]:
    """T, H and Q, one at a time around T = 10, H = 5, Q = 20."""
    points = []
    for axis, values in SCALING_AXES.items():
        for value in values[:2] if quick else values:
            points.append(
                {
                    "part": "scaling",
                    "axis": axis,
                    "preset": "calibrated",
                    **_SCALING_BASE,
                    axis: value,
                }
            )
    return points


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """All four parts."""
    examples = [
        {"part": "example", "example": name, "delta": DELTA}
        for name in ("bargain", "no-draw", "worker-only")
    ]
    return [*lemma_grid(quick), *run_grid(quick), *examples, *scaling_grid(quick)]


def _judge(name: str) -> Callable[[pandas.DataFrame], Verdict]:
    def judge(rows: pandas.DataFrame) -> Verdict:
        from experiments.training.theory_lines import verdict_of

        return verdict_of(name, rows)

    return judge


def _claims(figure: str, names: Sequence[str]) -> tuple[Claim, ...]:
    return tuple(
        Claim(f"{figure}/{name}", STATEMENTS[name], STATISTIC, _judge(name)) for name in names
    )


METRICS = {"evaluations": "roundings, exact probabilities or linear programs: the work done"}

THEORY = Experiment(
    name="training/theory",
    revision=REVISION,
    summary="table: lemma or theorem, promise, observation, vacuous or not, verdict",
    paper="arXiv 2108.02917, Lemmas 1-2, Theorems 3-7 and the appendix",
    grid=grid,
    task=TASK,
    figure="experiments.training.theory_drawing:draw",
    claims=_claims("theory", [n for n in STATEMENTS if n not in (*RELATION_LINES, *SCALING_LINES)]),
    rows=ROWS,
    metrics=METRICS,
    cost="evaluations",
    policies=("pdors",),
    seeds=20,
    quick_seeds=2,
    expected_seconds=600.0,
    quick_seconds=25.0,
)

ALLOCATION_COST = Experiment(
    name="training/allocation-cost",
    revision=REVISION,
    summary="the allocation-cost relationship along PD-ORS runs, and where it fails",
    paper="arXiv 2108.02917, appendix, proof of the competitive ratio",
    grid=run_grid,
    task=TASK,
    figure="experiments.training.allocation_cost_drawing:draw",
    claims=_claims("allocation-cost", RELATION_LINES),
    rows=ROWS,
    metrics=METRICS,
    cost="evaluations",
    policies=("pdors",),
    seeds=20,
    quick_seeds=2,
    expected_seconds=300.0,
    quick_seconds=8.0,
)

SCALING = Experiment(
    name="training/scaling",
    revision=REVISION,
    summary="work of PD-ORS over T, H and Q: fitted exponents",
    paper="arXiv 2108.02917, Theorem 7",
    grid=scaling_grid,
    task=TASK,
    figure="experiments.training.scaling_drawing:draw",
    claims=_claims("scaling", SCALING_LINES),
    rows=ROWS,
    metrics=METRICS,
    cost="evaluations",
    policies=("pdors",),
    seeds=20,
    quick_seeds=2,
    expected_seconds=200.0,
    quick_seconds=10.0,
)
