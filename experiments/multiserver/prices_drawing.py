"""Draws multiserver/prices: one run as heat maps, and the distance from the duals over T."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.captions import put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.line_drawing import plot_means
from experiments.multiserver.heat_maps import averaged, heat_map, slot_edges
from experiments.multiserver.instances import draw_instance
from experiments.multiserver.panels import caption
from experiments.multiserver.prices import GAINS, PRICES, SHOWN, dual_prices
from experiments.multiserver.trajectory import Slot, trajectory
from models.multiserver import MultiserverInstance
from models.multiserver.layout import edge_layout
from models.multiserver.reward import port_rewards, totals

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

COLUMNS, GAP, DUALS = 100, 2, 5
BESIDE = (GAP + DUALS) / COLUMNS
"""The width that the duals take beside the run."""


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    instance = draw_instance(SHOWN, 0)
    slots = list(trajectory(instance))
    text = (
        f"{'Quick grid. ' if context.quick else ''}Heat maps: one run (seed 0) of OGA, committed, "
        f"the theory's steps, T = {SHOWN['slots']}, L = {SHOWN['ports']}, R = "
        f"{SHOWN['instances']}, K = {SHOWN['resources']}, four kinds of gains by turns (sum), jobs "
        "in 70 % of slots; a column is the mean of 10 slots (prices) or 5 (others). Prices "
        "tau / eta in reward per unit, 0 in slots without a job at the instance; right of the gap "
        "is the dual price of the capacity at y*. Allocations: what a port has of a resource, over "
        "what its channels may give. Below: "
        f"{rows['seed'].nunique()} seeds, means with 95 % t intervals."
    )
    with plain_style():
        figure = Figure(figsize=(7.5, 9.4))
        foot = put_caption(figure, caption(text, PRICES.claims, rows))
        height = float(figure.get_size_inches()[1])
        panels = figure.subplots(5, 1, height_ratios=[1.2, 1.0, 1.9, 2.2, 1.3])
        figure.subplots_adjust(
            left=0.11, right=0.96, bottom=foot + 0.4 / height, top=1 - 0.5 / height, hspace=0.5
        )
        _rewards(panels[0], slots)
        images = [
            None,
            _port_rewards(panels[1], instance, slots),
            _prices(panels[2], instance, slots),
            _allocations(panels[3], instance, slots),
        ]
        for axes, image in zip(panels, images, strict=False):
            bar = figure.colorbar(image or images[-1], ax=axes, fraction=0.03, pad=0.012)
            if image is None:  # only so that the time axes are equally long
                bar.ax.set_visible(False)
            axes.set_xlim(0, len(slots) * (1 + BESIDE))
        _distance(panels[4], rows)
        title = "The online dual view: rewards, prices and allocations over time"
        figure.text(0.02, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def _rewards(axes: Any, slots: list[Slot]) -> None:
    rewards = np.array([slot.reward for slot in slots])
    columns = averaged(rewards[:, np.newaxis])[0]
    axes.plot(slot_edges(len(slots))[:-1], columns, color="#999999", linewidth=0.7)
    running = np.cumsum(rewards) / np.arange(1, len(rewards) + 1)
    axes.plot(running, color=INK, linewidth=1.4)
    axes.set_xlim(0, len(slots))
    axes.set_title("reward of a slot (grey: means of 5 slots), and average so far", loc="left")


def _port_rewards(axes: Any, instance: MultiserverInstance, slots: list[Slot]) -> Any:
    layout = edge_layout(instance)
    table = np.array([port_rewards(layout, slot.allocation) * slot.arrived for slot in slots])
    names = [port.name for port in instance.ports]
    image = heat_map(axes, averaged(table), names, (0.0, float(len(slots))), None)
    axes.set_title("reward of each port's jobs", loc="left")
    return image


def _prices(axes: Any, instance: MultiserverInstance, slots: list[Slot]) -> Any:
    names = [f"{s.name} {k}" for s in instance.instances for k in instance.resources]
    table = averaged(np.array([slot.price.ravel() / slot.step for slot in slots]), COLUMNS)
    dual = dual_prices(instance).ravel()
    # A gap, and the duals, beside the run.
    gap, shown = np.full((len(names), GAP), np.nan), np.repeat(dual[:, np.newaxis], DUALS, axis=1)
    whole = np.hstack([table, gap, shown])
    width = len(slots) * whole.shape[1] / table.shape[1]
    image = heat_map(axes, whole, names, (0.0, width), float(dual.max()) * 1.3)
    axes.set_title("price tau / eta of each instance and resource; right: dual at y*", loc="left")
    return image


def _allocations(axes: Any, instance: MultiserverInstance, slots: list[Slot]) -> Any:
    layout = edge_layout(instance)
    most = totals(layout, layout.cap)
    table = np.array([(totals(layout, slot.allocation) / most).ravel() for slot in slots])
    names = [f"{port.name} {k}" for port in instance.ports for k in instance.resources]
    image = heat_map(axes, averaged(table), names, (0.0, float(len(slots))), 1.0)
    axes.set_title("allocation of each port and resource, share of its channels' caps", loc="left")
    axes.set_xlabel("slot")
    return image


def _distance(axes: Any, rows: pandas.DataFrame) -> None:
    for gain in GAINS:
        chosen = rows[rows["gain"] == gain]
        table = chosen.pivot_table(index="seed", columns="slots", values="distance")
        plot_means(axes, list(table), [table[t] for t in table], f"gain-{gain}")
    axes.set_xscale("log")
    values = sorted(set(rows["slots"]))
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("T, slots")
    axes.set_title("distance of average prices from the duals", loc="left")
    axes.legend(frameon=False, fontsize=7, loc="upper right")
