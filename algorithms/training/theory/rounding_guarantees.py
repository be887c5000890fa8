r"""What Lemmas 1 and 2 (and Theorems 3 and 4) promise about one rounding, in numbers.

With widths :math:`W_a, W_b`, m cover and r packing rows, x is the LP optimum times G, rounded.
Three bad events, each of which the proofs bound by delta/3:

======  ==================================  ==========================================
        packing favoured (Lemma 1, G <= 1)  cover favoured (Lemma 2, G > 1)
======  ==================================  ==========================================
cost    more than 3G/delta times the LP's   the same
cover   some row at most a(1 - eps)G        some row below a
pack    some row above b                    some row above b(1 + eps)G
======  ==================================  ==========================================

where :math:`\varepsilon = \sqrt{2 \ln(3m/\delta) / (G W_a)}` in Lemma 1 and
:math:`\sqrt{3 \ln(3r/\delta) / (G W_b)}` in Lemma 2. The lemmas print delta/3m and delta/3r for
the relaxed event "some row"; the proofs have this for one row, and delta/3 for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from algorithms.training.pdors.rounding import gain_favouring_cover, gain_favouring_packing

__all__ = [
    "LARGEST_CHERNOFF",
    "Guarantee",
    "cover_blocks_probability",
    "packing_blocks_probability",
]

Favour = Literal["packing", "cover"]


def _largest_chernoff() -> float:
    """Return the eps up to which (1 + eps) ln(1 + eps) - eps >= eps^2 / 3, about 1.81."""
    low, high = 1.0, 3.0
    for _ in range(80):
        middle = (low + high) / 2
        if (1 + middle) * math.log1p(middle) - middle >= middle**2 / 3:
            low = middle
        else:
            high = middle
    return low


LARGEST_CHERNOFF = _largest_chernoff()
"""The upper-tail step exp(-eps^2 mu / 3) is a theorem up to this eps only: G >= 0.356."""


@dataclass(frozen=True)
class Guarantee:
    """The lemma's numbers for one program.

    Attributes
    ----------
    favour : {"packing", "cover"}
        Lemma 1 (Theorem 3) or Lemma 2 (Theorem 4).
    smallest_cover, smallest_packing : float
        W_a and W_b.
    cover_rows, packing_rows : int
        m and r.
    delta : float
    """

    favour: Favour
    smallest_cover: float
    smallest_packing: float
    cover_rows: int
    packing_rows: int
    delta: float

    @property
    def gain(self) -> float:
        """G_delta."""
        if self.favour == "packing":
            return gain_favouring_packing(self.packing_rows, self.smallest_packing, self.delta)
        return gain_favouring_cover(self.cover_rows, self.smallest_cover, self.delta)

    @property
    def cost_factor(self) -> float:
        """3G/delta; below 1 no feasible draw can keep it, and the promise means nothing."""
        return 3 * self.gain / self.delta

    @property
    def cover_factor(self) -> float:
        """A cover row fails if it is at most (Lemma 1) or below (Lemma 2) this times a."""
        if self.favour == "cover":
            return 1.0
        eps = math.sqrt(
            2 * math.log(3 * self.cover_rows / self.delta) / (self.gain * self.smallest_cover)
        )
        return (1 - eps) * self.gain

    @property
    def packing_factor(self) -> float:
        """A packing row fails if it is above this times b."""
        return 1.0 if self.favour == "packing" else (1 + self.upper_eps) * self.gain

    @property
    def upper_eps(self) -> float:
        """The eps of the upper-tail Chernoff step."""
        if self.favour == "packing":
            return 1 / self.gain - 1
        return math.sqrt(
            3 * math.log(3 * self.packing_rows / self.delta) / (self.gain * self.smallest_packing)
        )

    @property
    def vacuous(self) -> bool:
        """Whether the relaxed event cannot happen or says nothing about feasibility.

        Lemma 1: the cover threshold is negative. Lemma 2: a row may hold twice its capacity.
        """
        return self.cover_factor < 0 if self.favour == "packing" else self.packing_factor > 2

    @property
    def chernoff_valid(self) -> bool:
        """Whether the upper-tail step of the proof is a theorem at this eps."""
        return self.upper_eps <= LARGEST_CHERNOFF


def cover_blocks_probability(guarantee: Guarantee, least: int, columns: int) -> float:
    """Exact probability that some cover row fails, in a program of separate equal rows.

    Each of the m rows asks for `least` units of its own `columns` columns of equal cost, whose
    LP optimum is spread evenly (an optimum, though no vertex). Its rounded total is binomial,
    so nothing needs to be drawn.
    """
    from scipy.special import bdtr

    share = guarantee.gain * least / columns
    _check_share(share)
    limit = guarantee.cover_factor * least
    # "At most" in Lemma 1, "below" in Lemma 2.
    most = (
        math.floor(limit + 1e-9) if guarantee.favour == "packing" else math.ceil(limit - 1e-9) - 1
    )
    one = float(bdtr(min(most, columns), columns, share)) if most >= 0 else 0.0
    return -math.expm1(guarantee.cover_rows * math.log1p(-one))


def packing_blocks_probability(guarantee: Guarantee, most: int, columns: int) -> float:
    """Exact probability that some packing row fails, in a program of separate equal full rows.

    As `cover_blocks_probability`: each of the r rows has room for `most` units of its own
    columns, and one cover row over all columns asks for as much as there is room.
    """
    from scipy.special import bdtrc

    share = guarantee.gain * most / columns
    _check_share(share)
    limit = math.floor(guarantee.packing_factor * most + 1e-9)
    one = float(bdtrc(limit, columns, share)) if limit < columns else 0.0
    return -math.expm1(guarantee.packing_rows * math.log1p(-one))


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"more columns are needed: each would hold {share} units")
