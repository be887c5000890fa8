r"""The allocation-cost relationship along a PD-ORS run (appendix of arXiv 2108.02917).

For every cell (slot t, machine h, resource r) that a job uses, the proof of Theorems 5 and 6 needs

.. math::

    p\,\Delta\rho \;\ge\; \frac{\delta}{3G} \frac{C}{\varepsilon}\,\Delta p, \qquad
    \varepsilon = \max_r \max(1, \ln(U^r / L))

with p the price *before* the job. With the paper's price a step over the share
:math:`z = \Delta\rho / C` multiplies the price by :math:`e^{kz}`, :math:`k = \ln(U^r/L)`, so the
cell holds iff :math:`\varepsilon z \ge (\delta/3G)(e^{kz} - 1)`. The proof derives it from the
differential version, which needs :math:`z \to 0`; a job that takes a good part of a machine at
once, at the price of an empty one, breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from algorithms.training.log import PdorsLog
from algorithms.training.pdors.prices import PriceFunction

__all__ = ["JobStep", "differential_ratio", "job_steps", "share_at_equality"]


@dataclass(frozen=True)
class JobStep:
    """What the admission of one job did to the primal and the dual.

    Attributes
    ----------
    order : int
        How many jobs were decided before it.
    cells : int
        Cells (slot, machine, resource) that it uses.
    failing, failing_plain : int
        Cells in which the relationship fails; the same without the factor delta/3G.
    worst, median : float
        Left side / right side, at the worst cell and in the middle; below 1 it fails.
    largest_share : float
        Largest part of a capacity that the job takes in one cell.
    primal, dual : float
        Increase of the utility, and of the paper's dual (its payoff, and C times the prices).
    """

    order: int
    cells: int
    failing: int
    failing_plain: int
    worst: float
    median: float
    largest_share: float
    primal: float
    dual: float


def job_steps(log: PdorsLog, factor: float) -> Iterator[JobStep]:
    """Yield the steps of the admitted jobs, in the order of decisions.

    Parameters
    ----------
    log : PdorsLog
    factor : float
        delta / 3G.
    """
    epsilon = log.prices.bounds.largest_log_ratio
    states = (allocated.copy() for allocated in log.allocated_over_time())
    steps = enumerate(zip(log.decisions, pairwise(states), strict=True))
    for order, (decision, (before, after)) in steps:
        cells = after > before
        if not cells.any():
            continue
        capacity = np.broadcast_to(log.prices.capacity, before.shape)[cells]
        share = (after - before)[cells] / capacity
        log_before = log.prices.log_prices(before)
        log_after = log.prices.log_prices(after)
        growth = np.expm1(log_after[cells] - log_before[cells])
        with np.errstate(divide="ignore"):
            plain = epsilon * share / growth
        price_increase = np.exp(log_before[cells]) * growth
        yield JobStep(
            order=order,
            cells=int(cells.sum()),
            failing=int((plain < factor).sum()),
            failing_plain=int((plain < 1).sum()),
            worst=float(plain.min() / factor),
            median=float(np.median(plain) / factor),
            largest_share=float(share.max()),
            primal=decision.utility,
            dual=decision.payoff + float(capacity @ price_increase),
        )


def differential_ratio(prices: PriceFunction, step: float = 1e-6) -> float:
    """Smallest ratio of p d(rho) to (C/epsilon) dp over 101 fill levels, for a small step.

    `step` is d(rho) / C. As it goes to 0 the ratio goes to epsilon / ln(U^r/L) >= 1.
    """
    levels = np.linspace(0.0, 1.0 - step, 101)[:, None, None]
    at = prices.log_prices(levels * prices.capacity)
    beyond = prices.log_prices((levels + step) * prices.capacity)
    priced = np.broadcast_to(prices.capacity > 0, at.shape)
    growth = np.expm1(beyond[priced] - at[priced])
    with np.errstate(divide="ignore"):
        return float(np.min(prices.bounds.largest_log_ratio * step / growth, initial=np.inf))


def share_at_equality(log_ratio: float, factor: float) -> float:
    """Largest share z of a machine that one job may take in one step, if epsilon = ln(U/L).

    The positive root of k z = factor (e^{kz} - 1), at most 1 times 1e3 / k; 0 if factor >= 1.
    """
    if factor >= 1:
        return 0.0
    low, high = 1e-12, 1e3
    for _ in range(200):
        middle = (low + high) / 2
        holds = middle >= factor * np.expm1(min(middle, 700.0))
        low, high = (middle, high) if holds else (low, middle)
    return low / log_ratio
