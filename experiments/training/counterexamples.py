"""Three small instances in which a step of the proof of Theorems 5 and 6 breaks, and why.

``bargain``: the first job is worth next to nothing and takes the whole machine. The machine is
empty, so its price is L and the job pays; the price then jumps from L to U, and the second job,
worth a million times as much, finds no room. No rounding is involved. The proof takes every job's
share of a machine to be so small that the price hardly moves (its differential step); then the
first job would have met rising prices on the way. In an instance drawn from the Google arrivals
(`calibrated`, T = 10, H = 4, I = 7..9, seed 12) the same happens: a job worth 0.098 takes all four
machines for eight slots, and 1612 to 2775 times its worth is lost, beyond the bound of 1218 to
1260.

``no-draw``: three machines with room for 1.5 workers each, and a job that needs three at once. The
LP takes 1.5 + 1.5; rounded up that does not fit, rounded down it is two workers. So no draw can
be feasible, though one worker on each machine is. The job is rejected with lambda = 0, D stays at
D_0 <= OPT/2, and D >= OPT is false.

``worker-only``: a machine that is full costs U^r, which should keep every job out. But U^r is the
utility per worker and PS together: a worker alone on the full machine, with its PS on another,
costs half of what the job is worth. The job has a positive payoff at the final prices, so that
the dual wants lambda > 0; it is rejected for lack of room, with lambda = 0.
"""

from __future__ import annotations

from typing import Any

from experiments.training.points import ENGINE_OF_ROWS
from models.training import Job, Machine, SigmoidUtility, TrainingInstance

__all__ = ["EXAMPLES", "bargain", "example_row", "no_draw", "worker_only"]


def bargain() -> TrainingInstance:
    """One machine, one slot, and a worthless job that comes first."""
    return _instance([_job("worthless", 2e-4), _job("dear", 200.0)], capacities=[2.0])


def no_draw() -> TrainingInstance:
    """A job whose LP optimum has no feasible rounding."""
    job = _job("three-workers", 20.0, samples=3, batch=3, ps={}, workers_per_ps=3.0)
    return _instance([job], capacities=[1.5, 1.5, 1.5])


def worker_only() -> TrainingInstance:
    """Two equal jobs and room for one of them, spread so that the other fits by price alone."""
    return _instance([_job("first", 20.0), _job("second", 20.0)], capacities=[2.0, 1.0])


EXAMPLES = {"bargain": bargain, "no-draw": no_draw, "worker-only": worker_only}


def example_row(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return what PD-ORS does on an example, what is possible, and what the theorems promise."""
    from algorithms.training import run
    from algorithms.training.exact.optimum import optimum
    from algorithms.training.pdors.pdors import COVER_ROWS
    from algorithms.training.pdors.rounding import gain_favouring_cover
    from algorithms.training.theory.allocation_cost import job_steps
    from algorithms.training.theory.certificate import dual_certificate
    from algorithms.training.theory.proof_gaps import payoff_on_empty_cluster

    delta = parameters["delta"]
    instance = EXAMPLES[parameters["example"]]()
    online = run(instance, "pdors", seed=seed, engine=ENGINE_OF_ROWS)
    best = optimum(instance, start=online.solution, seed=seed)
    epsilon = online.log.prices.bounds.largest_log_ratio
    log_prices = online.log.log_prices()
    steps = list(job_steps(online.log, delta / 3))
    return {
        "evaluations": online.counters["lps_solved"],
        "opt_lower": best.lower,
        "opt_upper": best.upper,
        "online": online.solution.objective,
        "epsilon": epsilon,
        "gain_cover": gain_favouring_cover(COVER_ROWS, 1.0, delta),
        "bound": 6 / delta * epsilon,
        "dual_of_paper": dual_certificate(online.solution, online.log).dual_of_paper,
        "steps_failing": sum(s.primal < delta / 3 / epsilon * s.dual for s in steps),
        "unpriced": sum(
            payoff_on_empty_cluster(instance, decision.job, log_prices) > 1e-9
            for decision in online.log.decisions
            if decision.reason is not None
        ),
    }


def _job(name: str, priority: float, **changes: Any) -> Job:
    """A job of one slot: a worker and a PS of one cpu each, worth half its priority whenever."""
    fields: dict[str, Any] = {
        "name": name,
        "arrival": 0,
        "epochs": 1,
        "samples": 1,
        "batch": 1,
        "gradient": 0.0,
        "sample_time": 1.0,
        "workers_per_ps": 1.0,
        "bandwidth_internal": 1.0,
        "bandwidth_external": 1.0,
        "worker": {"cpu": 1.0},
        "ps": {"cpu": 1.0},
        "utility": SigmoidUtility(kind="sigmoid", priority=priority, decay=0.0, target=1.0),
    }
    return Job(**{**fields, **changes})


def _instance(jobs: list[Job], capacities: list[float]) -> TrainingInstance:
    machines = tuple(
        Machine(name=f"m{h}", capacity={"cpu": amount}) for h, amount in enumerate(capacities)
    )
    return TrainingInstance(slots=1, resources=("cpu",), machines=machines, jobs=tuple(jobs))
