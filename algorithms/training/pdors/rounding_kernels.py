"""Randomized rounding, many optima in one call; compiled, with the draws that NumPy would make.

Draw b of a batch rounds the workers of machine u up iff ``rng.random((batch, machines))[b, u]`` is
below their fraction, and the PSs alike with the numbers that follow those of the batch's workers.
Most draws fail at the first machine or two, so only the numbers that are looked at are computed
(`algorithms.random_access`), those of the likeliest to fail first. Where no outcome at all can be
feasible, nothing is drawn, and the stream is moved on by what the draws would have used.
"""

from __future__ import annotations

import numpy as np

from algorithms.compiled import compiled
from algorithms.random_access import NUMBERS, after, ahead, jumped, jumps_ahead, number, times
from algorithms.training.pdors.rounding_chances import (
    EXCLUDED,
    POSSIBLE,
    SNAP,
    chance_of,
    fits,
    likeliest_to_fail,
    ps_for,
    split,
)

__all__ = ["judge_optima"]

FIRST_BATCH = 32
LARGEST_BATCH = 1024

NONE = np.uint64(0)


@compiled
def _longer(table, rows):  # type: ignore[no-untyped-def]
    """Return the table with room for at least `rows` rows."""
    if rows <= len(table):
        return table
    longer = np.empty((max(2 * len(table), rows), table.shape[1]), dtype=table.dtype)
    longer[: len(table)] = table
    return longer


@compiled
def _known(draw, first, made, draws, outcome, size):  # type: ignore[no-untyped-def]
    """Whether one of the draws from `first` on is the same."""
    for d in range(first, made):
        same = True
        for u in range(size):
            row = outcome[draws[d, 1] + u]
            if row[1] != draw[u, 0] or row[2] != draw[u, 1]:
                same = False
                break
        if same:
            return True
    return False


@compiled
def _row(  # type: ignore[no-untyped-def]
    at_high, at_low, order, up, below, fit, short, to_workers, to_ps, low, draw
):
    """Make one draw; returns its workers and PSs beyond those rounded down, -1 if it must fail.

    `at` is the state before the row of workers; rows of the arguments are in `order`.
    """
    workers, ps = 0, 0
    for n in range(len(order)):
        i, j = 0, 0
        if up[n, 0] > 0:
            high, least = ahead(to_workers, n, at_high, at_low)
            i = 1 if number(high, least) < below[n, 0] else 0
        if up[n, 1] > 0:
            high, least = ahead(to_ps, n, at_high, at_low)
            j = 1 if number(high, least) < below[n, 1] else 0
        workers += i
        ps += j
        if not fit[n, i, j] or workers < short[n, 0] or ps < short[n, 1]:
            return -1, -1
        u = order[n]
        draw[u, 0], draw[u, 1] = low[u, 0] + i, low[u, 1] + j
    return workers, ps


@compiled
def _shortest(up, fit, workers, ps):  # type: ignore[no-untyped-def]
    """Return how many more workers and PSs are needed after each machine, the rest giving all.

    Fewer than `workers` and `ps` more in all are not enough.
    """
    short = np.empty((len(up), 2), dtype=np.int64)
    for n in range(len(up) - 1, -1, -1):
        short[n, 0], short[n, 1] = workers, ps
        workers -= up[n, 0] > 0 and fit[n, 1, 0]
        ps -= up[n, 1] > 0 and fit[n, 0, 1]
    return short


@compiled
def _first_check(up, below, fit, short):  # type: ignore[no-untyped-def]
    """Return what `_next_row` must know of the machine that is likeliest not to fit."""
    if len(up) == 0:
        return False, False, NONE, NONE, 1
    passes = 0
    for i in range(2):
        for j in range(2):
            if fit[0, i, j] and i >= short[0, 0] and j >= short[0, 1]:
                passes += 1 << (i + 2 * j)
    return up[0, 0] > 0, up[0, 1] > 0, below[0, 0], below[0, 1], passes


