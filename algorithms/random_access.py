"""Numbers of NumPy's PCG64 at any position of its stream; compiled.

The generator is a linear congruential one: n steps ahead lies a * state + b modulo 2^128, where a
and b depend on n only (Brown 1994; O'Neill 2014). Such a *jump* is four words: a and b, each the
upper half first.
"""

from __future__ import annotations

import numpy as np

from algorithms.compiled import compiled, high_product

__all__ = [
    "NUMBERS",
    "after",
    "ahead",
    "jumped",
    "jumps_ahead",
    "number",
    "random_at",
    "stream_words",
    "times",
]

MULTIPLIER_HIGH, MULTIPLIER_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
ZERO, ONE = np.uint64(0), np.uint64(1)
WORD, WORD_LESS_ONE, TOP_BITS, NOT_KEPT = np.uint64(64), np.uint64(63), np.uint64(58), np.uint64(11)
NUMBERS = 9007199254740992.0  # 2^53
HALF = (1 << 64) - 1


def stream_words(bits: np.random.PCG64) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the state and the increment of a generator, each the upper half first."""
    state, increment = bits.state["state"]["state"], bits.state["state"]["inc"]
    words = [state >> 64, state & HALF, increment >> 64, increment & HALF]
    return np.array(words, dtype=np.uint64)


@compiled
def jumped(jump, high, low):  # type: ignore[no-untyped-def]
    """Return the state that lies a jump, a tuple of its words, ahead of a state."""
    product = jump[1] * low
    upper = high_product(jump[1], low) + jump[0] * low + jump[1] * high
    total = product + jump[3]
    return upper + jump[2] + (ONE if total < product else ZERO), total


@compiled
def ahead(jumps, n, high, low):  # type: ignore[no-untyped-def]
    """Return the state that lies the n-th of some jumps ahead of a state."""
    return jumped((jumps[n, 0], jumps[n, 1], jumps[n, 2], jumps[n, 3]), high, low)


@compiled
def after(jumps, n, first):  # type: ignore[no-untyped-def]
    """Return the jump that is the n-th of some after a first one."""
    plus_high, plus_low = ahead(jumps, n, first[2], first[3])
    upper = high_product(jumps[n, 1], first[1])
    upper += jumps[n, 0] * first[1] + jumps[n, 1] * first[0]
    return upper, jumps[n, 1] * first[1], plus_high, plus_low


@compiled
def jumps_ahead(most, increment_high, increment_low):  # type: ignore[no-untyped-def]
    """Return the jumps of 0, 1, ... `most` steps."""
    one = np.array([[MULTIPLIER_HIGH, MULTIPLIER_LOW, increment_high, increment_low]])
    jumps = np.empty((most + 1, 4), dtype=np.uint64)
    jump = (ZERO, ONE, ZERO, ZERO)
    for n in range(most + 1):
        jumps[n, 0], jumps[n, 1], jumps[n, 2], jumps[n, 3] = jump
        jump = after(one, 0, jump)
    return jumps


@compiled
def times(count, jump):  # type: ignore[no-untyped-def]
    """Return the jump that is `count` times a jump, shape (1, 4)."""
    result, doubled = (ZERO, ONE, ZERO, ZERO), np.empty((1, 4), dtype=np.uint64)
    doubled[0] = jump
    while count > 0:
        if count & 1:
            result = after(doubled, 0, result)
        count >>= 1
        square = after(doubled, 0, (doubled[0, 0], doubled[0, 1], doubled[0, 2], doubled[0, 3]))
        doubled[0, 0], doubled[0, 1], doubled[0, 2], doubled[0, 3] = square
    doubled[0, 0], doubled[0, 1], doubled[0, 2], doubled[0, 3] = result
    return doubled


@compiled
def number(high, low):  # type: ignore[no-untyped-def]
    """Return 2^53 times the number in [0, 1) that PCG64 (XSL RR) gives at a state."""
    mixed, turn = high ^ low, high >> TOP_BITS
    word = (mixed >> turn) | (mixed << ((WORD - turn) & WORD_LESS_ONE))
    return word >> NOT_KEPT


@compiled
def random_at(stream, position):  # type: ignore[no-untyped-def]
    """Return what ``rng.random()`` gives after `position` others; see `stream_words`."""
    jump = times(position + 1, jumps_ahead(1, stream[2], stream[3])[1])
    high, low = ahead(jump, 0, stream[0], stream[1])
    return number(high, low) / NUMBERS
