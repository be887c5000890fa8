"""The reward of a slot (eq. 7), in numpy: what kernels are held against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.multiserver.gains import gain_slope, gain_value
from models.multiserver.layout import EdgeLayout

__all__ = ["port_rewards", "reward_gradient", "slot_reward", "totals"]

Reals = NDArray[np.float64]


def totals(layout: EdgeLayout, allocation: Reals) -> Reals:
    """S[l,k], what each port has of each resource in all, shape (ports, resources)."""
    result = np.zeros((layout.ports, layout.resources))
    np.add.at(result, layout.port, allocation)
    return result


def port_rewards(layout: EdgeLayout, allocation: Reals) -> Reals:
    """q_l(1, y), what each port's job would earn if it arrived, shape (ports,).

    Parameters
    ----------
    layout : EdgeLayout
    allocation : array, shape (edges, resources)
        y[l,r,k] by edge.
    """
    total = totals(layout, allocation)
    overhead = (layout.overhead * total).max(axis=1, initial=0.0)
    if layout.per_channel:
        gain = np.zeros(layout.ports)
        channel = gain_value(layout.kind, layout.scale, allocation).sum(axis=1)
        np.add.at(gain, layout.port, channel)
    elif layout.edges:
        gain = gain_value(layout.kind[0], layout.scale[0], total).sum(axis=1)
    else:
        gain = np.zeros(layout.ports)
    return gain - overhead


def slot_reward(layout: EdgeLayout, allocation: Reals, arrived: NDArray[np.bool_]) -> float:
    """q(x, y) of one slot (eq. 7)."""
    return float(port_rewards(layout, allocation)[arrived].sum())


def reward_gradient(layout: EdgeLayout, allocation: Reals, arrived: NDArray[np.bool_]) -> Reals:
    """Supergradient of q(x, .) at y (eq. 26), shape (edges, resources).

    The overhead is felt by the resource with the greatest beta_k S_lk, the first on ties.
    """
    total = totals(layout, allocation)
    dominant = np.argmax(layout.overhead * total, axis=1)
    amount = allocation if layout.per_channel else total[layout.port]
    gradient = gain_slope(layout.kind, layout.scale, amount)
    edges = np.arange(layout.edges)
    felt = dominant[layout.port]
    gradient[edges, felt] -= layout.overhead[felt]
    return gradient * arrived[layout.port][:, np.newaxis]
