"""Random training instances: the paper's workload and the calibrated one (training.md, 4)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from models.files import InputError
from models.google_trace import Submits
from models.training.arrivals import Arrivals, alternating_arrivals, trace_arrivals
from models.training.instance import Job, Machine, TrainingInstance
from models.training.presets import (
    BODY_DRAWS,
    MACHINE,
    MB_PER_SLOT,
    MIXES,
    PRESETS,
    RESOURCES,
    SENSITIVITIES,
    UTILITY_DRAWS,
    job_from_draws,
    sensitivity_from_draw,
    utility_from_draws,
)
from models.training.throughput import job_reach
from models.training.utility import SigmoidUtility

__all__ = ["Generated", "GeneratorReport", "generate"]

MOST_DRAWS = 10_000  # of one job; so many failures mean that the cluster is too small
LARGEST_FACTOR = 10**6


@dataclass(frozen=True)
class GeneratorReport:
    """How an instance came about: everything that its file does not say.

    Attributes
    ----------
    preset, mix : str
        The mix is "trace" where a trace's scheduling classes decide.
    jobs, slots, machines : int
    locality : float
    seed : int
    redraws : int
        Jobs drawn and thrown away because they were impossible alone (0 for `paper`).
    most_redraws : int
        The most of them for one job.
    impossible : int
        Jobs of the instance that are impossible alone (D5).
    sensitivities : dict of str to int
        Number of time-insensitive, -sensitive and -critical jobs.
    arrivals : str
        Source of the arrivals.
    real, drawn : tuple of str
        Which properties come from a trace and which from the preset's ranges.
    assumptions : tuple of str
        What the paper leaves open and is fixed here (D10), in words.
    """

    preset: str
    mix: str
    jobs: int
    slots: int
    machines: int
    locality: float
    seed: int
    redraws: int
    most_redraws: int
    impossible: int
    sensitivities: dict[str, int]
    arrivals: str
    real: tuple[str, ...]
    drawn: tuple[str, ...]
    assumptions: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the report for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the report for people."""
        counts = ", ".join(f"{count} {name}" for name, count in self.sensitivities.items())
        return [
            f"preset {self.preset}, mix {self.mix}, seed {self.seed}: {self.jobs} jobs, "
            f"{self.slots} slots, {self.machines} machines",
            f"time matters: {counts}",
            f"impossible alone: {self.impossible}; redrawn because impossible: {self.redraws} "
            f"(at most {self.most_redraws} for one job)",
            f"arrivals: {self.arrivals}",
            f"from a trace: {', '.join(self.real) or 'nothing'}",
            f"drawn: {', '.join(self.drawn)}",
            *(f"assumed: {assumption}" for assumption in self.assumptions),
        ]


@dataclass(frozen=True)
class Generated:
    """A generated instance and how it came about."""

    instance: TrainingInstance
    report: GeneratorReport


def generate(
    jobs: int = 10,
    slots: int = 10,
    machines: int = 4,
    *,
    preset: str = "calibrated",
    mix: str = "default",
    arrivals: Submits | None = None,
    window: int | None = None,
    locality: float = 10.0,
    scales: Sequence[float] = (1.0,),
    seed: int = 0,
) -> Generated:
    """Draw a training instance.

    Parameters
    ----------
    jobs, slots, machines : int
        I >= 0, T >= 1, H >= 1.
    preset : {"calibrated", "paper"}
        `paper`: the paper's ranges, whatever comes of them. `calibrated`: samples divided by 10,
        and each job redrawn until it could be completed alone on the empty cluster. What is
        redrawn is the job's size, demands and bandwidths; its arrival and utility stay, so the
        arrival pattern and the mix are not bent, but late jobs are smaller.
    mix : {"default", "google"}
        Shares of time-insensitive, -sensitive and -critical jobs: 10/55/35 % or 30/69/1 %.
        Not used with `arrivals`, where the trace's scheduling classes decide.
    arrivals : Submits, optional
        Submissions of a trace, from `models.google_table.read_arrivals`. Without:
        slots drawn with the paper's alternating weights 1/3 and 2/3.
    window : int, optional
        See `models.training.arrivals.trace_arrivals`.
    locality : float
        b_int / b_ext >= 1.
    scales : sequence of float
        Machine h has scales[h % len(scales)] times the standard capacity.
    seed : int

    Returns
    -------
    Generated
        Jobs j0, j1, ... in the order drawn, which is not the order of arrival.

    Raises
    ------
    InputError
        Naming the argument, its value and the rule; or if 10,000 draws give no possible job.

    Notes
    -----
    Same arguments, same instance. Arrivals, utilities and the rest have their own random
    streams, the rest one per job, and each property has its own number in its stream. Hence
    across instances of one seed and number of slots

    - job i does not depend on the number of jobs (from a trace: up to 1000, or the given
      window), nor, with preset `paper`, on the machines;
    - mix, locality and preset change only what they are about. With `calibrated` a job differs
      between two clusters only if a redraw was needed in one of them that was not in the other.

    So figures that vary one of these compare like with like.
    """
    jobs = _whole("jobs", jobs, 0)
    slots = _whole("slots", slots, 1)
    machines = _whole("machines", machines, 1)
    seed = _whole("seed", seed, 0)
    _one_of("preset", preset, PRESETS)
    _one_of("mix", mix, MIXES)
    locality = _real("locality", locality, 1)
    factors = [_real(f"scales[{k}]", scale, 0) for k, scale in enumerate(scales)]
    if not factors:
        raise InputError("must not be empty", field="scales")
    if window is not None:
        window = _whole("window", window, 1)
        if arrivals is None:
            raise InputError("is a part of a trace: arrivals are needed too", field="window")

    arrival_seed, utility_seed, body_seed = np.random.SeedSequence(seed).spawn(3)
    arrived = (
        alternating_arrivals(jobs, slots, _stream(arrival_seed))
        if arrivals is None
        else trace_arrivals(arrivals, jobs, slots, _stream(arrival_seed), window)
    )
    sensitivities, utilities = _utilities(arrived, mix, jobs, _stream(utility_seed))
    cluster = tuple(
        Machine(
            name=f"m{h}",
            capacity={r: MACHINE[r] * factors[h % len(factors)] for r in RESOURCES},
        )
        for h in range(machines)
    )
    capacity = np.array([[machine.capacity[r] for r in RESOURCES] for machine in cluster])
    drawn: list[Job] = []
    redraws: list[int] = []
    for i, child in enumerate(body_seed.spawn(jobs)):
        job, thrown_away = _job(
            i, int(arrived.slots[i]), utilities[i], preset, locality, slots, capacity, child
        )
        drawn.append(job)
        redraws.append(thrown_away)
    instance = TrainingInstance(
        slots=slots, resources=RESOURCES, machines=cluster, jobs=tuple(drawn)
    )
    from_trace = arrivals is not None
    report = GeneratorReport(
        preset=preset,
        mix="trace" if from_trace else mix,
        jobs=jobs,
        slots=slots,
        machines=machines,
        locality=locality,
        seed=seed,
        redraws=sum(redraws),
        most_redraws=max(redraws, default=0),
        impossible=jobs - len(instance.possible_jobs),
        sensitivities={
            name: sensitivities.count(index) for index, name in enumerate(SENSITIVITIES)
        },
        arrivals=arrived.source,
        real=("arrivals (time rescaled)", "time sensitivity (scheduling class)")
        if from_trace
        else (),
        drawn=(
            *(() if from_trace else ("arrivals", "time sensitivity")),
            "priority, decay within its class, target",
            "epochs, samples, batch, gradient, sample time, workers per PS",
            "demands",
            "bandwidths",
        ),
        assumptions=_assumptions(preset, locality, factors),
    )
    return Generated(instance, report)


