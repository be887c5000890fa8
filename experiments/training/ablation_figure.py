"""The figure of training/ablation: the loss without each part, by number of machines."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption
from experiments.declaration import META, Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.intervals import mean_interval
from experiments.policy_names import label
from experiments.training.ablation import ABLATION, BOUND, FULL, PARTS, VARIANTS
from experiments.training.ablation_verdict import certified_ratios, losses, median_interval
from experiments.versions import versions
from models.files import write_atomic

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

PART, OTHER = "#0072B2", "#BBBBBB"


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, the table of its rows as CSV.

    Parameters
    ----------
    rows : pandas.DataFrame
    destination : Path
        Ends in .svg or .png.
    context : Context
    """
    dropped = [name for name in (*META, "arrivals_source") if name in rows]
    table = rows.drop(columns=dropped).sort_values(["machines", "variant", "seed"])
    write_atomic(destination.with_suffix(".csv"), table.to_csv(index=False, float_format="%.9g"))
    sizes = sorted(set(rows["machines"]))
    names = [name for name in VARIANTS if name != FULL][::-1]
    with plain_style():
        figure = Figure(figsize=(7.5, 3.6))
        foot = put_caption(figure, _caption(rows, context))
        axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        height = float(figure.get_size_inches()[1])
        figure.subplots_adjust(
            left=0.185, right=0.985, bottom=foot + 0.42 / height, top=1 - 0.62 / height, wspace=0.1
        )
        for place, machines in zip(axes, sizes, strict=True):
            _panel(place, rows, machines, names)
        axes[0].set_yticks(range(len(names)), [label(name) for name in names])
        figure.text(
            0.585,
            foot + 0.1 / height,
            "utility lost against the full PD-ORS+ [% of its mean], paired by seed",
            ha="center",
        )
        figure.text(
            0.02,
            1 - 0.08 / height,
            "PD-ORS+ without each of its parts",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
    save_figure(figure, destination)


def _panel(axes: Any, rows: pandas.DataFrame, machines: int, names: list[str]) -> None:
    """One bar per variant, with the 95 % interval of the mean; the grey ones are no parts."""
    lost = losses(rows, machines)
    here = rows[(rows["machines"] == machines) & (rows["variant"] == FULL)]
    scale = 100 / max(float(here["utility"].mean()), 1e-300)
    for y, name in enumerate(names):
        mean, low, high = mean_interval([float(v) * scale for v in lost[name]])
        axes.barh(
            y,
            mean,
            height=0.68,
            color=PART if name in PARTS else OTHER,
            edgecolor=INK,
            linewidth=0.5,
            hatch="" if name in PARTS else "////",
        )
        if np.isfinite(low):
            axes.plot([low, high], [y, y], color=INK, linewidth=1.2, solid_capstyle="butt")
            for end in (low, high):
                axes.plot([end, end], [y - 0.18, y + 0.18], color=INK, linewidth=1.0)
        axes.annotate(
            f"{mean:.1f}",
            (max(mean, high if np.isfinite(high) else mean, 0), y),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
        )
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.margins(x=0.3)
    ratios = certified_ratios(rows, machines)
    certified = (
        f"\ncertified ratio {median_interval(ratios.tolist())[0]:.3f}" if len(ratios) else ""
    )
    axes.set_title(f"H = {machines}{certified}", fontsize=8)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)


def _caption(rows: pandas.DataFrame, context: Context) -> str:
    used = versions()
    limit = rows[rows["variant"] == BOUND]["time_limit"].max()
    text = (
        f"{'Quick grid. ' if context.quick else ''}Preset {rows['preset'].iloc[0]}, "
        f"mix {rows['mix'].iloc[0]}, I = {rows['jobs'].iloc[0]}, T = {rows['slots'].iloc[0]}, "
        f"{rows['seed'].nunique()} seeds (0-{rows['seed'].max()}), the same jobs for all. Bars: "
        "mean with 95 % t interval; blue: one part replaced by what the label says; grey, hatched: "
        "other variants (only whole workers = decided on arrival at the price of eq. 12). "
        "Certified ratio: median over seeds of the proved upper bound of the "
        f"offline optimum ({limit:g} s each) over PD-ORS+'s utility. Impossible jobs: "
        f"{rows['impossible'].mean():.2g} per instance (redraws: {rows['redraws'].mean():.3g}). "
        f"schedlab {used['schedlab']}, HiGHS {used['highspy']}, numpy {used['numpy']}."
    )
    lines = textwrap.wrap(text, LINE)
    for claim in ABLATION.claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)
