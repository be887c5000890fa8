"""One solve of Dorm's utilisation program: from the jobs that are present to their numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.training.baselines.drf import fill_fairly
from algorithms.training.placement import Cluster
from models.solver import Result, SolverError, Status, solve_model
from models.training.dorm_program import build_dorm_program
from models.training.throughput import ceil_count

__all__ = ["FAIR", "DormPlan"]

FAIR = "fair"


class DormPlan:
    """Numbers of workers for the present jobs, by the program or, failing that, fair ones.

    Fair are the numbers of progressive filling, with all machines pooled. They satisfy all rows
    but the adjustment limit, so that without it there is always a solution.

    Parameters
    ----------
    pool : Cluster
        One machine with all resources; it is cleared.
    jobs : list of int
        At least one; each needs some resource.
    before : dict of job index to int
        Workers of those that were present before.
    fairness, adjustment : float
        theta1 and theta2.
    gap : float
    node_limit : int

    Attributes
    ----------
    numbers : dict of job index to int
        The planned workers.
    status : str
        How the program ended; "fair" if it gave no solution.
    utilisation : float
        Sum over the resources of the part that the plan uses.
    fairness_loss : float
    fairness_limit, adjustment_limit : int
    changed : int
        Jobs of `before` whose number the plan changes.
    relaxed : bool
        Whether the adjustment limit was dropped, because no solution kept it.
    solved : int
        Programs solved.
    """

    def __init__(
        self,
        pool: Cluster,
        jobs: list[int],
        before: dict[int, int],
        *,
        fairness: float,
        adjustment: float,
        gap: float,
        node_limit: int,
    ) -> None:
        self._pool, self._jobs, self._before = pool, jobs, before
        self._gap, self._node_limit = gap, node_limit
        self._worker_share, self._ps_share = pool.worker_share[jobs], pool.ps_share[jobs]
        self._gamma = np.array([pool.instance.jobs[i].workers_per_ps for i in jobs])
        # The resource of which a worker with its part of a PS needs the largest share.
        self._dominant = np.argmax(
            self._gamma[:, None] * self._worker_share + self._ps_share, axis=1
        )
        self.fairness_limit = ceil_count(2 * self._worker_share.shape[1] * fairness)
        self.adjustment_limit = ceil_count(adjustment * len(before))
        pool.clear()
        fill_fairly(pool, jobs)
        fair = [pool.worker_count[i] for i in jobs]
        self._fair_share = self._dominant_share(self._use(fair))
        self.relaxed, self.solved = False, 0
        planned = self._solve(fair)
        use = self._use(planned)
        self.numbers = dict(zip(jobs, planned, strict=True))
        self.utilisation = float(use.sum())
        self.fairness_loss = float(np.abs(self._dominant_share(use) - self._fair_share).sum())
        self.changed = sum(self.numbers[i] != count for i, count in before.items())

    def _solve(self, fair: list[int]) -> list[int]:
        try:
            result, columns = self._program(self.adjustment_limit)
            if result.status is Status.INFEASIBLE:
                self.relaxed = True
                result, columns = self._program(None)
        except SolverError:  # numbers too large or too far apart for the solver
            self.status = FAIR
            return fair
        self.status = str(result.status) if result.has_solution else FAIR
        if not result.has_solution:
            return fair
        return [round(value) for value in result.value(columns)]

    def _program(self, adjustment_limit: int | None) -> tuple[Result, NDArray[np.int32]]:
        """Solve the program; also return the columns of the workers."""
        self.solved += 1
        jobs = [self._pool.instance.jobs[i] for i in self._jobs]
        most = [self._pool.most_workers[i] for i in self._jobs]
        model = build_dorm_program(
            worker_share=self._worker_share,
            ps_share=self._ps_share,
            workers_per_ps=self._gamma,
            most_workers=most,
            most_ps=[job.ps_for(count) for job, count in zip(jobs, most, strict=True)],
            dominant=self._dominant,
            fair_share=self._fair_share,
            fairness_limit=self.fairness_limit,
            before={k: self._before[i] for k, i in enumerate(self._jobs) if i in self._before},
            adjustment_limit=adjustment_limit,
        )
        result = solve_model(model, mip_gap=self._gap, node_limit=self._node_limit)
        assert result.compiled is not None
        return result, result.compiled.columns(model.workers)

    def _use(self, workers: list[int]) -> NDArray[np.float64]:
        """Part of each resource that each job uses, shape (jobs, resources)."""
        jobs = self._pool.instance.jobs
        ps = [jobs[i].ps_for(count) for i, count in zip(self._jobs, workers, strict=True)]
        return (
            np.array(workers)[:, None] * self._worker_share + np.array(ps)[:, None] * self._ps_share
        )

    def _dominant_share(self, use: NDArray[np.float64]) -> NDArray[np.float64]:
        return use[np.arange(len(use)), self._dominant]
