"""Verdict on the gain over a reference with two mixes of jobs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from experiments.declaration import Status, Verdict
from experiments.judging import Judge, axis_values, compare, verdict_of
from experiments.policy_names import label

if TYPE_CHECKING:
    import pandas

__all__ = ["log_gains", "shrinks_with_mix"]


def log_gains(rows: pandas.DataFrame, policy: str, reference: str) -> pandas.DataFrame:
    """Return the rows of the policy with ``gain`` = utility / the reference's on the same instance.

    Pairs with a zero on either side have no finite logarithm; they are left out and counted by
    the difference in length.
    """
    keys = [name for name in ("seed", "jobs", "slots", "machines", "mix") if name in rows]
    mine = rows[rows["policy"] == policy].set_index(keys)
    other = rows[rows["policy"] == reference].set_index(keys)["utility"]
    gain = mine["utility"] / other.reindex(mine.index).where(lambda value: value > 0)
    return mine.assign(gain=gain).reset_index()[lambda table: table["gain"] > 0]


def shrinks_with_mix(axis: str, *, policy: str = "pdors", reference: str = "oasis") -> Judge:
    """Judge "the gain over the reference shrinks with fewer time-critical jobs".

    The statistic is ln(utility / the reference's) with the default mix minus the same with the
    Google mix, per seed and point. Reproduced if the mean over the points is surely positive and
    no point is surely negative; partly if the mean over the points is positive and at least half
    of the points are; else not. Estimate and interval are those of the mean over the points.
    """

    def judge(rows: pandas.DataFrame) -> Verdict:
        gains = log_gains(rows, policy, reference)
        left_out = int((rows["policy"] == policy).sum()) - len(gains)
        table = gains.assign(log=np.log(gains["gain"])).pivot_table(
            index="seed", columns=[axis, "mix"], values="log"
        )
        values = axis_values(table)
        drops = {v: (table[v, "default"] - table[v, "google"]).dropna() for v in values}
        at_points = compare([(f"{v:g}", drop) for v, drop in drops.items()])
        seeds = sum(drops.values()).dropna() / len(values)
        (overall,) = compare([("mean", seeds)])
        status: Status = "not-reproduced"
        if overall.surely_positive and not any(c.surely_negative for c in at_points):
            status = "reproduced"
        elif overall.mean > 0 and sum(c.mean > 0 for c in at_points) * 2 >= len(at_points):
            status = "partly"
        means = "; ".join(
            f"{v:g}: {math.exp(table[v, 'default'].mean()):.2f} and "
            f"{math.exp(table[v, 'google'].mean()):.2f}"
            for v in values
        )
        text = (
            f"Utility over {label(reference)}'s (geometric mean) with 35 % and with 1 % critical "
            f"jobs, by {axis}: {means}. ln of the first over the second: {overall}; by point "
            f"{'; '.join(map(str, at_points))}. {left_out} runs without finite ratio left out."
        )
        return verdict_of(seeds.to_frame(), text, status, overall)

    return judge
