"""splitting/fictitious-vs-real: the paper's completion times beside those of the real network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.judging import compare, status_of, verdict_of
from experiments.splitting.greedy_nfs import AXES, along

if TYPE_CHECKING:
    import pandas

__all__ = ["FICTITIOUS_REAL"]

ROUNDING = 1e-9
POLICIES = ("greedy", "nfs")


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run both policies, and simulate what they order in the preemptive-priority network.

    Raises
    ------
    AssertionError
        If a routing fails the audit.
    """
    from algorithms.splitting.simulation import simulate
    from experiments.splitting.greedy_optimal_task import audited
    from models.splitting import routes_of
    from models.splitting.generator import generate

    instance = generate(
        parameters["nodes"], parameters["jobs"], gamma=parameters["gamma"], seed=seed
    ).instance
    row: dict[str, Any] = {"late": 0.0, "pieces": 0}
    for policy in POLICIES:
        outcome, _ = audited(instance, policy)
        routing = outcome.solution
        promised = [job.completion for job in routing.jobs]
        priorities = [job.priority for job in routing.jobs]
        order = sorted(range(len(priorities)), key=priorities.__getitem__)
        real = simulate(instance, routes_of(instance, routing), order)
        times = list(zip(promised, real.completions, strict=True))
        row["late"] = max(row["late"], *(100 * (r / p - 1) for p, r in times))
        row["pieces"] += len(real.pieces)
        last = max(real.completions)
        row |= {
            policy: routing.objective,
            f"{policy}_real": last,
            f"{policy}_slack": 100 * (routing.objective / last - 1),
            f"{policy}_mean_slack": 100 * math.fsum(p / r - 1 for p, r in times) / len(times),
        }
    return {
        **row,
        "excess": 100 * (row["nfs"] / row["greedy"] - 1),
        "excess_real": 100 * (row["nfs_real"] / row["greedy_real"] - 1),
    }


def judge_bound(rows: pandas.DataFrame) -> Verdict:
    """Judge "no job is later in the real network"; and say how much earlier they are."""
    late = int((rows["late"] > 100 * ROUNDING).sum())
    tables = {policy: along(rows, "gamma", f"{policy}_slack") for policy in POLICIES}
    found = compare(
        [
            (f"{policy} gamma {gamma:g}", table[gamma])
            for policy, table in tables.items()
            for gamma in table
        ]
    )
    text = (
        f"Of {len(rows)} pairs of runs {late} have a job that is later than promised. The largest "
        f"completion is promised too late by [%] {_listed(found)}."
    )
    status = status_of(0 if late else 1, 1)
    return verdict_of(tables["greedy"], text, status, min(found, key=lambda c: c.mean))


def judge_better(rows: pandas.DataFrame) -> Verdict:
    """Judge "the greedy is better than NFS in the real network too", at every point."""
    base = {axis: rows[axis].mode().iloc[0] for axis in AXES}
    tables = {axis: along(rows, axis, "excess_real") for axis in AXES}
    found = compare(
        [
            (f"{axis} {v:g}", table[v])
            for axis, table in tables.items()
            for v in table
            if axis == "gamma" or v != base[axis]
        ]
    )
    sure = sum(c.surely_positive for c in found)
    text = (
        f"NFS is surely later in the real network at {sure} of {len(found)} points; excess [%] "
        f"{_listed(found)}."
    )
    weakest = min(found, key=lambda c: c.mean)
    return verdict_of(tables["gamma"], text, status_of(sure, len(found)), weakest)


def _listed(found: Sequence[object]) -> str:
    return "; ".join(map(str, found))


FICTITIOUS_REAL = Experiment(
    name="splitting/fictitious-vs-real",
    revision=1,
    summary="largest completion in the fictitious and in the simulated real network",
    paper="arXiv 2111.07006, Section VI: the fictitious system bounds the real one",
    grid="experiments.splitting.greedy_nfs:grid",
    task=task,
    figure="experiments.splitting.fictitious_real_drawing:draw",
    claims=(
        Claim(
            "fictitious-vs-real/bound",
            "A job's completion in the fictitious system is an upper bound of the real one.",
            "runs with a job that is later by more than 1e-9; reproduced if there is none; "
            "estimate: the least mean of 100 (fictitious / real - 1) of the largest completion "
            "over gamma, t intervals corrected",
            judge_bound,
        ),
        Claim(
            "fictitious-vs-real/better",
            "The greedy performs well in the real network too: NFS completes later there.",
            "mean of 100 (NFS / greedy - 1) of the largest simulated completion, one value per "
            "seed, t intervals corrected for all points; reproduced if all are above 0, partly "
            "if at least half are",
            judge_better,
        ),
    ),
    metrics={
        **{p: f"largest completion of {p} in the fictitious system [s]" for p in POLICIES},
        **{f"{p}_real": f"largest completion of {p} in the real network [s]" for p in POLICIES},
        **{f"{p}_slack": "fictitious over real, minus one [%]" for p in POLICIES},
        "late": "the latest job over its fictitious completion, minus one; 0 if none is late [%]",
        "excess": "NFS over greedy in the fictitious system, minus one [%]",
        "excess_real": "the same in the real network [%]",
    },
    cost="pieces",
    policies=POLICIES,
    seeds=50,
    expected_seconds=90.0,
    quick_seconds=5.0,
)
