"""A run as a picture: rewards, and what is allocated, over time where the file has a history."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from experiments.drawing import INK, plain_style, save_figure
from experiments.multiserver.heat_maps import averaged, heat_map
from models.files import InputError
from models.multiserver import MultiserverInstance, MultiserverRun
from models.multiserver.allocation import Entry, allocation_table
from models.multiserver.layout import EdgeLayout, edge_layout
from models.multiserver.reward import totals

__all__ = ["plot_run", "port_shares", "use_of_instances"]

WIDTH = 7.5
GREY = "#999999"

Reals = NDArray[np.float64]


def port_shares(layout: EdgeLayout, allocation: Reals) -> Reals:
    """What each port has of what its channels may give it, mean over resources."""
    return _shares(totals(layout, allocation), totals(layout, layout.cap))


def use_of_instances(layout: EdgeLayout, allocation: Reals) -> Reals:
    """What is in use at each instance, mean over resources."""
    used = np.zeros_like(layout.capacity)
    np.add.at(used, layout.instance, allocation)
    return _shares(used, layout.capacity)


def _shares(part: Reals, whole: Reals) -> Reals:
    """Mean share by row, over the resources that there are any of."""
    share = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return np.asarray(share.sum(axis=1) / np.maximum((whole > 0).sum(axis=1), 1))


def plot_run(instance: MultiserverInstance, run: MultiserverRun, path: str | Path) -> None:
    """Draw a run.

    Parameters
    ----------
    instance : MultiserverInstance
    run : MultiserverRun
        With a history: shares of ports and instances over time; without: the last allocation.
    path : str or Path
        Ends in .png or .svg.

    Raises
    ------
    InputError
        If the run is not one of this instance, or the path has another ending.
    """
    layout = edge_layout(instance)
    for field, rows in (("rewards", run.rewards), ("history", run.history)):
        if rows is not None and len(rows) != instance.slots:
            rule = f"must have one entry per slot ({instance.slots})"
            raise InputError(rule, field=field, value=len(rows))
    maps = _over_time(instance, layout, run) if run.history else _final(instance, layout, run)
    with plain_style():
        heights = [1.5, *(min(max(0.5 + 0.12 * len(names), 1.2), 4.0) for _, names, _ in maps)]
        figure = Figure(figsize=(WIDTH, sum(heights) + 0.9 + 0.45 * len(maps)))
        apart = 0.7 * len(heights) / sum(heights)  # inches, in mean heights
        panels = figure.subplots(
            len(heights), 1, height_ratios=heights, squeeze=False, gridspec_kw={"hspace": apart}
        )[:, 0]
        height = float(figure.get_size_inches()[1])
        figure.subplots_adjust(left=0.12, right=0.97, top=1 - 0.5 / height, bottom=0.4 / height)
        _rewards(panels[0], instance, run)
        extent = (0.0, float(instance.slots))
        if not run.history:  # columns are centred on whole numbers
            extent = (-0.5, instance.number_of_instances - 0.5)
        for axes, (title, names, table) in zip(panels[1:], maps, strict=True):
            image = heat_map(axes, table, names, extent, 1.0)
            axes.set_title(title, loc="left", fontsize=8)
            axes.set_xlabel("slot" if run.history else "instance, by its place in the file")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            if axes is panels[-1]:  # one for all, so that the time axes are equally long
                figure.colorbar(image, ax=panels.tolist(), fraction=0.025, pad=0.015, aspect=50)
        said = [run.policy, run.protocol, *(part for part in (run.step, run.projection) if part)]
        title = f"{', '.join(said)}: total reward {run.objective:.6g}"
        figure.text(0.02, 1 - 0.08 / height, title, fontsize=10, va="top", weight="bold")
    save_figure(figure, path)


def _rewards(axes: Any, instance: MultiserverInstance, run: MultiserverRun) -> None:
    axes.set_xlim(0, max(instance.slots, 1))
    axes.set_ylabel("reward")
    if run.rewards is None:
        text = "the file has no rewards by slot"
        axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes)
        return
    if not run.rewards:
        return
    rewards = np.asarray(run.rewards)
    # Beyond some thousands of slots single ones cannot be seen.
    shown = averaged(rewards[:, np.newaxis], 2000)[0]
    slots = np.linspace(0, instance.slots, len(shown), endpoint=False)
    axes.plot(slots, shown, color=GREY, linewidth=0.6, label="of the slot")
    running = np.cumsum(rewards) / np.arange(1, len(rewards) + 1)
    axes.plot(slots, averaged(running[:, np.newaxis], 2000)[0], color=INK, label="average so far")
    axes.legend(frameon=False, fontsize=7, ncols=2, loc="lower right")


Map = tuple[str, list[str], Reals]


def _over_time(instance: MultiserverInstance, layout: EdgeLayout, run: MultiserverRun) -> list[Map]:
    ports, servers = [], []
    for entries in run.history or ():
        table = _table(instance, layout, entries)
        ports.append(port_shares(layout, table))
        servers.append(use_of_instances(layout, table))
    maps = [
        (
            "what each port has of what it may have (mean over resources)",
            [port.name for port in instance.ports],
            averaged(np.array(ports)),
        ),
        (
            "what is in use at each instance (mean over resources)",
            [server.name for server in instance.instances],
            averaged(np.array(servers)),
        ),
    ]
    return [found for found in maps if found[1]]


def _final(instance: MultiserverInstance, layout: EdgeLayout, run: MultiserverRun) -> list[Map]:
    table = _table(instance, layout, run.final)
    shares = np.full((layout.ports, instance.number_of_instances), np.nan)  # no edge: white
    shares[layout.port, layout.instance] = _shares(table, layout.cap)
    title = "last allocation: what each port has of its request (mean over resources)"
    return [(title, [port.name for port in instance.ports], shares)] if shares.size else []


def _table(instance: MultiserverInstance, layout: EdgeLayout, entries: Iterable[Entry]) -> Reals:
    try:
        return allocation_table(instance, layout, entries)
    except KeyError as error:
        raise InputError(f"has an entry that is on no edge of the instance: {error}") from None
