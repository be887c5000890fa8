"""A first interval of the least largest completion, in milliseconds and of any size.

The upper end is the better of the greedy and NFS. The lower end is the larger of two bounds: no
job completes before it would with the highest priority; and all work must fit on the nodes.
"""

from __future__ import annotations

import numpy as np

from algorithms.splitting.exact.answer import Answer, interval
from algorithms.splitting.greedy import GreedyParameters, run_greedy
from algorithms.splitting.nfs import NfsParameters, run_nfs
from algorithms.splitting.single.label_setting import ExactRouter
from models.splitting import Queues, SplittingInstance, routes_of
from models.splitting.reach import usable_nodes

__all__ = ["first_interval", "load_bound"]

EXACT = 1e-11  # relative error of a best route's time, and of sums of work


def first_interval(instance: SplittingInstance) -> Answer:
    """Bound the least largest completion time.

    Parameters
    ----------
    instance : SplittingInstance

    Returns
    -------
    Answer
        With routes and order.

    Raises
    ------
    NoSolution
        Naming the first job without a route.
    """
    routings = [
        run_greedy(instance, GreedyParameters(), 0).solution,
        run_nfs(instance, NfsParameters(), 0).solution,
    ]
    best = min(routings, key=lambda routing: routing.objective)
    router, queues = ExactRouter(instance), Queues.initial(instance)
    alone = [router.route(job, queues) for job in range(instance.number_of_jobs)]
    longest = max((found.seconds for found in alone if found is not None), default=0.0)
    lower = max(longest, load_bound(instance)) * (1 - EXACT)
    places = {job.name: job.priority or 0 for job in best.jobs}
    order = sorted(range(instance.number_of_jobs), key=lambda j: places[instance.jobs[j].name])
    return interval(lower, best.objective, routes_of(instance, best), order, counters={"mips": 0})


def load_bound(instance: SplittingInstance) -> float:
    r"""Bound the largest completion by what the nodes can compute until then [s].

    The last job at a node waits for its queue and for the work of all others there, so a node
    with any work :math:`w_u` has :math:`C \ge (Q_u + w_u) / \mu_u`. Hence all work together is at
    most :math:`\sum_u \max(0, \mu_u C - Q_u)` over the nodes that some job can use; the bound is
    the least such C.
    """
    usable = usable_nodes(instance).any(axis=0)
    rate, queue = instance.node_rate[usable], instance.node_queue[usable]
    work = float(sum(job.compute.sum() for job in instance.jobs))
    if work == 0 or not rate.size or np.isinf(rate).any():
        return 0.0
    order = np.argsort(queue / rate, kind="stable")  # as C grows, nodes begin to help in this order
    rates, queues = np.cumsum(rate[order]), np.cumsum(queue[order])
    levels = (work + queues) / rates  # C if just the first k nodes help; too large if more do
    return float(levels.min())
