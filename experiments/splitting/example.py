"""splitting/example: 20 nodes and 5 jobs, from the network over the layered graph to the paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Status, Verdict
from experiments.judging import compare, verdict_of

if TYPE_CHECKING:
    import pandas

__all__ = ["EXAMPLE", "shown_seed"]

MODELS = ["cnn5", "alexnet"]  # few layers, so that the layered graph can be drawn
HALF = 50.0  # %


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """One point: the size of the paper's example."""
    nodes, jobs = (8, 3) if quick else (20, 5)
    return [{"nodes": nodes, "jobs": jobs, "gamma": 1.0, "models": MODELS, "time_limit": 10.0}]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Solve (1)-(5), and count how many jobs are computed at one node.

    Raises
    ------
    AssertionError
        If the routing fails the audit.
    """
    from experiments.splitting.greedy_optimal_task import audited
    from models.splitting.generator import generate

    instance = generate(
        parameters["nodes"],
        parameters["jobs"],
        gamma=parameters["gamma"],
        models=parameters["models"],
        seed=seed,
    ).instance
    outcome, _ = audited(instance, "ilp", time_limit=parameters["time_limit"])
    routing = outcome.solution
    whole = sum(len(set(job.nodes)) == 1 for job in routing.jobs)
    return {
        "objective": routing.objective,
        "status": outcome.log.status,
        "whole": 100 * whole / len(routing.jobs),
        "split": len(routing.jobs) - whole,
        "loops": sum(job.source == job.destination for job in instance.jobs),
        "programs": outcome.counters["mips"] + outcome.counters["lps"],
    }


def shown_seed(rows: pandas.DataFrame) -> int:
    """Return the first seed with a split job and one that ends where it begins, else the first."""
    telling = rows[(rows["split"] > 0) & (rows["loops"] > 0)]
    return int((telling if len(telling) else rows)["seed"].min())


def judge(rows: pandas.DataFrame) -> Verdict:
    """Judge "most jobs are computed at a single node, a few are split"."""
    table = rows.set_index("seed")["whole"]
    (found,) = compare([("jobs at one node [%]", table)])
    text = (
        f"{found}; {int(rows['split'].sum())} jobs are split, in {int((rows['split'] > 0).sum())} "
        f"of {len(rows)} instances."
    )
    status: Status = "not-reproduced"
    if found.low > HALF:
        status = "reproduced" if found.high < 2 * HALF else "partly"
    return verdict_of(table.to_frame(), text, status, found)


EXAMPLE = Experiment(
    name="splitting/example",
    revision=1,
    summary="20 nodes, 5 jobs: network, layered graph, paths in it and mapped back",
    paper="arXiv 2111.07006, Fig. 4: an example",
    grid=grid,
    task=task,
    figure="experiments.splitting.example_drawing:draw",
    claims=(
        Claim(
            "example",
            "Most jobs are computed at a single node; a few are split.",
            "share of jobs whose layers are all computed at one node, one value per seed, t "
            "interval; reproduced if it is surely above one half and below all, partly if above "
            "one half only",
            judge,
        ),
    ),
    metrics={
        "objective": "total service time [s]",
        "whole": "jobs computed at one node [%]",
        "split": "jobs computed at several nodes",
        "loops": "jobs whose source is their destination",
    },
    cost="programs",
    policies=("ilp",),
    seeds=20,
    expected_seconds=40.0,
    quick_seconds=3.0,
)
