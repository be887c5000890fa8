"""Whether rounding an LP optimum can have a feasible outcome at all, exactly; compiled."""

from __future__ import annotations

import math

import numpy as np

from algorithms.compiled import compiled
from models.training.throughput import CEILING_TOLERANCE, FIT_ABSOLUTE, FIT_TOLERANCE

__all__ = ["EXCLUDED", "HOPELESS", "POSSIBLE", "SNAP"]
__all__ += ["chance_of", "fits", "likeliest_to_fail", "ps_for", "split"]

SNAP = 1e-6  # the solver's own feasibility tolerance: closer to a whole number is that number

HOPELESS, EXCLUDED, POSSIBLE = 0, 1, 2


@compiled
def split(value):  # type: ignore[no-untyped-def]
    """Return the whole number below and the fraction."""
    nearest = np.rint(value)
    if abs(value - nearest) <= SNAP:
        value = nearest
    low = math.floor(value)
    return low, value - low


@compiled
def fits(workers, ps, alpha, beta, free):  # type: ignore[no-untyped-def]
    """Whether a machine holds whole workers and PSs, as `models.training.throughput.fits`."""
    for r in range(len(alpha)):
        if not workers * alpha[r] + ps * beta[r] <= free[r] * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE:
            return False
    return True


@compiled
def ps_for(workers, gamma):  # type: ignore[no-untyped-def]
    """Least number of PSs, as `Job.ps_for`."""
    return np.ceil(workers / gamma - CEILING_TOLERANCE)


@compiled
def chance_of(low, up, fit, cover, most_workers, gamma):  # type: ignore[no-untyped-def]
    """Say whether some outcome is feasible: POSSIBLE, or not; EXCLUDED if it takes trades to see.

    The fewest workers that cover are best: more would need more PSs and leave less room for them.
    A machine that holds one more worker or one more PS, but not both, is a *trade*: a worker
    there costs a PS. So workers are added where they cost none first.
    """
    workers, ps = low[:, 0].sum(), low[:, 1].sum()
    free_workers, trades, more_ps = 0, 0, 0
    for u in range(len(low)):
        if not fit[u, 0, 0]:  # rounded down it does not fit: nor does it rounded up
            return HOPELESS
        worker_fits, ps_fits = up[u, 0] > 0 and fit[u, 1, 0], up[u, 1] > 0 and fit[u, 0, 1]
        more_ps += ps_fits
        if worker_fits and ps_fits and not fit[u, 1, 1]:
            trades += 1
        elif worker_fits:
            free_workers += 1
    missing = max(cover - workers, 0)
    needed = ps_for(workers + missing, gamma)
    if missing > free_workers + trades or workers + missing > most_workers or ps + more_ps < needed:
        return HOPELESS
    return EXCLUDED if ps + more_ps - max(missing - free_workers, 0) < needed else POSSIBLE


@compiled
def likeliest_to_fail(up, fit):  # type: ignore[no-untyped-def]
    """Return the machines with something to draw, those that are likeliest not to fit first."""
    fails = np.full(len(up), -1.0)
    for u in range(len(up)):
        x, y = up[u, 0], up[u, 1]
        if x > 0 or y > 0:
            fails[u] = (
                (0.0 if fit[u, 1, 0] else x * (1 - y))
                + (0.0 if fit[u, 0, 1] else y * (1 - x))
                + (0.0 if fit[u, 1, 1] else x * y)
            )
    order = np.argsort(-fails)
    return order[: (fails >= 0).sum()]
