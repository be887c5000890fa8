"""The smallest inputs on which the paper's projection loop fails, found by trying all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from algorithms.multiserver.projection import project

__all__ = ["KINDS", "Counterexample", "note", "smallest"]

KINDS = ("wrong", "above a request", "above the capacity")
MOST_PORTS = 3
LARGEST = 3
"""Whole numbers up to it are tried; all caps are positive."""

Case = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True)
class Counterexample:
    """An input, and what comes out.

    Attributes
    ----------
    point, caps : tuple of int
        z, a.
    budget : int
        c.
    loop, exact : tuple of float
        What the loop returns, and the projection.
    """

    point: tuple[int, ...]
    caps: tuple[int, ...]
    budget: int
    loop: tuple[float, ...]
    exact: tuple[float, ...]


def _cases(ports: int) -> Iterator[Case]:
    """All inputs with so many ports, by the sum of their numbers."""
    numbers = range(LARGEST + 1)
    inputs = [
        (z, a, c)
        for z in itertools.product(numbers, repeat=ports)
        if list(z) == sorted(z, reverse=True)
        for a in itertools.product(numbers[1:], repeat=ports)
        for c in range(1, LARGEST * ports + 1)
    ]
    return iter(sorted(inputs, key=lambda case: (sum(case[0]) + sum(case[1]) + case[2], case)))


def smallest(kind: str, tight: bool = False) -> Counterexample | None:
    """Return the first failure of one of `KINDS`: fewest ports, then the smallest sum.

    Parameters
    ----------
    kind : str
    tight : bool
        Only inputs where the capacity binds, so that the exact price is positive.
    """
    for ports in range(1, MOST_PORTS + 1):
        for z, a, c in _cases(ports):
            found = project(z, a, c)
            if tight and found.price <= 1e-9:
                continue
            loop = project(z, a, c, method="paper").amount
            wrong = {
                "wrong": np.abs(loop - found.amount).max() > 1e-9,
                "above a request": (loop > np.array(a) + 1e-9).any(),
                "above the capacity": loop.sum() > c + 1e-9,
            }
            if wrong[kind]:
                return Counterexample(
                    z, a, c, tuple(map(float, loop)), tuple(map(float, found.amount))
                )
    return None


def note(rows: object = None) -> str:
    """Write the note; it does not depend on the rows."""
    del rows
    lines = [
        "# The paper's projection loop",
        "",
        "arXiv 2305.06572 projects z for every instance and resource onto 0 <= y <= a (5),",
        "sum y <= c (6) by a loop (steps 7 to 30). The projection is y = clip(z - tau, 0, a) with",
        "tau >= 0. The loop differs from it in three ways: it looks whether a request is exceeded",
        "at the first port in the order of z only, it caps that port only, and it lets its rho be",
        "negative: where there is more capacity than is asked for, it hands out all of it.",
        "",
        f"All inputs of up to {MOST_PORTS} ports with whole numbers z in 0..{LARGEST} "
        f"(descending), a in 1..{LARGEST}, c up to {LARGEST} per port,",
        "tried in order of ports, then of the sum of the numbers; the first failures:",
        "",
        "| failure | z | a | c | the loop | the projection |",
        "|---|---|---|---|---|---|",
    ]
    for kind, tight in itertools.product(KINDS, (False, True)):
        where = f"{kind}{', the capacity binds' if tight else ''}"
        found = smallest(kind, tight)
        if found is None:
            lines.append(f"| {where} | none found | | | | |")
        else:
            parts = (found.point, found.caps, found.loop, found.exact)
            z, a, loop, exact = (f"({', '.join(f'{v:g}' for v in part)})" for part in parts)
            lines.append(f"| {where} | {z} | {a} | {found.budget} | {loop} | {exact} |")
    lines += [
        "",
        "With one job on one server that has exactly what the job may take, the loop gives it",
        "everything where the gradient asks for nothing. `--set projection=paper` runs OGA with",
        "the loop, and the audit says what it breaks.",
        "",
    ]
    return "\n".join(lines)
