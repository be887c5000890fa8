"""Dominant resource fairness, as in Yarn and Mesos: progressive filling in every slot."""

from __future__ import annotations

from collections.abc import Sequence

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.outcome import WAITING_COUNTERS, BaselineLog, baseline_run
from algorithms.training.placement import Cluster, fill
from algorithms.training.simulation import Slot, simulate
from models.training import TrainingInstance

__all__ = ["DRF", "DrfParameters", "fill_fairly", "run_drf"]

SHARE_DIGITS = 12  # shares that differ by rounding errors only are equal


class DrfParameters(Parameters):
    """DRF has no parameters."""


def fill_fairly(cluster: Cluster, jobs: Sequence[int]) -> None:
    """Progressive filling: bundle after bundle to the job of least dominant share that fits.

    Parameters
    ----------
    cluster : Cluster
    jobs : sequence of int
        Among equal shares the earlier one comes first.
    """
    fill(cluster, jobs, lambda i: (round(cluster.share(i), SHARE_DIGITS),))


def run_drf(instance: TrainingInstance, parameters: DrfParameters, seed: int) -> Run:
    """Share every slot anew so that the least dominant share is as large as it can be.

    Parameters
    ----------
    instance : TrainingInstance
    parameters : DrfParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The schedule and a `BaselineLog`.

    References
    ----------
    arXiv 2108.02917, section "Numerical Results", baseline (2); Ghodsi et al., "Dominant
    Resource Fairness", NSDI 2011, for progressive filling.
    """
    del parameters, seed
    placements, outcomes = simulate(instance, _Drf(instance))
    return baseline_run(DRF.name, BaselineLog(instance, outcomes, placements), {})


class _Drf:
    def __init__(self, instance: TrainingInstance) -> None:
        self.cluster = Cluster(instance)

    def decide(self, slot: Slot) -> dict[int, str]:
        """Fill the empty machines; the pointer goes on where it stopped."""
        self.cluster.clear()
        fill_fairly(self.cluster, slot.jobs)
        return dict.fromkeys(slot.jobs, "no room left for a worker and its parameter servers")


DRF = Policy(
    name="drf",
    summary="dominant resource fairness: progressive filling in every slot",
    parameters=DrfParameters,
    run=run_drf,
    counters=WAITING_COUNTERS,
)
