"""The figure of splitting/ilp-iqp: the gap over three axes, and run times over J."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.captions import write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.splitting.ilp_iqp import ILP_IQP, METHODS, along, base_of
from experiments.splitting.looks import line_of_means
from experiments.splitting.page import assumed, caption, panels, plain_axis, seconds_axis

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

PANELS = (("gamma", "gamma (factor on link rates)"), ("jobs", "jobs J"))


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    base = base_of(rows)
    sizes = along(rows, "nodes", "gap")
    means = ", ".join(f"{sizes[n].mean():.2f} % at N = {n:g}" for n in sizes)
    how = (
        f"One axis varies at a time around N = {base['nodes']:g}, J = {base['jobs']:g}, gamma = "
        f"{base['gamma']:g} (the paper: N = 50; the mean gap is {means}). Gap: true service time "
        "of the IQP's placement on its own paths over that of the best ILP solution, both audited "
        "and both the best found before they were cut off, after "
        f"{rows['time_limit'].max():g} s and {rows['ilp_limit'].max():g} s of the solver. IQP "
        "linearised: HiGHS; raw products: SCIP, only where J is small. Means (times: geometric, "
        f"building included, machine shared with other work) with 95 % t intervals over "
        f"{rows['seed'].nunique()} seeds. {assumed()}."
    )
    with plain_style():
        text = caption(rows, context, how, ILP_IQP.claims)
        figure, axes = panels(3, "The IQP of the reference against the ILP (1)-(5)", text)
        for place, (axis, label) in zip(axes, PANELS, strict=False):
            table = along(rows, axis, "gap")
            line_of_means(place, list(table), [table[v] for v in table])
            plain_axis(place, list(table), label)
            place.axhline(0, color=INK, linewidth=0.7)
            place.set_ylabel("IQP over ILP, service time [%]", labelpad=1)
        for look, (method, name) in enumerate(METHODS.items()):
            table = along(rows, "jobs", f"{method}_seconds")
            samples = [table[v] for v in table]
            line_of_means(axes[2], list(table), samples, look=look, name=name, geometric=True)
        seconds_axis(axes[2], "run time [s]")
        plain_axis(axes[2], list(along(rows, "jobs", "ilp_seconds")), "jobs J")
        axes[2].legend(frameon=False, fontsize=6.5)
    save_figure(figure, destination)
