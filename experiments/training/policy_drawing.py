"""What the figures of policy runs have in common: line styles, caption, table beside the figure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.declaration import META, Claim, Context
from experiments.drawing import INK
from experiments.training.points import LONG_LEVELS
from experiments.versions import versions
from models.files import write_atomic

if TYPE_CHECKING:
    import pandas

__all__ = ["LINE", "caption", "line_style", "put_caption", "write_table"]

LINE = 152  # characters of a caption's line
CAPTION_FONT = 6.3
LINE_HEIGHT = 0.118  # inches per line of the caption

# Colours are Okabe and Ito's; markers and dashes tell lines apart in grey too.
_STYLES: dict[str, dict[str, Any]] = {
    "pdors": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "pdors-plus": {"color": "#56B4E9", "marker": "*", "linestyle": "-", "markersize": 7},
    "fifo": {"color": "#D55E00", "marker": "v", "linestyle": ":"},
    "drf": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "dorm": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "oasis": {"color": "#CC79A7", "marker": "D", "linestyle": (0, (6, 1, 1, 1, 1, 1))},
    "optimus": {"color": "#E69F00", "marker": "x", "linestyle": (0, (3, 1))},
    "default": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "google": {"color": "#D55E00", "marker": "s", "linestyle": "--"},
}
_LEFT_OUT = (*META, "policy_seconds", "arrivals_source")  # timings, and a long text


def line_style(name: str) -> dict[str, Any]:
    """Return colour, marker and dashes of a policy's or mix's line."""
    return {"linewidth": 1.1, "markersize": 4, **_STYLES.get(name, {"color": "#777777"})}


def write_table(rows: pandas.DataFrame, destination: Path) -> None:
    """Write the rows beside a figure as CSV, without timings."""
    dropped = [name for name in _LEFT_OUT if name in rows]
    table = rows.drop(columns=dropped).dropna(axis="columns", how="all")
    write_atomic(destination.with_suffix(".csv"), table.to_csv(index=False, float_format="%.9g"))


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


def put_caption(figure: Any, text: str) -> float:
    """Write the caption at the foot of a figure, made taller for it.

    Returns
    -------
    float
        The part of the height that the caption takes.
    """
    width, height = figure.get_size_inches()
    needed = LINE_HEIGHT * (text.count("\n") + 1) + 0.1
    figure.set_size_inches(width, height + needed)
    figure.text(0.02, 0.05 / (height + needed), text, fontsize=CAPTION_FONT, va="bottom")
    return float(needed / (height + needed))


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
