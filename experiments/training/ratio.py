"""training/ratio: PD-ORS against the offline optimum on small instances, real arrivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.declaration import Claim, Experiment

__all__ = ["BAND", "RATIO", "grid"]

BAND = (1.0, 1.4)
"""The range in which the paper's figure has its ratios."""

SLOTS = 10
MACHINES = 4
TIME_LIMIT = 3.0


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """I = 2..10 jobs; T = 10 slots, H = 4 machines (the paper does not state H)."""
    jobs = (2, 4, 6, 8, 10) if quick else range(2, 11)
    return [
        {
            "jobs": number,
            "slots": SLOTS,
            "machines": MACHINES,
            "preset": "calibrated",
            "time_limit": TIME_LIMIT,
        }
        for number in jobs
    ]


RATIO = Experiment(
    name="training/ratio",
    revision=2,
    summary="offline optimum / PD-ORS over the number of jobs, arrivals of the Google trace",
    paper="arXiv 2108.02917, competitive ratio of PD-ORS: between 1.0 and 1.4 for I, T <= 10",
    grid=grid,
    task="experiments.training.ratio_task:task",
    figure="experiments.training.ratio_figure:draw",
    claims=(
        Claim(
            id="ratio",
            statement="The ratio of PD-ORS lies between 1.0 and 1.4.",
            statistic="share of instances whose ratio is in the band, exact binomial 95 % "
            "interval; reproduced if its lower end is at least 95 %, partly if the median ratio "
            "is in the band",
            judge="experiments.training.ratio_verdict:judge",
        ),
    ),
    metrics={
        "possible": "jobs that some schedule completes alone",
        "impossible": "jobs of the instance that no schedule completes alone (D5)",
        "redraws": "jobs redrawn by the generator because they were impossible",
        "online": "total utility of PD-ORS",
        "lower": "total utility of the best schedule known",
        "upper": "proved upper bound of the offline optimum",
        "status": "optimal (lower = upper, proved) or bounded",
        "kind": "proven, interval, empty (OPT = 0) or infinite (PD-ORS = 0 < OPT)",
        "ratio_low": "lower / online",
        "ratio_high": "upper / online",
        "theory": "the bound of Theorem 5: 6 G / delta * max(1, ln U/L), G = 1, delta = 0.1",
        "dual": "dual certificate D >= OPT from PD-ORS's final prices",
        "completed": "jobs that PD-ORS completes",
        "lps_solved": "slot programs that PD-ORS solved",
    },
    cost="lps_solved",
    policies=("pdors",),
    options=("arrivals",),
    check="experiments.training.instances:check_arrivals",
    seeds=20,
    quick_seeds=4,
    expected_seconds=400.0,
    quick_seconds=60.0,
)
