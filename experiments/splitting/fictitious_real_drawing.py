"""The figure of splitting/fictitious-vs-real: how much too late is promised, over three axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.captions import write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.splitting.fictitious_real import FICTITIOUS_REAL
from experiments.splitting.greedy_nfs import AXES, along
from experiments.splitting.looks import line_of_means
from experiments.splitting.page import assumed, caption, panels, plain_axis

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

LABELS = {"gamma": "gamma (factor on link rates)", "nodes": "nodes N", "jobs": "jobs J"}
LINES = (
    ("greedy_slack", "greedy: fictitious over real"),
    ("nfs_slack", "NFS: fictitious over real"),
    ("excess", "NFS over greedy, fictitious"),
    ("excess_real", "NFS over greedy, real"),
)


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    base = {name: rows[name].mode().iloc[0] for name in AXES}
    how = (
        "Fictitious: a job waits for all work of higher priority at every node and link that it "
        "uses. Real: an event-by-event simulation with preemptive priorities, where it waits only "
        f"for what is there. One axis varies at a time around N = {base['nodes']:g}, J = "
        f"{base['jobs']:g}, gamma = {base['gamma']:g}; means over {rows['seed'].nunique()} seeds "
        f"with 95 % t intervals. {assumed()}."
    )
    with plain_style():
        text = caption(rows, context, how, FICTITIOUS_REAL.claims)
        title = "Largest completion: the fictitious system and the real network"
        figure, axes = panels(len(AXES), title, text, share_y=True)
        for place, axis in zip(axes, AXES, strict=True):
            for look, (column, name) in enumerate(LINES):
                table = along(rows, axis, column)
                values = list(table)
                line_of_means(place, values, [table[v] for v in values], look=look, name=name)
            plain_axis(place, values, LABELS[axis])
            place.axhline(0, color=INK, linewidth=0.7)
        axes[0].set_ylabel("difference [%]")
        axes[-1].legend(frameon=False, fontsize=6.5)
    save_figure(figure, destination)
