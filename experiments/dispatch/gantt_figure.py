"""dispatch/gantt: one plan of PRB, a lane per node, and its power under the cap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.declaration import Claim, Context, Experiment, Verdict

if TYPE_CHECKING:
    import pandas

    from models.dispatch import DispatchInstance, DispatchSchedule

__all__ = ["GANTT"]

POINT: dict[str, Any] = {"nodes": 16, "jobs": 40, "cap": "35%", "policy": "prb"}
SHOWN = 0  # the seed whose plan is drawn
LEAST_SEEDS = 20


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """Return the one point."""
    return [POINT]


def _planned(point: Mapping[str, Any], seed: int) -> tuple[DispatchInstance, DispatchSchedule]:
    from algorithms.dispatch import run
    from models.dispatch.generator import generate

    instance = generate(point["nodes"], point["jobs"], cap=point["cap"], seed=seed).instance
    return instance, run(instance, point["policy"], seed=seed).solution


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return what the audit says of one plan."""
    from models.dispatch import audit

    instance, schedule = _planned(parameters, seed)
    report = audit(instance, schedule)
    assert instance.power_cap is not None
    return {
        "queue_time": report.objective,
        "peak": report.peak_power,
        "cap_watts": instance.power_cap,
        "violations": len(report.violations),
        "started": sum(job.start is not None for job in schedule.jobs),
    }


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the plan of seed 0 to `destination`, and the rows beside it."""
    from experiments.captions import write_table
    from experiments.dispatch.gantt import plot_schedule

    write_table(rows, destination)
    plot_schedule(*_planned(POINT, SHOWN), destination)


def judge(rows: pandas.DataFrame) -> Verdict:
    """Judge "power stays under the cap, and much of it is used"."""
    n = len(rows)
    under = int((rows["violations"] == 0).sum())
    share = 100 * rows["peak"] / rows["cap_watts"]
    text = (
        f"{under} of {n} plans have no violation; peak power is {share.min():.3g}-"
        f"{share.max():.3g} % of the cap. n = {n} seeds."
    )
    numbers = {"n": n, "estimate": under / n, "low": under / n, "high": under / n}
    if n < LEAST_SEEDS:
        return Verdict(f"Not judged below {LEAST_SEEDS} seeds. {text}", "not-run", numbers)
    return Verdict(text, "reproduced" if under == n else "not-reproduced", numbers)


GANTT = Experiment(
    name="dispatch/gantt",
    revision=1,
    summary="a plan of PRB: a lane per node, and the power under the cap",
    paper="thesis (Bologna 2017), chapter 5: constraints of the model; our picture",
    grid=grid,
    task=task,
    figure=draw,
    claims=(
        Claim(
            "gantt",
            "PRB keeps capacities and the power cap at every time.",
            "audit of every plan; reproduced if none has a violation",
            judge,
        ),
    ),
    metrics={
        "queue_time": "weighted queue time (5.2) [s]",
        "peak": "largest power [W]",
        "violations": "violations that the audit finds",
    },
    cost="started",
    policies=("prb",),
    seeds=20,
    expected_seconds=5.0,
    quick_seconds=2.0,
)
