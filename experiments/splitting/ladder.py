"""splitting/ladder: the instances on which the greedy is worst, over the number of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.judging import status_of

if TYPE_CHECKING:
    import pandas

__all__ = ["LADDER", "predicted"]

EPSILON = 0.125
SOLVED = 5  # jobs up to which OPT is asked too
EXACT = 1e-9


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """J; nothing is drawn, so one seed is all there is."""
    sizes = (2, 3) if quick else (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
    return [
        {"jobs": jobs, "epsilon": EPSILON, "time_limit": 5.0 if jobs <= SOLVED else 0.0}
        for jobs in sizes
    ]


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Run the greedy and NFS, and share the fast rungs; ask OPT too where there are few jobs.

    Raises
    ------
    AssertionError
        If a routing fails the audit.
    """
    from algorithms.splitting.single.per_visit import PerVisitRouter
    from experiments.splitting.greedy_optimal_task import audited
    from models.splitting import Queues, SplittingInstance, audit, build_routing
    from models.splitting.ladder import ladder

    del seed
    jobs = parameters["jobs"]
    instance = ladder(jobs, parameters["epsilon"])
    routes = []
    for k in range(jobs):
        # Without its own rung a job has only the faster ones; job 1 has no others.
        links = tuple(
            link.model_copy(update={"rate": 0.0}) if k and link.name == f"r{k + 1}" else link
            for link in instance.links
        )
        without = SplittingInstance(nodes=instance.nodes, links=links, jobs=instance.jobs)
        found = PerVisitRouter(without).route(k, Queues.initial(without))
        assert found is not None
        routes.append(found.route)
    orders = [list(range(jobs)), list(range(jobs))[::-1]]
    shared = min(
        (build_routing(instance, "shared rungs", routes, order) for order in orders),
        key=lambda routing: routing.objective,
    )
    report = audit(instance, shared)
    if not report.feasible:
        raise AssertionError(f"shared rungs: {report.violations[0]}")
    greedy, _ = audited(instance, "greedy")
    nfs, _ = audited(instance, "nfs")
    row = {
        "greedy": greedy.solution.objective,
        "nfs": nfs.solution.objective,
        "shared": shared.objective,
        "opt": None,
        "opt_lower": None,
        "evaluations": greedy.counters["evaluations"],
    }
    if parameters["time_limit"]:
        opt, _ = audited(instance, "optimal", time_limit=parameters["time_limit"])
        row |= {"opt": opt.log.upper, "opt_lower": opt.log.lower}
    known = min(value for value in (row["shared"], row["opt"], row["nfs"]) if value is not None)
    return {**row, "ratio": row["greedy"] / min(known, row["greedy"])}


def predicted(jobs: float, epsilon: float = EPSILON) -> float:
    """Return what the construction promises: the greedy at 2^(J-1) (1 - eps), others at most J."""
    return float(2 ** (jobs - 1) * (1 - epsilon) / jobs)


def judge(rows: pandas.DataFrame) -> Verdict:
    """Judge "the greedy is about 2^(J-1) over at most J"; every J is exact."""
    table = rows.sort_values("jobs")
    held = [
        abs(row.greedy / (2 ** (row.jobs - 1) * (1 - row.epsilon)) - 1) <= EXACT
        and row.shared <= row.jobs * (1 + EXACT)
        for row in table.itertuples()
    ]
    said = ", ".join(f"J={row.jobs}: {row.ratio:.4g}" for row in table.itertuples())
    last = float(table["ratio"].iloc[-1])
    text = (
        f"The greedy ends at 2^(J-1) (1 - eps) and sharing the fast rungs by J seconds at "
        f"{sum(held)} of {len(held)} values of J. Greedy over the best known: {said}. n = "
        f"{len(held)} instances, nothing drawn."
    )
    numbers = {"n": len(held), "estimate": last, "low": last, "high": last}
    status = status_of(int(all(held)), 1)
    return Verdict(text, status, numbers)


LADDER = Experiment(
    name="splitting/ladder",
    revision=1,
    summary="the ladder: greedy, NFS, OPT and the shared rungs over the number of jobs",
    paper="ours: no bound polynomial in |V| and |E| holds for the greedy of arXiv 2111.07006",
    grid=grid,
    task=task,
    figure="experiments.splitting.ladder_drawing:draw",
    claims=(
        Claim(
            "ladder",
            "(Ours) With finite links the greedy can be about 2^(J-1) over an optimum of at most "
            "J.",
            "the greedy's completion equals 2^(J-1) (1 - eps) and the shared rungs end within J "
            "seconds, both within 1e-9; reproduced if so at every J; estimate: greedy over the "
            "best known at the largest J",
            judge,
        ),
    ),
    metrics={
        "greedy": "largest completion of the greedy [s]",
        "nfs": "the same of NFS [s]",
        "shared": "the same when all jobs but the first share the faster rungs [s]",
        "ratio": "greedy over the best known",
    },
    cost="evaluations",
    policies=("greedy", "nfs", "optimal"),
    seeds=1,
    quick_seeds=1,
    expected_seconds=20.0,
    quick_seconds=3.0,
)
