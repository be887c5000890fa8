"""Logs in the Standard Workload Format (SWF): reading, and making an instance of one.

A row has 18 fields: job, submit, wait, run time, allocated processors, cpu time, used memory
[KB per processor], requested processors, requested time, requested memory, status, user, group,
executable, queue, partition, preceding job, think time; -1 is unknown. Times are in seconds and may
be fractions: submits are rounded down, durations up and to at least 1.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.dispatch.generator import draw_reality
from models.dispatch.instance import LATEST, DispatchInstance, Job, Node
from models.dispatch.power_model import IDLE, WATTS, power_of, read_cap
from models.dispatch.presets import POWER_ERROR, QUEUES, queue_of
from models.files import InputError

__all__ = ["Dropped", "Imported", "Record", "import_swf", "read_swf"]

FIELDS = 18
CANCELLED = 5
KILOBYTES_PER_GIGABYTE = 2.0**20
SHOWN = 10
MOST_UNITS = 100_000
"""A job of more nodes than this is no job of any machine, and its units would fill the memory."""


@dataclass(frozen=True)
class Record:
    """A usable row: seconds, processors, and memory [KB per processor], 0 where unknown."""

    line: int
    number: str
    submit: int
    runtime: int
    processors: int
    requested_time: int
    memory: float


@dataclass(frozen=True)
class Dropped:
    """A row that was left out: its line in the file, counted from 1, and why."""

    line: int
    reason: str


def read_swf(path: str | Path) -> tuple[list[Record], list[Dropped]]:
    """Read a log, plain or gzip, with any line ends.

    Returns
    -------
    records : list of Record
        In order of submit, then of the file.
    dropped : list of Dropped
        In order of the file; a row that is cut off is one of them.

    Raises
    ------
    InputError
        If the file cannot be read, or no row in it is one of a log.
    """
    records: list[Record] = []
    dropped: list[Dropped] = []
    seen: set[str] = set()
    rows = 0
    for line, text in enumerate(_text(path).splitlines(), start=1):
        row = text.strip()
        if not row or row.startswith(";"):
            continue
        values = _numbers(row)
        if isinstance(values, str):
            dropped.append(Dropped(line, values))
            continue
        rows += 1
        record = _record(line, row.split()[0], values)
        if isinstance(record, str):
            dropped.append(Dropped(line, record))
        elif record.number in seen:
            dropped.append(Dropped(line, "job number came before"))
        else:
            seen.add(record.number)
            records.append(record)
    if dropped and not rows:
        first = dropped[0]
        rule = f"is not an SWF log: line {first.line} {first.reason}, and no other line is a row"
        raise InputError(rule, source=str(path))
    return sorted(records, key=lambda record: record.submit), dropped


def _text(path: str | Path) -> str:
    try:
        content = Path(path).read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except EOFError:
        raise InputError("is a gzip file that is cut off", source=str(path)) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file: {error}", source=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
    return content.decode("utf-8-sig", errors="replace")


def _numbers(row: str) -> list[float] | str:
    """The 18 numbers of a row, or what is wrong with it."""
    fields = row.split()
    if len(fields) != FIELDS:
        return f"has {len(fields)} fields instead of {FIELDS}"
    try:
        values = [float(text) for text in fields]
    except ValueError:
        return "has a field that is not a number"
    if not all(math.isfinite(value) and abs(value) <= LATEST // 2**20 for value in values):
        return "has a number that is too large"
    return values


def _record(line: int, number: str, values: list[float]) -> Record | str:
    """A usable record, or why it is none."""
    submit, runtime, allocated = values[1], values[3], values[4]
    used_memory, requested, requested_time, requested_memory, status = values[6:11]
    if submit < 0:  # -0.0 is 0
        return "submit time unknown"
    if runtime < 0:
        return "run time unknown"
    if runtime == 0 and status == CANCELLED:
        return "cancelled before it ran"
    processors = requested if requested > 0 else allocated
    if processors <= 0 or processors != int(processors):
        return "number of processors unknown"
    seconds = max(1, math.ceil(runtime))
    memory = requested_memory if requested_memory > 0 else used_memory
    return Record(
        line=line,
        number=number,
        submit=math.floor(submit),
        runtime=seconds,
        processors=int(processors),
        requested_time=max(1, math.ceil(requested_time)) if requested_time > 0 else seconds,
        memory=max(0.0, memory),
    )


@dataclass(frozen=True)
class Imported:
    """An instance made of a log, the rows that are not in it, and lines for people."""

    instance: DispatchInstance
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]


def import_swf(
    path: str | Path,
    nodes: int,
    cores_per_node: int,
    *,
    memory: float | None = None,
    cap: str = "none",
    limit: int | None = None,
    seed: int = 0,
) -> Imported:
    """Make an instance of a log.

    Parameters
    ----------
    path : path
    nodes, cores_per_node : int
        The system: a log does not say how its processors are spread.
    memory : float, optional
        GB per node; without it memory is no resource.
    cap : str
        Watts, per cent of the busy power above idle, or ``none``.
    limit : int, optional
        Only the first so many usable rows, in order of submit.
    seed : int
        Of the real power.

    Returns
    -------
    Imported

    Raises
    ------
    InputError

    Notes
    -----
    A job has units of as many cores as a node has, the last one of the rest. Its estimate is the
    requested time (the run time where that is unknown), its queue the first of debug, parallel
    and longpar that allows so long an estimate, its predicted power 9 W per core, and its real
    power off by 15 % (standard deviation).
    """
    for label, value in (("nodes", nodes), ("cores_per_node", cores_per_node), ("limit", limit)):
        if value is not None and value < 1:
            raise InputError("must be at least 1", field=label, value=value)
    if memory is not None and not (0 < memory < math.inf):
        raise InputError("must be a positive, finite number", field="memory", value=memory)
    records, dropped = read_swf(path)
    huge = [record for record in records if record.processors > MOST_UNITS * cores_per_node]
    if huge:
        reason = f"needs more than {MOST_UNITS} nodes"
        dropped += [Dropped(record.line, reason) for record in huge]
        dropped.sort(key=lambda row: row.line)
        records = [r for r in records if r.processors <= MOST_UNITS * cores_per_node]
    resources = ("cores",) if memory is None else ("cores", "memory")
    capacity: dict[str, float] = {"cores": cores_per_node}
    if memory is not None:
        capacity["memory"] = memory
    made = tuple(Node(name=f"n{n}", capacity=capacity, idle_power=IDLE) for n in range(nodes))
    kept = records if limit is None else records[:limit]
    stream = np.random.Generator(np.random.PCG64(seed))
    instance = DispatchInstance(
        resources=resources,
        power_cap=read_cap(cap, made),
        nodes=made,
        jobs=tuple(_job(record, cores_per_node, memory is not None, stream) for record in kept),
    )
    return Imported(instance, tuple(dropped), _notes(instance, len(records), dropped))


def _job(record: Record, cores: int, with_memory: bool, stream: np.random.Generator) -> Job:
    sizes = [cores] * (record.processors // cores)
    if record.processors % cores:
        sizes.append(record.processors % cores)
    per_core = record.memory / KILOBYTES_PER_GIGABYTE
    units = tuple(
        {"cores": size, **({"memory": size * per_core} if with_memory and per_core else {})}
        for size in sizes
    )
    queue = queue_of(record.requested_time)
    power = power_of({"cores": record.processors})
    _, actual_power = draw_reality(record.requested_time, power, stream)
    return Job(
        name=record.number,
        queue=queue.name,
        submit=record.submit,
        duration=record.requested_time,
        expected_wait=queue.expected_wait,
        power=power,
        runtime=record.runtime,
        actual_power=actual_power,
        units=units,
    )


def _notes(instance: DispatchInstance, usable: int, dropped: list[Dropped]) -> tuple[str, ...]:
    lines = defaultdict(list)
    for row in dropped:
        lines[row.reason].append(row.line)
    queues = ", ".join(
        f"{queue.name} ({queue.expected_wait} s) up to {queue.longest} s" for queue in QUEUES
    )
    notes = [
        f"rows: {usable + len(dropped)}, usable: {usable}, jobs: {instance.number_of_jobs}, "
        f"dropped: {len(dropped)}"
    ]
    for reason, where in lines.items():
        shown = ", ".join(map(str, where[:SHOWN]))
        more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
        notes.append(f"dropped, {reason}: {len(where)} (line {shown}{more})")
    impossible = sum(why is not None for why in instance.why_impossible)
    return (
        *notes,
        f"impossible jobs: {impossible}",
        f"assumed: {IDLE:g} W per idle node, {WATTS['cores']:g} W per busy core; real power off by "
        f"{POWER_ERROR:.0%} (standard deviation)",
        f"assumed: queue (and expected wait) by the estimate: {queues}, else {QUEUES[-1].name}",
    )