def _utilities(
    arrived: Arrivals, mix: str, jobs: int, stream: np.random.Generator
) -> tuple[list[int], list[SigmoidUtility]]:
    draws = stream.random((jobs, UTILITY_DRAWS)).tolist()
    if arrived.sensitivities is None:
        sensitivities = [sensitivity_from_draw(row[0], mix) for row in draws]
    else:
        sensitivities = [int(index) for index in arrived.sensitivities]
    utilities = [
        utility_from_draws(index, row[1:]) for index, row in zip(sensitivities, draws, strict=True)
    ]
    return sensitivities, utilities


def _job(
    index: int,
    arrival: int,
    utility: SigmoidUtility,
    preset: str,
    locality: float,
    slots: int,
    capacity: np.ndarray,
    seed: np.random.SeedSequence,
) -> tuple[Job, int]:
    """Draw one job; returns it and how many were thrown away before."""
    stream = _stream(seed)
    rules = PRESETS[preset]
    for attempt in range(MOST_DRAWS):
        draws = stream.random(BODY_DRAWS).tolist()
        job = job_from_draws(f"j{index}", arrival, utility, draws, rules, locality)
        if not rules.redraws:
            return job, 0
        worker, ps = (
            np.array([demand.get(r, 0.0) for r in RESOURCES]) for demand in (job.worker, job.ps)
        )
        if job_reach(slots, capacity, job, worker, ps).possible:
            return job, attempt
    raise InputError(
        f"in {MOST_DRAWS} draws no job arriving in slot {arrival} of 0..{slots - 1} could be "
        f"completed alone on {len(capacity)} machines; larger machines or preset paper are needed",
        field="preset",
        value=preset,
    )


def _stream(seed: np.random.SeedSequence) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _assumptions(preset: str, locality: float, factors: Sequence[float]) -> tuple[str, ...]:
    """State in words what the paper leaves open (D10) and what the preset changes."""
    machine = ", ".join(f"{MACHINE[r]:g} {r}" for r in RESOURCES)
    scaled = "" if set(factors) == {1.0} else f", scaled by {', '.join(f'{f:g}' for f in factors)}"
    assumptions = [
        f"a slot is one hour; 1 Gbit/s is {MB_PER_SLOT} MB per slot",
        "external bandwidth uniform in 0.1..4 Gbit/s per job",
        f"internal bandwidth {locality:g} times the external",
        f"a machine has {machine}{scaled}",
    ]
    rules = PRESETS[preset]
    if rules.samples_divisor != 1:
        assumptions.append(f"samples per epoch are the paper's divided by {rules.samples_divisor}")
    if rules.redraws:
        assumptions.append(
            "size, demands and bandwidths are redrawn until the job is possible alone; "
            "arrival and utility are kept"
        )
    return tuple(assumptions)


def _whole(field: str, value: int, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise InputError(f"must be a whole number, at least {least}", field=field, value=value)
    return number


def _real(field: str, value: float, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError("must be a number", field=field, value=value)
    if not least <= value <= LARGEST_FACTOR:  # NaN too
        rule = f"must be a number from {least} to {LARGEST_FACTOR}"
        raise InputError(rule, field=field, value=value)
    return float(value)


def _one_of(field: str, value: str, known: Iterable[str]) -> None:
    if value not in tuple(known):
        raise InputError(f"must be one of {', '.join(known)}", field=field, value=value)
