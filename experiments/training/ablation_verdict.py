"""What the parts of `pdors-plus` bring, and whether its certified ratio is what is aimed at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.declaration import Status, Verdict
from experiments.judging import LEAST_SEEDS, Comparison, compare
from experiments.training.ablation import BOUND, FULL, PARTS, TARGETS

if TYPE_CHECKING:
    import pandas

__all__ = ["certified_ratios", "judge_certified", "judge_parts", "losses", "median_interval"]


def losses(rows: pandas.DataFrame, machines: int) -> pandas.DataFrame:
    """Utility of the full algorithm minus each variant's: seeds by variants, complete seeds."""
    here = rows[(rows["machines"] == machines) & (rows["variant"] != BOUND)]
    table = here.pivot_table(index="seed", columns="variant", values="utility").dropna()
    return table.rsub(table[FULL], axis=0).drop(columns=FULL)


def certified_ratios(rows: pandas.DataFrame, machines: int) -> pandas.Series:
    """Proved upper bound of the optimum over the full algorithm's utility, by seed."""
    here = rows[rows["machines"] == machines].set_index("seed")
    upper = here[here["variant"] == BOUND]["upper"]
    utility = here[here["variant"] == FULL]["utility"]
    ratio = (upper / utility.where(utility > 0, 0.0)).dropna()
    return ratio.rename("ratio")


def median_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Return the median with its exact interval from order statistics, infinite for few values."""
    from scipy.stats import binom

    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    below = int(binom.ppf((1 - level) / 2, n, 0.5))  # P(fewer than this many lie below) is small
    median = float(np.median(ordered))
    if below == 0:
        return median, -np.inf, np.inf
    return median, float(ordered[below - 1]), float(ordered[n - below])


def judge_parts(rows: pandas.DataFrame) -> Verdict:
    """Judge "each part brings utility": a loss without it, on average over the sizes."""
    tables = {h: losses(rows, h) for h in sorted(set(rows["machines"]))}
    mean = sum(tables.values()).dropna() / len(tables)
    found = compare([(name, mean[name]) for name in PARTS])
    sure = sum(c.surely_positive for c in found)
    status: Status = "not-reproduced"
    if sure == len(found):
        status = "reproduced"
    elif 2 * sure >= len(found):
        status = "partly"
    others = compare([(name, mean[name]) for name in mean.columns if name not in PARTS])
    text = (
        f"Surely a loss in {sure} of {len(found)} cases. Mean loss of utility with, instead of a "
        f"part: {_list(found)}. Also {_list(others)}. n = {len(mean)} seeds."
    )
    least = min(found, key=lambda c: c.mean)
    numbers = {"n": len(mean), "estimate": least.mean, "low": least.low, "high": least.high}
    if len(mean) < LEAST_SEEDS:
        return Verdict(f"Not judged below {LEAST_SEEDS} seeds. {text}", "not-run", numbers)
    return Verdict(text, status, numbers)


def judge_certified(rows: pandas.DataFrame) -> Verdict:
    """Judge the median certified ratio against its target at every number of machines."""
    sizes = [h for h in sorted(TARGETS) if h in set(rows["machines"])]
    ratios = {h: certified_ratios(rows, h) for h in sizes}
    n = min((len(ratio) for ratio in ratios.values()), default=0)
    if n == 0 or len(sizes) < len(TARGETS):
        unknown = {"n": n, "estimate": np.nan, "low": np.nan, "high": np.nan}
        return Verdict("The sizes of the targets were not run.", "not-run", unknown)
    intervals = {h: median_interval(ratio.tolist()) for h, ratio in ratios.items()}
    status: Status = "not-reproduced"
    if all(intervals[h][2] <= TARGETS[h] for h in sizes):
        status = "reproduced"
    elif all(intervals[h][0] <= TARGETS[h] for h in sizes):
        status = "partly"
    found = "; ".join(
        f"H = {h}: {median:.3f} [{low:.3f}, {high:.3f}], target {TARGETS[h]}, largest "
        f"{ratios[h].max():.3f}"
        for h, (median, low, high) in intervals.items()
    )
    text = f"Median certified ratio {found}. n = {n} seeds."
    median, low, high = intervals[sizes[0]]
    numbers = {"n": n, "estimate": median, "low": low, "high": high}
    if n < LEAST_SEEDS:
        return Verdict(f"Not judged below {LEAST_SEEDS} seeds. {text}", "not-run", numbers)
    return Verdict(text, status, numbers)


def _list(found: Sequence[Comparison]) -> str:
    return "; ".join(map(str, found))
