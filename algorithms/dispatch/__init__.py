"""Algorithms for the dispatch problem: PRB, the hybrid, FCFS and EASY."""

from __future__ import annotations

from typing import Any

from algorithms.dispatch.hybrid import HYBRID
from algorithms.dispatch.lists import EASY, FCFS, PRB
from algorithms.policy import Policy, Run
from models.dispatch import DispatchInstance
from models.files import InputError

__all__ = ["POLICIES", "run"]

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (PRB, HYBRID, EASY, FCFS)}


def run(instance: DispatchInstance, policy: str = "prb", *, seed: int = 0, **options: Any) -> Run:
    """Run a policy by name, with its parameters as keywords.

    Parameters
    ----------
    instance : DispatchInstance
    policy : str
        A key of `POLICIES`.
    seed : int
        Of the policies that draw.
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
    NoSolution
        If the idle system is above the cap.
    """
    if policy not in POLICIES:
        raise InputError(f"must be one of {', '.join(POLICIES)}", field="policy", value=policy)
    chosen = POLICIES[policy]
    return chosen.run(instance, chosen.make_parameters(options), seed)
