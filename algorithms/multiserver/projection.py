"""The projection of one instance and resource (problem 32), three ways, for single calls.

Runs of slots call the compiled functions directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from algorithms.multiserver.kernels import project_newton, project_paper, project_sort
from models.files import InputError

__all__ = ["Projected", "project"]


@dataclass(frozen=True)
class Projected:
    """A projected point.

    Attributes
    ----------
    amount : array, shape (ports,)
        y.
    price : float
        tau, the multiplier of the capacity (6); rho of the paper's loop, which may be negative.
    """

    amount: NDArray[np.float64]
    price: float


def project(
    point: ArrayLike,
    caps: ArrayLike,
    budget: float,
    *,
    method: Literal["newton", "sort", "paper"] = "newton",
    warm: float = 0.0,
) -> Projected:
    """Find the nearest y with 0 <= y <= a and sum y <= c.

    Parameters
    ----------
    point, caps : array, shape (ports,)
        z and a.
    budget : float
        c.
    method : "newton", "sort" or "paper"
        Two exact ways, and the paper's loop, which is not one.
    warm : float
        A guess of tau, for "newton".

    Raises
    ------
    InputError
        For what is not a number, negative caps or a negative budget.
    """
    z, a = np.array(point, dtype=float), np.array(caps, dtype=float)
    if z.ndim != 1 or z.shape != a.shape:
        raise InputError("must be as many as the caps", field="point", value=list(z.shape))
    for name, values, least in (
        ("point", z, -math.inf),
        ("caps", a, 0.0),
        ("budget", np.array([budget], dtype=float), 0.0),
    ):
        wrong = values[~(np.isfinite(values) & (values >= least))]
        if len(wrong):
            rule = "must be a number" if least < 0 else "must be a number of at least 0"
            raise InputError(rule, field=name, value=float(wrong[0]))
    out = np.zeros_like(z)
    if method == "paper":
        price = project_paper(z, a, float(budget), out)
    elif method == "sort":
        price = project_sort(z, a, float(budget), out)
    else:
        price = project_newton(z, a, float(budget), float(warm), out)
    return Projected(out, float(price))
