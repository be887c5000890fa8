"""Instances of experiments: drawn from parameters and seed, then changed as the figure says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from models.data import data_file
from models.files import InputError
from models.google_table import read_arrivals
from models.google_trace import Submits
from models.training.generator import Generated, generate
from models.training.instance import Machine, TrainingInstance

__all__ = ["GOOGLE_TABLE", "TRACE", "changed_instance", "check_arrivals", "draw_instance"]

GOOGLE_TABLE = "google2011_submits.csv"
TRACE = "trace"


@lru_cache(maxsize=4)
def _submits(path: str) -> Submits:
    return read_arrivals(path or data_file(GOOGLE_TABLE))


def draw_instance(parameters: Mapping[str, Any], seed: int) -> Generated:
    """Draw the instance of a grid point.

    Parameters
    ----------
    parameters : mapping
        ``jobs``, ``slots``, ``machines``, ``preset``. ``mix``: "default" or "google", with the
        paper's alternating arrivals, or "trace" (if it is missing): arrivals and classes of the
        Google trace; ``arrivals``, if given, is the path of a part of the trace to use instead
        of the shipped table. ``locality``: b_int / b_ext, 10 by default (D10).
    seed : int
    """
    mix = parameters.get("mix", TRACE)
    options: dict[str, Any] = (
        {"arrivals": _submits(parameters.get("arrivals", ""))} if mix == TRACE else {"mix": mix}
    )
    return generate(
        jobs=parameters["jobs"],
        slots=parameters["slots"],
        machines=parameters["machines"],
        preset=parameters["preset"],
        locality=parameters.get("locality", 10.0),
        seed=seed,
        **options,
    )


def check_arrivals(points: Sequence[Mapping[str, Any]]) -> None:
    """Make sure that the trace can be read and has enough submissions for every point.

    Raises
    ------
    InputError
        Naming the file.
    """
    for point in points:
        if point.get("mix", TRACE) != TRACE:
            continue
        submits = _submits(point.get("arrivals", ""))
        if len(submits) < point["jobs"]:
            raise InputError(
                f"must hold at least {point['jobs']} submissions, one for each job",
                source=point.get("arrivals", GOOGLE_TABLE),
                value=len(submits),
            )


def changed_instance(instance: TrainingInstance, changes: Mapping[str, Any]) -> TrainingInstance:
    """Change what is swept after the draw, so that the same jobs are compared along the sweep.

    Parameters
    ----------
    instance : TrainingInstance
    changes : mapping
        Factors, 1 if missing: ``internal_factor`` on b_int alone, ``bandwidth_factor`` on b_int
        and b_ext, ``capacity_factor`` on all capacities.
    """
    internal = changes.get("internal_factor", 1.0)
    bandwidth = changes.get("bandwidth_factor", 1.0)
    capacity = changes.get("capacity_factor", 1.0)
    if internal == bandwidth == capacity == 1:
        return instance
    return TrainingInstance(
        slots=instance.slots,
        resources=instance.resources,
        machines=tuple(
            Machine(
                name=machine.name,
                capacity={r: capacity * amount for r, amount in machine.capacity.items()},
            )
            for machine in instance.machines
        ),
        jobs=tuple(
            job.model_copy(
                update={
                    "bandwidth_internal": job.bandwidth_internal * bandwidth * internal,
                    "bandwidth_external": job.bandwidth_external * bandwidth,
                }
            )
            for job in instance.jobs
        ),
    )
