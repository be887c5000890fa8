"""Algorithms for the training problem (arXiv 2108.02917): PD-ORS and its parts, exact optima."""

from __future__ import annotations

from typing import Any

from algorithms.policy import Policy, Run
from algorithms.training.baselines.dorm import DORM
from algorithms.training.baselines.drf import DRF
from algorithms.training.baselines.fifo import FIFO
from algorithms.training.baselines.oasis import OASIS
from algorithms.training.baselines.optimus import OPTIMUS
from algorithms.training.pdors.pdors import PDORS
from algorithms.training.plus.pdors_plus import PDORS_PLUS
from models.files import InputError
from models.training import TrainingInstance

__all__ = ["POLICIES", "run"]

POLICIES: dict[str, Policy] = {
    policy.name: policy for policy in (PDORS, PDORS_PLUS, FIFO, DRF, DORM, OASIS, OPTIMUS)
}


def run(instance: TrainingInstance, policy: str = "pdors", *, seed: int = 0, **options: Any) -> Run:
    """Run a policy by name, with its parameters as keywords.

    Parameters
    ----------
    instance : TrainingInstance
    policy : str
        A key of `POLICIES`.
    seed : int
        The same seed gives the same schedule.
    **options
        Parameters of the policy, see its `parameters` class.

    Returns
    -------
    Run
        ``solution`` (the schedule), ``log`` and ``counters``.

    Raises
    ------
    InputError
        For an unknown policy, an unknown parameter, or a value that it refuses.
    """
    if policy not in POLICIES:
        raise InputError(f"must be one of {', '.join(POLICIES)}", field="policy", value=policy)
    chosen = POLICIES[policy]
    return chosen.run(instance, chosen.make_parameters(options), seed)
