"""Randomized rounding, many optima in one call; compiled, with the draws that NumPy would make.

Draw b of a batch rounds count c of a machine up iff ``rng.random((batch, counts))[b, c]`` is below
its fraction, first all workers of the batch, then all PSs. Most draws fail at their first few
machines, so the numbers are not made in order: PCG64 is a linear congruential generator, whose
state any number of steps ahead is one multiplication and one addition (O'Neill 2014; Brown 1994),
and only the numbers that are looked at are computed. Where no outcome at all can be feasible,
nothing is drawn, and the stream is moved on by what the draws would have used.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.compiled import compiled

__all__ = ["judge_optima", "random_at"]

SNAP = 1e-6  # the solver's own feasibility tolerance: closer to a whole number is that number
FIRST_BATCH = 32
LARGEST_BATCH = 1024
FIT_TOLERANCE, FIT_ABSOLUTE, CEILING_TOLERANCE = 1e-9, 1e-12, 1e-9  # models.training.throughput

HOPELESS, EXCLUDED, POSSIBLE = 0, 1, 2

MULTIPLIER_HIGH, MULTIPLIER_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
ZERO, ONE = np.uint64(0), np.uint64(1)
LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
WORD, WORD_LESS_ONE, TOP_BITS, NOT_KEPT = np.uint64(64), np.uint64(63), np.uint64(58), np.uint64(11)


@compiled
def _step(jump, high, low):  # type: ignore[no-untyped-def]
    """Return jump[0:2] * state + jump[2:4], in 128 bits."""
    a_high, a_low = jump[0], jump[1]
    a0, a1, b0, b1 = a_low & LOW_HALF, a_low >> HALF, low & LOW_HALF, low >> HALF
    cross = a1 * b0 + ((a0 * b0) >> HALF)
    other = a0 * b1 + (cross & LOW_HALF)
    up = a1 * b1 + (cross >> HALF) + (other >> HALF) + a_high * low + a_low * high
    product = a_low * low
    total = product + jump[3]
    return up + jump[2] + (ONE if total < product else ZERO), total


@compiled
def _jumps(most, increment_high, increment_low):  # type: ignore[no-untyped-def]
    """Return what `_step` needs to go 0, 1, ... `most` steps ahead."""
    one = np.array([MULTIPLIER_HIGH, MULTIPLIER_LOW, increment_high, increment_low])
    factor = np.array([MULTIPLIER_HIGH, MULTIPLIER_LOW, ZERO, ZERO])
    jumps = np.empty((most + 1, 4), dtype=np.uint64)
    jumps[0, 0], jumps[0, 1], jumps[0, 2], jumps[0, 3] = ZERO, ONE, ZERO, ZERO
    for n in range(most):
        jumps[n + 1, 0], jumps[n + 1, 1] = _step(factor, jumps[n, 0], jumps[n, 1])
        jumps[n + 1, 2], jumps[n + 1, 3] = _step(one, jumps[n, 2], jumps[n, 3])
    return jumps


@compiled
def _far(steps, jump, high, low):  # type: ignore[no-untyped-def]
    """Return the state `steps` times `jump` ahead, by doubling the jump."""
    doubled = jump.copy()
    while steps > 0:
        if steps & 1:
            high, low = _step(doubled, high, low)
        steps >>= 1
        plus_high, plus_low = _step(doubled, doubled[2], doubled[3])
        doubled[2], doubled[3] = ZERO, ZERO
        doubled[0], doubled[1] = _step(doubled, doubled[0], doubled[1])
        doubled[2], doubled[3] = plus_high, plus_low
    return high, low


@compiled
def _uniform(high, low):  # type: ignore[no-untyped-def]
    """Return the number in [0, 1) that PCG64 (XSL RR) gives at a state."""
    mixed, turn = high ^ low, high >> TOP_BITS
    word = (mixed >> turn) | (mixed << ((WORD - turn) & WORD_LESS_ONE))
    return (word >> NOT_KEPT) * (1.0 / 9007199254740992.0)


@compiled
def random_at(stream, position):  # type: ignore[no-untyped-def]
    """Return what ``rng.random()`` gives after `position` others; `stream` as in `judge_optima`."""
    one = _jumps(1, stream[2], stream[3])[1]
    high, low = _far(position + 1, one, stream[0], stream[1])
    return _uniform(high, low)


@compiled
def _split(value):  # type: ignore[no-untyped-def]
    """Return the whole number below and the fraction."""
    nearest = np.rint(value)
    if abs(value - nearest) <= SNAP:
        value = nearest
    low = math.floor(value)
    return low, value - low


@compiled
def _fits(workers, ps, alpha, beta, free):  # type: ignore[no-untyped-def]
    for r in range(len(alpha)):
        if not workers * alpha[r] + ps * beta[r] <= free[r] * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE:
            return False
    return True


@compiled
def _ps_for(workers, gamma):  # type: ignore[no-untyped-def]
    return np.ceil(workers / gamma - CEILING_TOLERANCE)


@compiled
def _chance(low, up, fit, cover, most_workers, gamma):  # type: ignore[no-untyped-def]
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
    needed = _ps_for(workers + missing, gamma)
    if missing > free_workers + trades or workers + missing > most_workers or ps + more_ps < needed:
        return HOPELESS
    return EXCLUDED if ps + more_ps - max(missing - free_workers, 0) < needed else POSSIBLE


@compiled
def _order(up, fit):  # type: ignore[no-untyped-def]
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


@compiled
def _longer(table, rows):  # type: ignore[no-untyped-def]
    """Return the table with room for at least `rows` rows."""
    if rows <= len(table):
        return table
    longer = np.empty((max(2 * len(table), rows), table.shape[1]), dtype=table.dtype)
    longer[: len(table)] = table
    return longer


@compiled
def judge_optima(  # type: ignore[no-untyped-def]
    stream, optimum, gain, cover, start, group, workers, ps, free, alpha, beta, limits
):
    """Round optima until enough draws were feasible or enough were made (D7).

    Parameters
    ----------
    stream : array of uint64, shape (4,)
        State and increment of the PCG64, each the upper half first.
    optimum : array of int, shape (cases,)
        Which optimum each case rounds.
    gain : array, shape (cases,)
        G_delta of each.
    cover : array of int, shape (cases,)
        D of each.
    start : array of int, shape (optima + 1,)
        Entries start[n] to start[n + 1] are optimum n.
    group : array of int, shape (entries,)
        Row of `free` for each entry.
    workers, ps : arrays, shape (entries,)
    free : array, shape (groups, resources)
    alpha, beta : arrays, shape (resources,)
    limits : tuple
        S, most attempts, F, gamma.

    Returns
    -------
    attempts, feasible : arrays of int, shape (cases,)
    position : array of int, shape (cases + 1,)
        Numbers taken from the stream before each case, and after the last.
    draws : array of int, shape (draws, 2)
        The case of each different feasible draw, and its first row of `outcome`.
    outcome : array of int, shape (rows, 3)
        Entry, workers, PSs.
    """
    sought, most, most_workers, gamma = limits
    cases = len(optimum)
    attempts, feasible = np.zeros(cases, dtype=np.int64), np.zeros(cases, dtype=np.int64)
    draws, outcome = np.empty((cases + 1, 2), dtype=np.int64), np.empty((1024, 3), dtype=np.int64)
    position = np.zeros(cases + 1, dtype=np.int64)
    made, rows = 0, 0
    widest = 0
    for n in range(len(start) - 1):
        widest = max(widest, start[n + 1] - start[n])
    entry = np.empty(widest, dtype=np.int64)
    low, up = np.empty((widest, 2), dtype=np.int64), np.empty((widest, 2))
    fit, more = np.empty((widest, 2, 2), dtype=np.bool_), np.zeros((widest, 2), dtype=np.int64)
    jumps = _jumps(widest, stream[2], stream[3])
    high, least = stream[0], stream[1]
    for case in range(cases):
        size = 0
        position[case + 1] = position[case]
        for e in range(start[optimum[case]], start[optimum[case] + 1]):
            w, s = gain[case] * workers[e], gain[case] * ps[e]
            if w > SNAP or s > SNAP:
                entry[size] = e
                low[size, 0], up[size, 0] = _split(w)
                low[size, 1], up[size, 1] = _split(s)
                for i in range(2):
                    for j in range(2):
                        fit[size, i, j] = _fits(
                            low[size, 0] + i, low[size, 1] + j, alpha, beta, free[group[e]]
                        )
                size += 1
        chance = _chance(low[:size], up[:size], fit[:size], cover[case], most_workers, gamma)
        if chance == EXCLUDED:  # as long a piece of the stream as the draws would have taken
            high, least = _far(2 * most, jumps[size], high, least)
            position[case + 1] += 2 * most * size
        if chance != POSSIBLE:
            continue
        low_workers, low_ps = low[:size, 0].sum(), low[:size, 1].sum()
        order = _order(up[:size], fit[:size])
        more[:size] = 0
        first_draw = made
        batch = FIRST_BATCH
        while feasible[case] < sought and attempts[case] < most:
            batch = min(batch, most - attempts[case])
            w_high, w_low = high, least
            s_high, s_low = _far(batch, jumps[size], high, least)
            tried = batch
            for b in range(batch):
                total_workers, total_ps, inside = low_workers, low_ps, True
                for u in order:
                    more[u, 0], more[u, 1] = 0, 0
                    if up[u, 0] > 0:
                        x, y = _step(jumps[u + 1], w_high, w_low)
                        more[u, 0] = _uniform(x, y) < up[u, 0]
                    if up[u, 1] > 0:
                        x, y = _step(jumps[u + 1], s_high, s_low)
                        more[u, 1] = _uniform(x, y) < up[u, 1]
                    if not fit[u, more[u, 0], more[u, 1]]:
                        inside = False
                        break
                    total_workers += more[u, 0]
                    total_ps += more[u, 1]
                if (
                    inside
                    and cover[case] <= total_workers <= most_workers
                    and total_ps >= _ps_for(total_workers, gamma)
                ):
                    feasible[case] += 1
                    known = False
                    for d in range(first_draw, made):
                        known = True
                        for u in range(size):
                            row = draws[d, 1] + u
                            if (
                                outcome[row, 1] != low[u, 0] + more[u, 0]
                                or outcome[row, 2] != low[u, 1] + more[u, 1]
                            ):
                                known = False
                                break
                        if known:
                            break
                    if not known:
                        draws = _longer(draws, made + 1)
                        outcome = _longer(outcome, rows + size)
                        draws[made, 0], draws[made, 1] = case, rows
                        for u in range(size):
                            outcome[rows + u, 0] = entry[u]
                            outcome[rows + u, 1] = low[u, 0] + more[u, 0]
                            outcome[rows + u, 2] = low[u, 1] + more[u, 1]
                        made += 1
                        rows += size
                    if feasible[case] == sought:
                        tried = b + 1
                        break
                w_high, w_low = _step(jumps[size], w_high, w_low)
                s_high, s_low = _step(jumps[size], s_high, s_low)
            high, least = _far(2 * batch, jumps[size], high, least)
            position[case + 1] += 2 * batch * size
            attempts[case] += tried
            batch = min(2 * batch, LARGEST_BATCH)
    return attempts, feasible, position, draws[:made], outcome[:rows]
