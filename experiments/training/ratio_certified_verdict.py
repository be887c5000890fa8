"""Certified ratios: what they are, and what was claimed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.declaration import Status, Verdict
from experiments.intervals import binomial_interval
from experiments.judging import LEAST_SEEDS, compare, status_of, verdict_of
from experiments.policy_names import label
from experiments.training.ratio_certified import BASELINES, BOUND, GAPS

if TYPE_CHECKING:
    import pandas

__all__ = ["BAND_END", "intervals", "judge_band", "judge_gap", "judge_plus", "ratios"]

BAND_END = 1.4


def intervals(rows: pandas.DataFrame, machines: int) -> pandas.DataFrame:
    """Return what is known of the optimum at one size: lower, upper and gap, by seed.

    The lower end is the best audited schedule of the seed, whoever found it: the search for the
    optimum, or a policy.
    """
    here = rows[rows["machines"] == machines]
    bound = here[here["policy"] == BOUND].set_index("seed")["upper"]
    lower = here[here["seed"].isin(bound.index)].groupby("seed")["utility"].max()
    table = lower.to_frame("lower").assign(upper=np.maximum(bound, lower))
    return table.assign(gap=1 - table["lower"] / table["upper"].where(table["upper"] > 0, 1.0))


def ratios(rows: pandas.DataFrame, machines: int, policy: str) -> pandas.DataFrame:
    """Return low and high end of optimum / utility by seed; infinite where nothing is completed."""
    known = intervals(rows, machines)
    here = rows[(rows["machines"] == machines) & (rows["policy"] == policy)]
    utility = here.set_index("seed")["utility"].reindex(known.index).dropna()
    known = known.loc[utility.index]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = known["lower"] / utility, known["upper"] / utility
    return low.fillna(1.0).to_frame("low").assign(high=high.fillna(1.0))


def judge_gap(rows: pandas.DataFrame) -> Verdict:
    """Judge how closely the optimum is known at the sizes that have a target."""
    sizes = [h for h in sorted(GAPS) if h in set(rows["machines"])]
    gaps = {h: intervals(rows, h)["gap"].dropna() for h in sizes}
    n = min((len(gap) for gap in gaps.values()), default=0)
    if n == 0 or len(sizes) < len(GAPS):
        unknown = {"n": n, "estimate": np.nan, "low": np.nan, "high": np.nan}
        return Verdict("The sizes of the targets were not run.", "not-run", unknown)
    met = {h: int((gaps[h] <= GAPS[h]).sum()) for h in sizes}
    enough = [h for h in sizes if 4 * met[h] >= 3 * len(gaps[h])]
    status: Status = "not-reproduced"
    if enough:
        status = "reproduced" if len(enough) == len(sizes) else "partly"
    found = "; ".join(
        f"H = {h}: {met[h]} of {len(gaps[h])} seeds within {100 * GAPS[h]:g} % (median "
        f"{100 * gaps[h].median():.2g} %, largest {100 * gaps[h].max():.2g} %)"
        for h in sizes
    )
    low, high = binomial_interval(met[sizes[0]], len(gaps[sizes[0]]))
    numbers = {"n": n, "estimate": met[sizes[0]] / len(gaps[sizes[0]]), "low": low, "high": high}
    if n < LEAST_SEEDS:
        return Verdict(f"Not judged below {LEAST_SEEDS} seeds. {found}.", "not-run", numbers)
    return Verdict(f"{found}.", status, numbers)


def judge_band(rows: pandas.DataFrame) -> Verdict:
    """Judge whether PD-ORS's ratio surely lies within the paper's band at every size."""
    sizes = sorted(set(rows["machines"]))
    tables = {h: ratios(rows, h, "pdors") for h in sizes}
    within = {h: int((table["high"] <= BAND_END).sum()) for h, table in tables.items()}
    above = {h: int((table["low"] > BAND_END).sum()) for h, table in tables.items()}
    n = min((len(table) for table in tables.values()), default=0)
    pairs = sum(map(len, tables.values()))
    if n == 0:
        unknown = {"n": 0, "estimate": np.nan, "low": np.nan, "high": np.nan}
        return Verdict("Not run.", "not-run", unknown)
    found = "; ".join(
        f"H = {h}: surely within on {within[h]}, surely above on {above[h]} of {len(table)} seeds "
        f"(median between {table['low'].median():.2f} and {table['high'].median():.2f})"
        for h, table in tables.items()
    )
    low, high = binomial_interval(sum(within.values()), pairs)
    numbers = {"n": n, "estimate": sum(within.values()) / pairs, "low": low, "high": high}
    if n < LEAST_SEEDS:
        return Verdict(f"Not judged below {LEAST_SEEDS} seeds. {found}.", "not-run", numbers)
    return Verdict(f"{found}.", status_of(sum(within.values()), pairs), numbers)


def judge_plus(rows: pandas.DataFrame) -> Verdict:
    """Judge "PD-ORS+ beats every baseline" at every number of machines."""
    table = rows.pivot_table(index="seed", columns=["machines", "policy"], values="utility")
    table = table.dropna()
    sizes = sorted(set(rows["machines"]))
    found = compare(
        [
            (f"{label(other)} at H = {h}", table[h, "pdors-plus"] - table[h, other])
            for h in sizes
            for other in BASELINES
        ]
    )
    sure = sum(c.surely_positive for c in found)
    worse = [str(c) for c in found if c.surely_negative]
    open_ = [str(c) for c in found if not c.surely_positive and not c.surely_negative]
    least = min(found, key=lambda c: c.mean)
    text = (
        f"Surely better in {sure} of {len(found)} comparisons"
        f"{'; surely worse than ' + '; '.join(worse) if worse else ''}"
        f"{'; undecided against ' + '; '.join(open_) if open_ else ''}. Least mean advantage: "
        f"{least}."
    )
    return verdict_of(table, text, status_of(sure, len(found)), least)
