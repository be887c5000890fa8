"""Algorithms for the splitting problem (arXiv 2111.07006): greedy, NFS, OPT, least service time."""

from __future__ import annotations

from typing import Any

from algorithms.policy import Policy, Run
from algorithms.splitting.exact.ilp import ILP
from algorithms.splitting.exact.iqp import IQP
from algorithms.splitting.exact.opt import OPT
from algorithms.splitting.greedy import GREEDY
from algorithms.splitting.nfs import NFS
from models.files import InputError
from models.splitting import SplittingInstance

__all__ = ["POLICIES", "run"]

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (GREEDY, NFS, OPT, ILP, IQP)}


def run(
    instance: SplittingInstance, policy: str = "greedy", *, seed: int = 0, **options: Any
) -> Run:
    """Run a policy by name, with its parameters as keywords.

    Parameters
    ----------
    instance : SplittingInstance
    policy : str
        A key of `POLICIES`.
    seed : int
        Without effect: these policies draw nothing.
    **options
        Parameters of the policy, see its `parameters` class.

    Returns
    -------
    Run
        ``solution`` (the routing), ``log`` and ``counters``.

    Raises
    ------
    InputError
        For an unknown policy, an unknown parameter, or a value that it refuses.
    NoSolution
        If a job has no route.
    """
    if policy not in POLICIES:
        raise InputError(f"must be one of {', '.join(POLICIES)}", field="policy", value=policy)
    chosen = POLICIES[policy]
    return chosen.run(instance, chosen.make_parameters(options), seed)
