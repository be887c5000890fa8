"""The curve of a slot program's optimal value along a straight line of demands, by its corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.curve_kernels import follow_slots
from algorithms.training.pdors.curves import JobCurves, slot_of_state
from algorithms.training.pdors.slot import JobSlots, SlotState
from algorithms.training.pdors.slot_simplex import OPTIMAL

__all__ = ["SlotCurve", "slot_curve"]


@dataclass(frozen=True)
class SlotCurve:
    """The optimal value of a slot program along a straight line of demands.

    Attributes
    ----------
    workers, ps : arrays, shape (corners,)
        Demands at the corners of the curve, from 0 to the end, or to the largest that is feasible.
    log_cost : array, shape (corners,)
        ln of the least cost there. Between two corners the cost is linear.
    """

    workers: NDArray[np.float64]
    ps: NDArray[np.float64]
    log_cost: NDArray[np.float64]


def slot_curve(slots: JobSlots, state: SlotState, workers: float, ps: float) -> SlotCurve:
    """Follow the optimal value from no demand to (workers, ps), both not negative.

    Parameters
    ----------
    slots : JobSlots
        The job.
    state : SlotState
    workers, ps : float
        The end of the line; workers at most the batch.

    Notes
    -----
    The LP's cost is convex in the demand; so is the curve.
    """
    curves = JobCurves(
        slots.job,
        slots.worker_demand,
        slots.ps_demand,
        [slot_of_state(state)],
        np.zeros(0, dtype=np.int64),
    )
    end = np.array([[workers, ps]], dtype=float)
    track = np.zeros((64, 4))
    while True:
        status, *_, points = follow_slots(*curves.arguments, end, track)
        if points <= len(track):
            break
        track = np.zeros((points, 4))
    corners = [np.zeros((1, 2)), track[:points, :2]]
    if status[0, 0] == OPTIMAL:
        corners.append(end)
    demand = np.concatenate(corners)
    log_cost = follow_slots(*curves.arguments, demand, np.zeros((0, 4)))[1]
    return SlotCurve(demand[:, 0], demand[:, 1], log_cost[0])
