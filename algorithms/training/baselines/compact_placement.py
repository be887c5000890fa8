"""Placing a job's workers and parameter servers (PSs) on few machines, as Optimus does."""

from __future__ import annotations

import numpy as np

from algorithms.training.exact.list_scheduling import colocated_workers
from algorithms.training.placement import Cluster

__all__ = ["place_compactly"]


def place_compactly(cluster: Cluster, i: int, workers: int) -> int:
    """Place up to so many workers of a job, and their PSs, on few machines.

    The machine that just holds all that is left; where none does, the one that holds the most,
    and so on. What no machine holds together is placed by round-robin, the worker here and its
    PS there.

    Parameters
    ----------
    cluster : Cluster
        Without workers of the job.
    i : int
    workers : int

    Returns
    -------
    int
        Workers placed.
    """
    instance = cluster.instance
    job, alpha, beta = instance.jobs[i], instance.worker_demand[i], instance.ps_demand[i]
    # Machines on which the job has PSs with spare workers hold a little more than this.
    alone = colocated_workers(job, alpha, beta, np.maximum(cluster.room, 0.0))
    while cluster.worker_count[i] < workers:
        left = workers - cluster.worker_count[i]
        enough = np.flatnonzero(alone >= left)
        tightest = enough[np.argmin(alone[enough])] if enough.size else np.argmax(alone)
        if alone[tightest] == 0:
            break
        _fill_machine(cluster, i, int(tightest), left)
        alone[tightest] = 0
    while cluster.worker_count[i] < workers and cluster.add_bundle(i, workers):
        pass
    return cluster.worker_count[i]


def _fill_machine(cluster: Cluster, i: int, machine: int, at_most: int) -> None:
    """Place as many workers as fit on a machine with the PSs that D2 then requires."""
    instance = cluster.instance
    job = instance.jobs[i]
    count = cluster.worker_count[i]

    def ps_for(workers: int) -> int:
        return max(job.ps_for(count + workers) - cluster.ps_count[i], 0)

    low, high = 0, at_most
    while low < high:  # what fits with some workers also fits with fewer
        workers = (low + high + 1) // 2
        use = workers * instance.worker_demand[i] + ps_for(workers) * instance.ps_demand[i]
        if bool((use <= cluster.room[machine]).all()):  # the tolerance is in the room already
            low = workers
        else:
            high = workers - 1
    cluster.put(i, machine, low, ps_for(low))
