"""Random dispatch instances: an Eurora-like system and its mix of jobs."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.dispatch.instance import DispatchInstance, Job, Node
from models.dispatch.power_model import IDLE, WATTS, power_of, read_cap
from models.dispatch.presets import (
    ACCELERATORS,
    CORES,
    LARGE_MEMORY,
    LARGE_SHARE,
    LONGEST_SHARE,
    MEMORY,
    OUTRUN_SHARE,
    POWER_ERROR,
    QUEUES,
    RESOURCES,
    SHORTEST_SHARE,
    UNIT_ACCELERATORS,
    UNIT_CORES,
    UNIT_MEMORY,
    Queue,
)
from models.files import InputError

__all__ = ["Generated", "draw_reality", "generate", "make_nodes"]

MOST_SECONDS = 10**10


@dataclass(frozen=True)
class Generated:
    """A generated instance, and how it came about in lines for people."""

    instance: DispatchInstance
    notes: tuple[str, ...]


def generate(
    nodes: int = 64, jobs: int = 100, *, cap: str = "35%", span: int = 0, seed: int = 0
) -> Generated:
    """Draw a dispatch instance.

    Parameters
    ----------
    nodes, jobs : int
        N >= 1, J >= 0.
    cap : str
        Watts, per cent of the busy power above idle, or ``none``.
    span : int
        Submits are uniform from 0 to this [s]; 0 is a queue that is there at the start.
    seed : int

    Returns
    -------
    Generated
        Nodes n0, n1, ..., jobs j0, j1, ... in order of submit.

    Raises
    ------
    InputError
        Naming the argument, its value and the rule.

    Notes
    -----
    Same arguments, same instance. Every job has its own random stream, so that across instances
    of one seed its demands depend neither on the number of jobs nor on nodes, cap or span. Real
    run times and power, which the simulator alone sees, have streams of their own.
    """
    nodes = _whole("nodes", nodes, 1)
    jobs = _whole("jobs", jobs, 0)
    span = _whole("span", span, 0)
    if span > MOST_SECONDS:
        raise InputError(f"must be at most {MOST_SECONDS}", field="span", value=span)
    seed = _whole("seed", seed, 0)
    made_nodes = make_nodes(nodes)
    shapes, submits = np.random.SeedSequence(seed).spawn(2)
    times = np.sort(_stream(submits).integers(0, span, jobs, endpoint=True)).tolist()
    drawn = [
        _job(j, time, child)
        for j, (time, child) in enumerate(zip(times, shapes.spawn(jobs), strict=True))
    ]
    instance = DispatchInstance(
        resources=RESOURCES,
        power_cap=read_cap(cap, made_nodes),
        nodes=made_nodes,
        jobs=tuple(drawn),
    )
    return Generated(instance, _notes(instance, seed))


def make_nodes(number: int) -> tuple[Node, ...]:
    """Make the nodes: GPUs and MICs in turn, 6 of 64 with more memory, evenly spread."""
    some, of = LARGE_SHARE
    made = []
    for n in range(number):
        large = (n + 1) * some // of > n * some // of
        capacity: dict[str, float] = {
            "cores": CORES,
            "gpus" if n % 2 == 0 else "mics": ACCELERATORS,
            "memory": LARGE_MEMORY if large else MEMORY,
        }
        made.append(Node(name=f"n{n}", capacity=capacity, idle_power=IDLE))
    return tuple(made)


def _job(index: int, submit: int, seed: np.random.SeedSequence) -> Job:
    shape, reality = (_stream(child) for child in seed.spawn(2))
    queue = _queue(shape.random())
    duration = int(shape.integers(queue.shortest, queue.longest, endpoint=True))
    accelerator = "gpus" if shape.random() < 0.5 else "mics"
    units = []
    for _ in range(int(shape.integers(1, queue.most_units, endpoint=True))):
        cores, memory, accelerators = (
            int(shape.integers(low, high, endpoint=True))
            for low, high in (UNIT_CORES, UNIT_MEMORY, UNIT_ACCELERATORS)
        )
        unit = {"cores": cores, "memory": memory}
        units.append({**unit, accelerator: accelerators} if accelerators else unit)
    power = sum(power_of(unit) for unit in units)
    runtime, actual_power = draw_reality(duration, power, reality)
    return Job(
        name=f"j{index}",
        queue=queue.name,
        submit=submit,
        duration=duration,
        expected_wait=queue.expected_wait,
        power=power,
        runtime=runtime,
        actual_power=actual_power,
        units=tuple(units),
    )


def draw_reality(duration: int, power: float, stream: np.random.Generator) -> tuple[int, float]:
    """Draw what a job really takes [s] and draws [W], given estimate and prediction."""
    outruns, share, error = stream.random(), stream.random(), stream.standard_normal()
    if outruns < OUTRUN_SHARE:
        factor = 1 + (LONGEST_SHARE - 1) * share
    else:
        factor = SHORTEST_SHARE + (1 - SHORTEST_SHARE) * share
    runtime = max(1, round(duration * factor))
    return runtime, round(max(0.0, power * (1 + POWER_ERROR * error)), 3)


def _queue(draw: float) -> Queue:
    reached = 0.0
    for queue in QUEUES[:-1]:
        reached += queue.share
        if draw < reached:
            return queue
    return QUEUES[-1]


def _stream(seed: np.random.SeedSequence) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _notes(instance: DispatchInstance, seed: int) -> tuple[str, ...]:
    counts: Counter[str] = Counter(job.queue or "" for job in instance.jobs)
    mix = ", ".join(f"{counts[queue.name]} {queue.name}" for queue in QUEUES)
    impossible = sum(why is not None for why in instance.why_impossible)
    cap = "no cap" if instance.power_cap is None else f"cap {instance.power_cap:g} W"
    return (
        f"seed {seed}: {instance.number_of_nodes} nodes, {instance.number_of_jobs} jobs ({mix}), "
        f"{cap}, idle system {instance.idle_power:g} W",
        f"impossible jobs: {impossible}",
        *_assumptions(),
    )


def _assumptions() -> Sequence[str]:
    watts = ", ".join(f"{watt:g} W per {name.removesuffix('s')}" for name, watt in WATTS.items())
    return (
        f"assumed: {IDLE:g} W per idle node; above it {watts}",
        f"assumed: {OUTRUN_SHARE:.0%} of the jobs take 1-{LONGEST_SHARE:g} times their estimate, "
        f"the others {SHORTEST_SHARE:g}-1 times; real power off by {POWER_ERROR:.0%} (standard "
        "deviation); only the simulator sees either",
    )


def _whole(field: str, value: int, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise InputError(f"must be a whole number, at least {least}", field=field, value=value)
    return number
