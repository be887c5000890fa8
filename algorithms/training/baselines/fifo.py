"""FIFO, as in Hadoop and Spark: gangs of a fixed size, started in the order of arrival."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.outcome import WAITING_COUNTERS, BaselineLog, baseline_run
from algorithms.training.placement import Cluster
from algorithms.training.simulation import Slot, simulate
from models.training import TrainingInstance

__all__ = ["FIFO", "FifoParameters", "run_fifo"]


class FifoParameters(Parameters):
    """Parameters of FIFO."""

    strict: Annotated[
        bool, Field(description="nobody passes the first waiting job (head-of-line blocking)")
    ] = True
    most_workers: Annotated[
        int,
        Field(
            ge=1, le=10**15, description="a job's fixed number of workers is drawn from 1 to this"
        ),
    ] = 30


def run_fifo(instance: TrainingInstance, parameters: FifoParameters, seed: int) -> Run:
    """Start jobs in the order of arrival, each with a fixed number of workers until it is done.

    A job starts with all its workers and parameter servers (PSs), or waits. It keeps them until
    it is done or the horizon ends.

    Parameters
    ----------
    instance : TrainingInstance
    parameters : FifoParameters
    seed : int
        Each job draws its number of workers from a stream of its own.

    Returns
    -------
    Run
        The schedule and a `BaselineLog`.

    References
    ----------
    arXiv 2108.02917, section "Numerical Results", baseline (1).
    """
    scheduler = _Fifo(instance, parameters, seed)
    placements, outcomes = simulate(instance, scheduler)
    counters = {"gangs_lowered": scheduler.lowered}
    return baseline_run(FIFO.name, BaselineLog(instance, outcomes, placements), counters)


class _Fifo:
    def __init__(self, instance: TrainingInstance, parameters: FifoParameters, seed: int) -> None:
        self.instance = instance
        self.strict = parameters.strict
        self.cluster = Cluster(instance)
        self.lowered = 0
        empty = Cluster(instance)
        self.gang = {
            i: self._gang_size(empty, i, self._draw(seed, i, parameters.most_workers))
            for i in instance.possible_jobs
        }

    @staticmethod
    def _draw(seed: int, i: int, most: int) -> int:
        stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, i])))
        return int(stream.integers(1, most, endpoint=True))

    def _gang_size(self, empty: Cluster, i: int, drawn: int) -> int:
        """Lower the number until round-robin can place the gang on the empty cluster.

        One worker and its PSs always can, since the job is possible.
        """
        size = min(drawn, empty.most_workers[i])
        while True:
            empty.pointer = 0
            if empty.add_gang(i, size):
                empty.release(i)
                self.lowered += size < drawn
                return size
            size -= 1

    def decide(self, slot: Slot) -> dict[int, str]:
        """Start waiting jobs while they fit; the first that does not blocks those behind it."""
        causes: dict[int, str] = {}
        head: str | None = None
        for i in slot.jobs:
            if self.cluster.worker_count[i]:
                continue
            if head is not None:
                causes[i] = f"behind {head}"
            elif not self._start(i):
                size, name = self.gang[i], self.instance.jobs[i].name
                causes[i] = f"no room for {size} workers and their parameter servers at once"
                if self.strict:
                    head = name
        return causes

    def _start(self, i: int) -> bool:
        if self.cluster.add_gang(i, self.gang[i]):
            return True
        if any(self.cluster.worker_count):
            return False
        # The gang's size was found from the first machine on: there it fits the empty cluster.
        self.cluster.pointer = 0
        return self.cluster.add_gang(i, self.gang[i])


FIFO = Policy(
    name="fifo",
    summary="order of arrival, a fixed random number of workers per job, all or nothing",
    parameters=FifoParameters,
    run=run_fifo,
    counters={
        **WAITING_COUNTERS,
        "gangs_lowered": "jobs whose drawn number of workers exceeded batch size or cluster",
    },
)
