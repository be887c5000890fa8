r"""Which ports can never earn anything, and why.

With the gain form sum a job earns at most :math:`\sum_k f_k'(0) S_k - \max_k \beta_k S_k`, by
concavity, and nearly that with small amounts. Of all directions with
:math:`\max_k \beta_k S_k = 1` the best has :math:`S_k = 1/\beta_k` for each resource that it can
get, so something can be earned if and only if :math:`\sum_k f_k'(0)/\beta_k > 1`. In the form
channel the steepest channel takes the place of :math:`f_k'(0)`.
"""

from __future__ import annotations

import numpy as np

from models.multiserver.gains import gain_slope
from models.multiserver.instance import MultiserverInstance
from models.multiserver.layout import edge_layout

__all__ = ["why_worthless"]


def why_worthless(instance: MultiserverInstance) -> list[str | None]:
    """Tell for each port why no allocation earns anything there; None where one does."""
    layout = edge_layout(instance)
    usable = (layout.cap > 0) & (layout.capacity[layout.instance] > 0)
    steepest = np.zeros((layout.ports, layout.resources))
    slopes = gain_slope(layout.kind, layout.scale, np.zeros_like(layout.cap))
    np.maximum.at(steepest, layout.port, np.where(usable, slopes, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(steepest > 0, steepest / layout.overhead, 0.0).sum(axis=1)
    edges = np.bincount(layout.port, minlength=layout.ports)
    reasons: list[str | None] = []
    for port in range(layout.ports):
        if edges[port] == 0:
            reasons.append("has no edge")
        elif not layout.cap[layout.port == port].any():
            reasons.append("requests nothing")
        elif not steepest[port].any():
            reasons.append("its instances have none of what it requests")
        elif worth[port] <= 1:
            reasons.append("the overhead is never below the gain")
        else:
            reasons.append(None)
    return reasons
