"""Resource-constrained project scheduling (RCPSP) on the cumulatives of the relaxed model.

A check of the core on published optima: PSPLIB's single-mode projects (Kolisch, Sprecher,
"PSPLIB - a project scheduling problem library", EJOR 96, 1997), least makespan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from models.dispatch.cp_sat import add_cumulative
from models.files import InputError, read_text

__all__ = ["Project", "build_rcpsp", "read_psplib"]


@dataclass(frozen=True)
class Project:
    """Activities with durations (A,), demands (A, R), capacities (R,), successors by index."""

    duration: NDArray[np.int64]
    demand: NDArray[np.float64]
    capacity: NDArray[np.float64]
    successors: tuple[tuple[int, ...], ...]


def read_psplib(path: str | Path) -> Project:
    """Read a single-mode file (.sm).

    Raises
    ------
    InputError
        If a section is missing or does not have the numbers it should.
    """
    sections: dict[str, list[list[int]]] = {}
    current: list[list[int]] = []
    for line in read_text(path).splitlines():
        title = re.match(r"^(PRECEDENCE RELATIONS|REQUESTS/DURATIONS|RESOURCEAVAILABILITIES)", line)
        if title:
            current = sections.setdefault(title.group(), [])
        elif re.fullmatch(r"[\d\s]*\d[\d\s]*", line):
            current.append([int(word) for word in line.split()])
    try:
        precedence = sections["PRECEDENCE RELATIONS"]
        requests = np.array(sections["REQUESTS/DURATIONS"], dtype=np.int64)
        capacity = np.array(sections["RESOURCEAVAILABILITIES"][0], dtype=float)
        successors = tuple(tuple(job - 1 for job in row[3:]) for row in precedence)
        if requests.shape != (len(successors), 3 + len(capacity)):
            raise ValueError("rows of the sections differ in length")
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(f"is not a PSPLIB project: {error}", source=str(path)) from None
    return Project(requests[:, 2], requests[:, 3:].astype(float), capacity, successors)


def build_rcpsp(project: Project) -> tuple[cp_model.CpModel, list[Any]]:
    """Build the model of least makespan; returns it with the start variables."""
    model = cp_model.CpModel()
    horizon = int(project.duration.sum())
    durations = project.duration.tolist()
    start = [model.new_int_var(0, horizon - d, f"start_{a}") for a, d in enumerate(durations)]
    intervals = [
        model.new_fixed_size_interval_var(start[a], d, f"activity_{a}")
        for a, d in enumerate(durations)
    ]
    for a, later in enumerate(project.successors):
        for b in later:
            model.add(start[b] >= start[a] + durations[a])
    for r, capacity in enumerate(project.capacity.tolist()):
        add_cumulative(model, intervals, project.demand[:, r], capacity)
    makespan = model.new_int_var(0, horizon, "makespan")
    for a, d in enumerate(durations):
        model.add(makespan >= start[a] + d)
    model.minimize(makespan)
    return model, start
