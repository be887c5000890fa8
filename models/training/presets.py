"""The ranges that generated training jobs are drawn from (training.md section 4, D10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.training.instance import Job
from models.training.utility import SigmoidUtility

__all__ = [
    "BODY_DRAWS",
    "MACHINE",
    "MB_PER_SLOT",
    "MIXES",
    "PRESETS",
    "RESOURCES",
    "SENSITIVITIES",
    "UTILITY_DRAWS",
    "Preset",
    "job_from_draws",
    "sensitivity_from_draw",
    "utility_from_draws",
]

RESOURCES = ("gpu", "cpu", "memory", "storage")
# 18 times the mean worker demand: 2 GPU, 5.5 vCPU, 17 GB, 7.5 GB.
MACHINE = {"gpu": 36.0, "cpu": 99.0, "memory": 306.0, "storage": 135.0}
# D10: 1 Gbit/s = 125 MB/s over a slot of one hour.
MB_PER_SLOT = 125 * 3600
SENSITIVITIES = ("insensitive", "sensitive", "critical")
DECAYS = ((0.0, 0.0), (0.01, 1.0), (4.0, 6.0))
# Shares of the time-insensitive, -sensitive and -critical jobs.
MIXES = {"default": (0.10, 0.55, 0.35), "google": (0.30, 0.69, 0.01)}
BODY_DRAWS = 14
UTILITY_DRAWS = 4


@dataclass(frozen=True)
class Preset:
    """How the paper's ranges are used.

    Attributes
    ----------
    samples_divisor : int
        The paper's K is divided by this.
    redraws : bool
        Whether a job is drawn again until it is possible alone on the empty cluster.
    """

    samples_divisor: int
    redraws: bool


PRESETS = {"calibrated": Preset(10, True), "paper": Preset(1, False)}


def job_from_draws(
    name: str,
    arrival: int,
    utility: SigmoidUtility,
    draws: Sequence[float],
    preset: Preset,
    locality: float,
) -> Job:
    """Make a job from numbers in [0, 1), one per property.

    Parameters
    ----------
    name : str
    arrival : int
        Slot.
    utility : SigmoidUtility
    draws : sequence of float, length BODY_DRAWS
        A property always uses the same entry: that is what keeps jobs of one seed alike across
        presets, mixes and localities.
    preset : Preset
    locality : float
        Internal over external bandwidth.
    """
    draw = iter(draws)
    epochs = _integer(next(draw), 50, 200)
    samples = _integer(next(draw), 20_000, 500_000) // preset.samples_divisor
    gradient = _real(next(draw), 30, 575)
    sample_time = _real(next(draw), 1e-5, 1e-4)
    workers_per_ps = _real(next(draw), 1, 10)
    batch = _integer(next(draw), 1, 200)
    external = _real(next(draw), 0.1, 4) * MB_PER_SLOT
    worker = {"gpu": float(_integer(next(draw), 0, 4)), **_demand(draw)}
    return Job(
        name=name,
        arrival=arrival,
        epochs=epochs,
        samples=samples,
        batch=batch,
        gradient=gradient,
        sample_time=sample_time,
        workers_per_ps=workers_per_ps,
        bandwidth_internal=locality * external,
        bandwidth_external=external,
        worker=worker,
        ps=_demand(draw),
        utility=utility,
    )


def _demand(draw: Iterator[float]) -> dict[str, float]:
    """What workers and PSs alike need."""
    return {
        "cpu": float(_integer(next(draw), 1, 10)),
        "memory": _real(next(draw), 2, 32),
        "storage": _real(next(draw), 5, 10),
    }


def sensitivity_from_draw(draw: float, mix: str) -> int:
    """Index into SENSITIVITIES, by the shares of a mix."""
    insensitive, sensitive, _ = MIXES[mix]
    return int(draw >= insensitive) + int(draw >= insensitive + sensitive)


def utility_from_draws(sensitivity: int, draws: Sequence[float]) -> SigmoidUtility:
    """Make a utility from three numbers in [0, 1): priority, decay, target."""
    priority, decay, target = draws
    return SigmoidUtility(
        kind="sigmoid",
        priority=_real(priority, 1, 100),
        decay=_real(decay, *DECAYS[sensitivity]),
        target=_real(target, 1, 15),
    )


def _integer(draw: float, low: int, high: int) -> int:
    """A whole number of low..high, both included."""
    return low + int(draw * (high - low + 1))


def _real(draw: float, low: float, high: float) -> float:
    return low + float(draw) * (high - low)
