r"""The four gain functions: zero-start, concave, differentiable (section "Utilities").

========== ============================== ============= =====================
kind       value                          derivative    at 0
========== ============================== ============= =====================
linear     :math:`\alpha y`               alpha         alpha
log        :math:`\alpha \ln(1 + y)`      alpha/(1+y)   alpha
poly       :math:`\alpha(\sqrt{1+y} - 1)` alpha/(2 sqrt(1+y))  alpha/2
reciprocal :math:`1/\alpha - 1/(y + \alpha)`  1/(y+alpha)^2  1/alpha^2
========== ============================== ============= =====================
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from models.files import FileModel

__all__ = ["KINDS", "GainFunction", "gain_slope", "gain_value"]

KINDS = ("linear", "log", "poly", "reciprocal")
"""In the order of the codes that arrays and kernels use."""

# Within these, values, slopes and their squares are numbers.
Scale = Annotated[float, Field(ge=1e-60, le=1e60)]


class GainFunction(FileModel):
    """What an amount of a resource is worth.

    Attributes
    ----------
    kind : str
    scale : float
        alpha > 0.
    """

    kind: Literal["linear", "log", "poly", "reciprocal"]
    scale: Scale

    @property
    def code(self) -> int:
        """Place of `kind` in KINDS."""
        return KINDS.index(self.kind)


def gain_value(code: ArrayLike, scale: ArrayLike, amount: ArrayLike) -> NDArray[np.float64]:
    """Return f(amount), elementwise; amounts are at least 0."""
    code, scale, amount = np.broadcast_arrays(code, scale, amount)
    return np.select(
        [code == 0, code == 1, code == 2],
        [
            scale * amount,
            scale * np.log1p(amount),
            # sqrt(1 + y) - 1 without cancellation
            scale * amount / (np.sqrt(1 + amount) + 1),
        ],
        # 1/a - 1/(y + a) without cancellation
        amount / (scale * (amount + scale)),
    )


def gain_slope(code: ArrayLike, scale: ArrayLike, amount: ArrayLike) -> NDArray[np.float64]:
    """Return f'(amount), elementwise."""
    code, scale, amount = np.broadcast_arrays(code, scale, amount)
    return np.select(
        [code == 0, code == 1, code == 2],
        [scale + 0 * amount, scale / (1 + amount), scale / (2 * np.sqrt(1 + amount))],
        1 / (amount + scale) ** 2,
    )
