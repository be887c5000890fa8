"""The caption of figures of policy runs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.captions import LINE
from experiments.declaration import Claim, Context
from experiments.training.points import LONG_LEVELS
from experiments.versions import versions

if TYPE_CHECKING:
    import pandas

__all__ = ["caption"]


def caption(
    rows: pandas.DataFrame, context: Context, claims: Sequence[Claim] = (), note: str = ""
) -> str:
    """Return the caption: how the rows were made, jobs that were impossible, and the verdicts."""
    used = versions()
    fixed = [
        f"{letter} = {rows[column].iloc[0]:g}"
        for letter, column in (("I", "jobs"), ("T", "slots"), ("H", "machines"))
        if rows[column].nunique() == 1
    ]
    sources = sorted({str(text).split(":")[0] for text in rows["arrivals_source"]})
    mixes = sorted(set(rows["mix"]))
    coarse = " PD-ORS: Q = 20 levels." if _is_coarse(rows) else " PD-ORS: Q = max(20, 4(T - a))."
    text = (
        f"{'Quick grid. ' if context.quick else ''}"
        f"Preset {', '.join(sorted(set(rows['preset'])))}, mix {', '.join(mixes)}, "
        f"{', '.join(fixed)}, {rows['seed'].nunique()} seeds (0-{int(rows['seed'].max())}), "
        f"the same jobs for all policies; arrivals {', '.join(sources)}. Slot = 1 h, b_ext ~ "
        f"U[0.1, 4] Gbit/s (D10).{coarse} Means with 95 % t intervals over seeds. Impossible jobs: "
        f"{rows['impossible'].mean():.2g} of {rows['jobs'].mean():.3g} per run (redrawn until "
        f"possible: {rows['redraws'].mean():.3g} draws thrown away).{_rejections(rows)} "
        f"{note}{' ' if note else ''}schedlab {used['schedlab']}, HiGHS {used['highspy']}, "
        f"numpy {used['numpy']}."
    )
    lines = textwrap.wrap(text, LINE)
    for claim in claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)


def _rejections(rows: pandas.DataFrame) -> str:
    """Why PD-ORS turned jobs away, in jobs per run: the key to most of what figures show."""
    mine = rows[rows["policy"] == "pdors"]
    if not len(mine):
        return ""
    counts = ", ".join(
        f"{mine[f'rejected_{reason}'].mean():.2g} by {reason}"
        for reason in ("price", "rounding", "capacity")
    )
    return f" PD-ORS rejects per run {counts}."


def _is_coarse(rows: pandas.DataFrame) -> bool:
    if "set_levels" not in rows:
        return False
    mine = rows[rows["policy"] == "pdors"]["set_levels"]
    return bool(len(mine)) and bool((mine == LONG_LEVELS).all())
