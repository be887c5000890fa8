"""The figure of splitting/example: four pictures, as in the paper's Fig. 4."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from algorithms.splitting import run
from experiments.captions import put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import plain_style, save_figure
from experiments.splitting.example import EXAMPLE, shown_seed
from experiments.splitting.layered_picture import add_layered_axes, draw_layered
from experiments.splitting.network_picture import draw_network
from experiments.splitting.page import caption
from models.splitting import routes_of
from models.splitting.generator import generate

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

TITLES = (
    "(a) network, sources s and destinations t",
    "(b) layered graph",
    "(c) paths in the layered graph",
    "(d) the same paths in the network",
)
WIDTH, FLAT, TALL = 7.5, 3.0, 4.9  # inches of the page, of a network and of a layered graph


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows.assign(models=rows["models"].map(" ".join)), destination)
    seed, first = shown_seed(rows), rows.iloc[0]
    made = generate(
        int(first["nodes"]),
        int(first["jobs"]),
        gamma=first["gamma"],
        models=list(first["models"]),
        seed=seed,
    )
    instance = made.instance
    outcome = run(instance, "ilp", time_limit=first["time_limit"])
    routes, jobs = routes_of(instance, outcome.solution), range(instance.number_of_jobs)
    corner = made.positions.min(axis=0)
    places = (made.positions - corner) / np.ptp(made.positions, axis=0).max()
    names = "; ".join(f"{j + 1}: {model}" for j, model in enumerate(made.models))
    how = (
        f"Least total service time, (1)-(5), {outcome.log.status}: {outcome.solution.objective:.4g}"
        f" s. Jobs {names}. Straight down, a layer is computed; within a layer, its output is "
        f"sent. Nodes lie where they were drawn. Seed {seed}, the first with a job that is split "
        "and one that ends where it begins (the first of all if there is none); the claim is "
        f"judged on all {rows['seed'].nunique()}. Our defaults where the paper is silent: "
        f"{'; '.join(made.report.assumptions)}."
    )
    with plain_style():
        figure = Figure(figsize=(WIDTH, FLAT + TALL + 0.6))
        foot = put_caption(figure, caption(rows, context, how, EXAMPLE.claims))
        height = float(figure.get_size_inches()[1])
        low, high = foot + 0.1 / height, foot + (TALL + 0.25) / height
        flat, tall = FLAT / height, TALL / height
        places_of_axes = ((0.0, high, flat), (0.0, low, tall), (0.5, low, tall), (0.5, high, flat))
        for k, (left, bottom, tallness) in enumerate(places_of_axes):
            rectangle = (left + 0.01, bottom, 0.48, tallness)
            if k in (0, 3):
                axes = figure.add_axes(rectangle)
                draw_network(
                    axes,
                    instance,
                    routes if k == 3 else [],
                    jobs,
                    places=places,
                    legend=False,
                    ends=True,
                )
            else:
                # A square box, which is wider than half of the page, but empty at its sides.
                wide = TALL / WIDTH
                square = (left + 0.25 - wide / 2, bottom, wide, tallness)
                axes = add_layered_axes(figure, square)
                draw_layered(axes, instance, routes if k == 2 else [], jobs, places)
            figure.text(left + 0.03, bottom + tallness, TITLES[k], fontsize=8, va="bottom")
        title = f"An example: {instance.number_of_nodes} nodes, {instance.number_of_jobs} jobs"
        figure.text(0.03, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)
