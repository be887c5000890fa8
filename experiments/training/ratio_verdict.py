"""Does the ratio of PD-ORS lie between 1.0 and 1.4? Computed from the rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.declaration import Status, Verdict
from experiments.training.ratio import BAND

if TYPE_CHECKING:
    import pandas

__all__ = ["judge", "known_share"]

LEVEL = 0.95


def judge(rows: pandas.DataFrame) -> Verdict:
    """Judge the claim "the ratio is between 1.0 and 1.4".

    The statistic is the share of instances whose ratio lies in the band, with its exact
    binomial (Clopper-Pearson) 95 % interval. A ratio known only as an interval counts as in or
    out where the whole interval is, and both ways where it is not. Instances with OPT = 0
    (empty) have no ratio and are left out, infinite ratios count as out. The claim is
    "reproduced" if the lower end is at least 95 %, "partly" if the median ratio is surely in
    the band, else "not-reproduced".
    """
    from scipy.stats import binomtest

    judged = rows[rows["kind"] != "empty"]
    n = len(judged)
    if n == 0:
        return Verdict(f"All {len(rows)} instances have an optimum of 0.", "not-run")
    surely_in, surely_out = known_share(judged)
    low = binomtest(surely_in, n).proportion_ci(LEVEL, "exact").low
    high = binomtest(n - surely_out, n).proportion_ci(LEVEL, "exact").high
    median_low = float(judged["ratio_low"].median())
    median_high = float(judged["ratio_high"].median())
    status: Status
    if low >= LEVEL:
        status = "reproduced"
    elif BAND[0] - 1e-6 <= median_low and median_high <= BAND[1]:
        status = "partly"
    else:
        status = "not-reproduced"
    kinds = judged["kind"].value_counts()
    infinite = int(kinds.get("infinite", 0))
    unproved = int(kinds.get("interval", 0))
    empty = len(rows) - n
    above = int((judged["ratio_low"] > judged["theory"]).sum())
    finite = judged[judged["kind"].isin(("proven", "interval"))]["ratio_low"]
    finite = finite[finite < math.inf]
    largest = f"; the largest finite ratio is at least {finite.max():.2f}" if len(finite) else ""
    share = (
        f"{surely_in / n:.0%}"
        if surely_in + surely_out == n
        else f"between {surely_in / n:.0%} and {(n - surely_out) / n:.0%}"
    )
    median = (
        f"{median_low:.2f}"
        if math.isclose(median_low, median_high, rel_tol=1e-6)
        else f"between {median_low:.2f} and {median_high:.2f}"
    )
    text = (
        f"The ratio is in the paper's band {BAND[0]}-{BAND[1]} on {share} of {n} instances "
        f"(95 % interval {low:.0%}-{high:.0%}); its median is {median}{largest}. "
        f"{infinite} ratios are infinite (PD-ORS completed nothing), {unproved} known only as "
        f"an interval, {empty} empty (optimum 0). {above} ratios surely exceed 6 G / delta "
        f"max(1, ln U/L), the bound of Theorem 5, here with the paper's best G = 1. "
        f"{int(rows['impossible'].sum())} jobs were impossible; "
        f"{int(rows['redraws'].sum())} draws were thrown away to have it so."
    )
    numbers = {
        "n": n,
        "estimate": surely_in / n,
        "low": low,
        "high": high,
        "median": median_low,
        "infinite": infinite,
        "interval": unproved,
        "empty": empty,
        "above_theory": above,
    }
    return Verdict(text, status, numbers)


def known_share(rows: pandas.DataFrame) -> tuple[int, int]:
    """Count the ratios that are surely in the band and surely out of it."""
    tolerance = 1e-6
    inside = (rows["ratio_low"] >= BAND[0] - tolerance) & (
        rows["ratio_high"] <= BAND[1] + tolerance
    )
    outside = (rows["ratio_low"] > BAND[1] + tolerance) | (rows["ratio_high"] < BAND[0] - tolerance)
    return int(inside.sum()), int(outside.sum())