@compiled
def _next_row(b, batch, high, low, stride, check, to_workers, to_ps):  # type: ignore[no-untyped-def]
    """Return the next row from b on that the first machine passes, and the state before it.

    Nine of ten draws end here.
    """
    draws_workers, draws_ps, workers_below, ps_below, passes = check
    while b < batch:
        outcome = 0
        if draws_workers:
            x, y = jumped(to_workers, high, low)
            outcome += number(x, y) < workers_below
        if draws_ps:
            x, y = jumped(to_ps, high, low)
            outcome += 2 * (number(x, y) < ps_below)
        if (passes >> outcome) & 1:
            break
        high, low = jumped(stride, high, low)
        b += 1
    return b, high, low


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
    position = np.zeros(cases + 1, dtype=np.int64)
    draws, outcome = np.empty((cases + 1, 2), dtype=np.int64), np.empty((1024, 3), dtype=np.int64)
    made, rows = 0, 0
    widest = 0
    for n in range(len(start) - 1):
        widest = max(widest, start[n + 1] - start[n])
    entry = np.empty(widest, dtype=np.int64)
    low, up = np.empty((widest, 2), dtype=np.int64), np.empty((widest, 2))
    fit, draw = np.empty((widest, 2, 2), dtype=np.bool_), np.empty((widest, 2), dtype=np.int64)
    to_ps = np.empty((widest, 4), dtype=np.uint64)
    jumps = jumps_ahead(widest, stream[2], stream[3])
    state = stream[:2].copy()
    for case in range(cases):
        size = 0
        position[case + 1] = position[case]
        for e in range(start[optimum[case]], start[optimum[case] + 1]):
            w, s = gain[case] * workers[e], gain[case] * ps[e]
            if w > SNAP or s > SNAP:
                entry[size] = e
                low[size, 0], up[size, 0] = split(w)
                low[size, 1], up[size, 1] = split(s)
                for i in range(2):
                    for j in range(2):
                        fit[size, i, j] = fits(
                            low[size, 0] + i, low[size, 1] + j, alpha, beta, free[group[e]]
                        )
                size += 1
        chance = chance_of(low[:size], up[:size], fit[:size], cover[case], most_workers, gamma)
        if chance == EXCLUDED:  # as long a piece of the stream as the draws would have taken
            state[0], state[1] = ahead(times(2 * most, jumps[size]), 0, state[0], state[1])
            position[case + 1] += 2 * most * size
        if chance != POSSIBLE:
            continue
        low_workers, low_ps = low[:size, 0].sum(), low[:size, 1].sum()
        order = likeliest_to_fail(up[:size], fit[:size])
        up_there, fit_there, to_workers = up[order], fit[order], jumps[order + 1]
        # A number is below the fraction iff it is below its next multiple of 2^-53.
        below = np.ceil(up_there * NUMBERS).astype(np.uint64)
        draw[:size] = low[:size]
        stride = jumps[size, 0], jumps[size, 1], jumps[size, 2], jumps[size, 3]
        missing = max(cover[case] - low_workers, 0)
        short = _shortest(
            up_there, fit_there, missing, int(ps_for(low_workers + missing, gamma)) - low_ps
        )
        check = _first_check(up_there, below, fit_there, short)
        first = made
        batch = FIRST_BATCH
        while feasible[case] < sought and attempts[case] < most:
            batch = min(batch, most - attempts[case])
            across = times(batch, jumps[size])
            step = across[0, 0], across[0, 1], across[0, 2], across[0, 3]
            for n in range(len(order)):
                to_ps[n, 0], to_ps[n, 1], to_ps[n, 2], to_ps[n, 3] = after(to_workers, n, step)
            if len(order) > 0:
                first_workers = (
                    to_workers[0, 0],
                    to_workers[0, 1],
                    to_workers[0, 2],
                    to_workers[0, 3],
                )
                first_ps = to_ps[0, 0], to_ps[0, 1], to_ps[0, 2], to_ps[0, 3]
            else:
                first_workers = first_ps = stride
            at_high, at_low = state[0], state[1]
            tried = batch
            b = -1
            while True:
                b, at_high, at_low = _next_row(
                    b + 1, batch, at_high, at_low, stride, check, first_workers, first_ps
                )
                if b == batch:
                    break
                more_workers, more_ps = _row(
                    at_high,
                    at_low,
                    order,
                    up_there,
                    below,
                    fit_there,
                    short,
                    to_workers,
                    to_ps,
                    low,
                    draw,
                )
                at_high, at_low = jumped(stride, at_high, at_low)
                total = low_workers + more_workers
                if (
                    more_workers < 0
                    or not cover[case] <= total <= most_workers
                    or low_ps + more_ps < ps_for(total, gamma)
                ):
                    continue
                feasible[case] += 1
                if not _known(draw, first, made, draws, outcome, size):
                    draws, outcome = _longer(draws, made + 1), _longer(outcome, rows + size)
                    draws[made, 0], draws[made, 1] = case, rows
                    for u in range(size):
                        outcome[rows, 0] = entry[u]
                        outcome[rows, 1], outcome[rows, 2] = draw[u, 0], draw[u, 1]
                        rows += 1
                    made += 1
                if feasible[case] == sought:
                    tried = b + 1
                    break
            state[0], state[1] = ahead(times(2, across[0]), 0, state[0], state[1])
            position[case + 1] += 2 * batch * size
            attempts[case] += tried
            batch = min(2 * batch, LARGEST_BATCH)
    return attempts, feasible, position, draws[:made], outcome[:rows]
