"""Lines of training/theory on runs: the steps of the proof, duality, Theorems 5 and 6."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from experiments.intervals import binomial_interval
from experiments.training.theory_lines import Line, Outcome

if TYPE_CHECKING:
    import pandas

__all__ = ["MAKERS"]

TOLERANCE = 1e-6


def _runs(rows: pandas.DataFrame) -> pandas.DataFrame:
    return rows[rows["part"] == "run"]


def _counted(
    name: str,
    failures: int,
    n: int,
    text: str,
    vacuous: str = "-",
    surely_kept: int | None = None,
    example: str = "",
) -> Line | None:
    """Make a line of a statement without probability: one sure failure refutes it.

    `failures` of `n` are runs, which are independent of each other as jobs or cells of one run
    are not. `example` says what a counterexample does, if one breaks the statement.
    """
    if n == 0:
        return None
    low, high = binomial_interval(failures, n)
    outcome: Outcome = "fails" if failures or example else "holds"
    if outcome == "holds" and surely_kept is not None and surely_kept < n:
        outcome = "undecided"
    text = f"{text} ({failures / n:.1%} of runs, 95 % interval {low:.1%} to {high:.1%})"
    if example:
        text += f"; broken by {example}"
    return Line(name, text, vacuous, "-", outcome, n, failures / n, low, high)


def _example(rows: pandas.DataFrame, name: str, breaks: Callable[[Any], bool], says: str) -> str:
    """Say how a counterexample breaks a statement; empty if it was not run or does not."""
    part = rows[rows["part"] == "example"]
    part = part[part["example"] == name] if len(part) else part
    if not len(part) or not breaks(part.iloc[0]):
        return ""
    return f"example {name}: {says.format(**part.iloc[0])}"


def _differential(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    if not len(runs):
        return None
    least = float(runs["differential"].min())
    # For a step of 1e-6 C the ratio is 1 - ln(U/L) 1e-6 / 2, and 1 in the limit.
    allowed = 1 - float(runs["epsilon"].max()) * 1e-6
    outcome: Outcome = "holds" if least >= allowed else "fails"
    text = (
        f"left / right side is at least {least:.6f} at a step of 1e-6 C, 101 fill levels of each "
        f"price of {len(runs)} runs: equality in the limit"
    )
    return Line(name, text, "no", "-", outcome, len(runs), least, least, least)


def _relation(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    n, failures = int(runs["cells"].sum()), int(runs["cells_failing"].sum())
    plain = int(runs["cells_failing_plain"].sum())
    shares = [step[5] for text in runs["along"] for step in json.loads(text)]
    text = (
        f"fails in {failures} of {n} cells, without the factor delta/3G in {plain}; the largest "
        f"share of a machine that an admitted job takes at once is {_median(shares):.0%} in the "
        f"median, not << 1"
    )
    return _counted(name, *_affected(runs["cells_failing"], runs["cells"]), text)


def _affected(failures: Any, of: Any) -> tuple[int, int]:
    """Count the runs with a failure, and those in which there could have been one."""
    return int((failures > 0).sum()), int((of > 0).sum())


def _job_step(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    n, failures = int(runs["steps"].sum()), int(runs["steps_failing"].sum())
    whole = int(runs["run_fails"].sum())
    text = (
        f"fails for {failures} of {n} admitted jobs, and summed up in {whole} of {len(runs)} runs"
    )
    example = _example(
        rows, "bargain", lambda row: row["steps_failing"] > 0, "in {steps_failing:.0f} step"
    )
    counts = _affected(runs["steps_failing"], runs["steps"])
    return _counted(name, *counts, text, example=example)


def _start_value(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    failures = int((runs["start_value"] > runs["opt_upper"] / 2 * (1 + TOLERANCE)).sum())
    kept = int((runs["start_value"] <= runs["opt_lower"] / 2 * (1 + TOLERANCE)).sum())
    text = f"surely broken in {failures} of {len(runs)} runs, surely kept in {kept}"
    return _counted(name, failures, len(runs), text, surely_kept=kept)


def _prices_block(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    workers, worker_pairs = _sums(runs, "unblocked_workers", "unblocked_worker_pairs")
    ps, ps_pairs = _sums(runs, "unblocked_ps", "unblocked_ps_pairs")
    text = (
        f"one worker alone costs less than its job is worth in {workers} of {worker_pairs} pairs "
        f"(job, resource), one PS alone in {ps} of {ps_pairs}"
    )
    counts = _affected(
        runs["unblocked_workers"] + runs["unblocked_ps"],
        runs["unblocked_worker_pairs"] + runs["unblocked_ps_pairs"],
    )
    return _counted(name, *counts, text)


def _dual_feasible(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    reasons = ("price", "capacity", "rounding")
    counts = {r: _sums(runs, f"unpriced_{r}", f"rejected_{r}") for r in reasons}
    failures, n = (sum(pair[k] for pair in counts.values()) for k in (0, 1))
    parts = ", ".join(f"{k} of {m} by {reason}" for reason, (k, m) in counts.items())
    text = f"surely broken by {failures} of {n} rejected jobs ({parts})"
    example = _example(rows, "worker-only", lambda row: row["unpriced"] > 0, "{unpriced:.0f} job")
    affected = _affected(
        sum(runs[f"unpriced_{r}"] for r in reasons), sum(runs[f"rejected_{r}"] for r in reasons)
    )
    return _counted(name, *affected, text, example=example)


def _weak_duality(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    failures = int((runs["dual_of_paper"] < runs["opt_lower"] * (1 - TOLERANCE)).sum())
    kept = int((runs["dual_of_paper"] >= runs["opt_upper"] * (1 - TOLERANCE)).sum())
    known = runs[runs["opt_lower"] > 0]
    text = (
        f"D is surely below OPT in {failures} of {len(runs)} runs; in the median it is "
        f"{_median(known['dual_of_paper'] / known['opt_lower']):.0f} times what is reached"
    )
    example = _example(
        rows,
        "no-draw",
        lambda row: row["dual_of_paper"] < row["opt_lower"] * (1 - TOLERANCE),
        "D = {dual_of_paper:.3g}, OPT = {opt_lower:.3g}",
    )
    return _counted(name, failures, len(runs), text, surely_kept=kept, example=example)


def _certificate(name: str, rows: pandas.DataFrame) -> Line | None:
    runs = _runs(rows)
    if not len(runs):
        return None
    slack = 1 + TOLERANCE
    broken = (runs["online"] > runs["opt_lower"] * slack) | (
        runs["opt_lower"] > runs["dual"] * slack
    )
    broken |= runs["opt_lower"] > runs["dual_scaled"] * slack
    known = runs[runs["opt_upper"] > 0]
    loose = known["dual"] / known["opt_upper"]
    scaled = known["dual_scaled"] / known["opt_upper"]
    zero = int((runs["scale"] == 0).sum())
    text = (
        f"broken in {int(broken.sum())} of {len(runs)} runs; D / OPT's upper bound is "
        f"{_median(loose):.0f} in the median ({loose.min():.3g} to {loose.max():.3g}), with "
        f"prices scaled by the best s in [0, 1] {_median(scaled):.2f} ({scaled.min():.3g} to "
        f"{scaled.max():.3g}), s = 0 in {zero} runs"
    )
    return _counted(name, int(broken.sum()), len(runs), text)


def _ratio(online: str, gain: Callable[[Any], Any]) -> Callable[[str, Any], Line | None]:
    def make(name: str, rows: pandas.DataFrame) -> Line | None:
        runs = _runs(rows)
        runs = runs[runs["opt_upper"] > 0]
        if not len(runs):
            return None
        bound = 6 * gain(runs) / runs["delta"] * runs["epsilon"]
        slack = 1 + TOLERANCE
        broken, kept, empty = {}, {}, {}
        for column in (online, "online"):
            limit = bound * runs[column] * slack
            broken[column] = int((runs["opt_lower"] > limit).sum())
            kept[column] = int((runs["opt_upper"] <= limit).sum())
            # No schedule could break it: the jobs are not worth as much even alone.
            empty[column] = int((limit >= runs["dual_scaled"]).sum())
        zero = int((runs[online] <= 0).sum())
        positive = runs[runs[online] > 0]
        ratios = positive["opt_lower"] / positive[online]
        text = (
            f"bound {bound.min():.0f} to {bound.max():.0f}; OPT/P at least {_median(ratios):.2f} "
            f"in the median, {ratios.max():.4g} at most, infinite (P = 0) in {zero} of "
            f"{len(runs)} runs; surely broken in {broken[online]}, surely kept in {kept[online]}"
        )
        if online == "online_packing":
            text += (
                f"; with G = 1 and 5000 attempts surely broken in {broken['online']}, surely kept "
                f"in {kept['online']}"
            )
        everywhere = empty[online] == len(runs)
        vacuous = "yes" if everywhere else f"in {empty[online]} of {len(runs)}"
        example = _example(
            rows,
            "bargain",
            lambda row: row["opt_lower"] > row["bound"] * float(gain(row)) * row["online"],
            "P = {online:.2g}, OPT = {opt_lower:.3g}, bound of Theorem 5 {bound:.0f}",
        )
        return _counted(
            name,
            broken[online],
            len(runs),
            text,
            vacuous,
            surely_kept=kept[online],
            example=example,
        )

    return make


def _feasible(favour: str) -> Callable[[str, Any], Line | None]:
    def make(name: str, rows: pandas.DataFrame) -> Line | None:
        from algorithms.training.pdors.dynamic_program import default_levels
        from experiments.training.theory_run import DRAWS_OF_THEOREM, SLOT_FIELDS

        runs = _runs(rows)
        sampled = [
            [dict(zip(SLOT_FIELDS, values, strict=True)) for values in json.loads(text)]
            for text in runs[f"slots_{favour}"]
        ]
        sampled = [part for part in sampled if part]
        slots = [slot for part in sampled for slot in part]
        n = len(slots)
        if n == 0:
            return None
        found = sum(int(slot["found"]) for slot in slots)
        # Runs are independent, slot programs of one run are not.
        whole = sum(all(slot["found"] for slot in part) for part in sampled)
        plain = sum(int(v[0]) for text in runs["slots_plain"] for v in json.loads(text))
        event = "cover" if favour == "packing" else "packing"
        relaxed = sum(slot[event] < slot["draws"] for slot in slots)
        low, high = binomial_interval(whole, len(sampled))
        states = int((runs["slots"] * default_levels(int(runs["slots"].max()))).max())
        # Theorem 6 divides by HR + 1 too, which is at least 2.
        divisor = 3 if favour == "packing" else 3 * 2
        miss = (float(runs["delta"].max()) / divisor) ** DRAWS_OF_THEOREM
        promise = 1 - miss * states
        outcome: Outcome = "fails" if high < promise else "holds" if low >= promise else "undecided"
        text = (
            f"the relaxed event leaves a draw in {relaxed} of {n} slot programs; really feasible "
            f"is one of {DRAWS_OF_THEOREM} draws in {found} ({found / n:.1%}), with G = 1 in "
            f"{plain} ({plain / n:.1%}); in all that were sampled in {whole} of {len(sampled)} "
            f"runs (95 % interval {low:.1%} to {high:.1%}) where at least 1 - {miss * states:.0e} "
            f"is promised for all states"
        )
        vacuous = sum(int(slot["vacuous"]) for slot in slots)
        flag = "yes" if vacuous == n else f"in {vacuous} of {n}" if vacuous else "no"
        estimate = whole / len(sampled)
        return Line(name, text, flag, "-", outcome, len(sampled), estimate, low, high)

    return make


def _sums(runs: pandas.DataFrame, *columns: str) -> tuple[int, int]:
    first, second = (int(runs[column].sum()) for column in columns)
    return first, second


def _median(values: Any) -> float:
    import numpy as np

    return float(np.median(values)) if len(values) else math.nan


MAKERS: dict[str, Callable[[str, Any], Line | None]] = {
    "differential": _differential,
    "relation": _relation,
    "job-step": _job_step,
    "start-value": _start_value,
    "prices-block": _prices_block,
    "dual-feasible": _dual_feasible,
    "weak-duality": _weak_duality,
    "certificate": _certificate,
    # G is at most 1 in Theorem 5, and largest in Theorem 6 where one PS is all that is needed:
    # the weakest bounds that the theorems can mean for a whole run.
    "theorem-5-ratio": _ratio("online_packing", lambda runs: 1.0),
    "theorem-5-feasible": _feasible("packing"),
    "theorem-6-ratio": _ratio("online_cover", lambda runs: runs["gain_cover"]),
    "theorem-6-feasible": _feasible("cover"),
}
