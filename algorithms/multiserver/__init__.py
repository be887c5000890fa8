"""Algorithms for the multiserver problem (arXiv 2305.06572): OGA and four baselines."""

from __future__ import annotations

from typing import Any

from algorithms.multiserver.baselines import BINPACKING, DRF, FAIRNESS, SPREADING
from algorithms.multiserver.oga import OGA
from algorithms.policy import Policy, Run
from models.files import InputError
from models.multiserver import MultiserverInstance

__all__ = ["POLICIES", "run"]

POLICIES: dict[str, Policy] = {
    policy.name: policy for policy in (OGA, FAIRNESS, DRF, BINPACKING, SPREADING)
}


def run(
    instance: MultiserverInstance, policy: str = "oga", *, seed: int = 0, **options: Any
) -> Run:
    """Run a policy by name, with its parameters as keywords.

    Parameters
    ----------
    instance : MultiserverInstance
    policy : str
        A key of `POLICIES`.
    seed : int
        Without effect: these policies draw nothing.
    **options
        Parameters of the policy, see its `parameters` class.

    Returns
    -------
    Run
        ``solution`` (rewards and allocations) and ``log``.

    Raises
    ------
    InputError
        For an unknown policy, an unknown parameter, or a value that it refuses.
    """
    if policy not in POLICIES:
        raise InputError(f"must be one of {', '.join(POLICIES)}", field="policy", value=policy)
    chosen = POLICIES[policy]
    return chosen.run(instance, chosen.make_parameters(options), seed)
