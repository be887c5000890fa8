"""The sigmoid utility of a job's duration, also in logarithms."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from models.files import FileModel, NonNegative

__all__ = ["SigmoidUtility"]


class SigmoidUtility(FileModel):
    r"""Utility :math:`u(d) = \theta_1 / (1 + e^{\theta_2 (d - \theta_3)})` of the duration d.

    Attributes
    ----------
    priority : float
        theta_1 > 0, the utility of a job that is done at once; at most 1e200, so that sums stay
        finite.
    decay : float
        theta_2 >= 0 [1/slot], how much time matters; 0 = not at all.
    target : float
        theta_3 >= 0 [slots], the duration that the user has in mind.

    Notes
    -----
    arXiv 2108.02917, section "Numerical Results". Durations are in slots:
    last slot with a worker minus arrival slot. The logarithm is computed directly, since
    utilities span hundreds of orders of magnitude (D6).
    """

    kind: Literal["sigmoid"]
    priority: Annotated[float, Field(gt=0, le=1e200)]
    decay: NonNegative
    target: NonNegative

    def value(self, duration: float) -> float:
        """Return u(duration)."""
        return math.exp(self.log_value(duration))

    def log_value(self, duration: float) -> float:
        """Return ln u(duration), finite also where u itself would underflow."""
        exponent = self.decay * (duration - self.target)
        # ln(1 + e^x) without overflow for large x.
        softplus = max(exponent, 0.0) + math.log1p(math.exp(-abs(exponent)))
        return math.log(self.priority) - softplus

    def values(self, durations: ArrayLike) -> NDArray[np.float64]:
        """Return u of an array of durations, equal to `value` entry by entry."""
        array = np.asarray(durations, dtype=float)
        values = [self.value(duration) for duration in array.ravel().tolist()]
        return np.array(values, dtype=float).reshape(array.shape)
