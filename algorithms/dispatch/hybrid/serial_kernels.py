"""Compiled: the node-exact serial decoder, and the local search over orders of jobs around it.

The decoder takes jobs in a given order and starts each at the earliest time at which it fits beside
those before it until its end: on single nodes and under the cap. Two levels make it fast. A profile
of power and pooled resources over time skips most times at once; only at the others are nodes
looked at, whose units hang in one stack per node. Jobs leave in reverse order, so that after a
change of the order everything before the change stays as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from algorithms.compiled import compiled

__all__ = ["FIRST", "FULLEST", "SerialProblem", "SerialState", "decode", "improve", "misplaced"]

FULLEST, FIRST = 0, 1
"""Which of the nodes that fit: the fullest one while the job runs, or the first in the file."""


class SerialProblem(NamedTuple):
    """What the decoder reads.

    Attributes
    ----------
    limit, inverse : float array, shape (N, R)
        Largest use of a node, and 1 / capacity (0 where there is none).
    pool : float array, shape (C,)
        Largest use of all nodes together, and of power above idle, which comes last; resources
        that will hardly bind may be left out, for the nodes are looked at anyway.
    demand : float array, shape (J, C)
        Of whole jobs.
    submit, duration : int array, shape (J,)
    weight : float array, shape (J,)
    unit_first : int array, shape (J + 1,)
    unit_job : int array, shape (U,)
    unit_demand : float array, shape (U, R)
    packed : int array, shape (U,)
        Nodes on the empty system, for jobs that the decoder's order of nodes misplaces.
    rule : int
        `FULLEST` or `FIRST`.
    """

    limit: Any
    inverse: Any
    pool: Any
    demand: Any
    submit: Any
    duration: Any
    weight: Any
    unit_first: Any
    unit_job: Any
    unit_demand: Any
    packed: Any
    rule: int


class SerialState(NamedTuple):
    """Jobs placed so far: the profile `use` over `times`, and a stack of units per node.

    `users` counts the starts and ends at each time; `size` holds the number of times; `top` and
    `below` are the stacks; `start` is -1 and `node` stale where a job is not placed.
    """

    times: Any
    use: Any
    users: Any
    size: Any
    top: Any
    below: Any
    start: Any
    node: Any


@compiled
def new_state(problem: Any) -> Any:
    """Return the state without a job."""
    jobs, columns = problem.demand.shape
    state = SerialState(
        np.zeros(2 * jobs + 2, np.int64),
        np.zeros((2 * jobs + 2, columns)),
        np.zeros(2 * jobs + 2, np.int64),
        np.ones(1, np.int64),
        np.full(problem.limit.shape[0], -1, np.int64),
        np.full(len(problem.unit_job), -1, np.int64),
        np.full(jobs, -1, np.int64),
        np.full(len(problem.unit_job), -1, np.int64),
    )
    state.users[0] = 1  # time 0 stays
    return state


@compiled
def _interval(times: Any, size: int, time: int) -> int:
    """Index of the last time of the profile that is not after this one."""
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@compiled
def _split(times: Any, use: Any, users: Any, size: Any, time: int) -> int:
    """Index of this time in the profile, which is put in if it is not there."""
    k = _interval(times, size[0], time)
    if times[k] != time:
        k += 1
        for i in range(size[0], k, -1):
            times[i] = times[i - 1]
            users[i] = users[i - 1]
            for c in range(use.shape[1]):
                use[i, c] = use[i - 1, c]
        times[k] = time
        users[k] = 0
        for c in range(use.shape[1]):
            use[k, c] = use[k - 1, c]
        size[0] += 1
    users[k] += 1
    return k


@compiled
def _merge(times: Any, use: Any, users: Any, size: Any, k: int) -> None:
    """Give up one use of a time of the profile, and the time with its last use."""
    users[k] -= 1
    if users[k]:
        return
    size[0] -= 1
    for i in range(k, size[0]):
        times[i] = times[i + 1]
        users[i] = users[i + 1]
        for c in range(use.shape[1]):
            use[i, c] = use[i + 1, c]


@compiled
def _book(state: Any, needs: Any, begin: int, end: int) -> None:
    """Enter a job into the profile."""
    times, use, users, size = state.times, state.use, state.users, state.size
    first = _split(times, use, users, size, begin)
    last = _split(times, use, users, size, end)
    for k in range(first, last):
        for c in range(len(needs)):
            use[k, c] += needs[c]


@compiled
def _unbook(state: Any, needs: Any, begin: int, end: int) -> None:
    """Take a job out of the profile."""
    times, use, users, size = state.times, state.use, state.users, state.size
    first = _interval(times, size[0], begin)
    last = _interval(times, size[0], end)
    for k in range(first, last):
        for c in range(len(needs)):
            use[k, c] -= needs[c]
    _merge(times, use, users, size, last)
    _merge(times, use, users, size, first)


@compiled
def _pooled_start(
    times: Any, use: Any, size: int, pool: Any, needs: Any, begin: int, duration: int
) -> int:
    """Earliest time, from `begin`, at which the pooled resources and the power are enough."""
    k = _interval(times, size, begin)
    end = begin + duration
    while k < size and times[k] < end:
        for c in range(len(pool)):
            if use[k, c] + needs[c] > pool[c]:
                if k + 1 < size:  # else nothing runs: a trace of rounding
                    begin = times[k + 1]
                    end = begin + duration
                break
        k += 1
    return begin


@compiled
def _fits_at(
    limit: Any,
    unit_demand: Any,
    unit_job: Any,
    duration: Any,
    start: Any,
    below: Any,
    top: int,
    u: int,
    moment: int,
    total: Any,
) -> bool:
    """Whether unit u fits on the node with this stack beside its units that run at a moment."""
    for r in range(len(limit)):
        total[r] = unit_demand[u, r]
    v = top
    while v >= 0:
        i = unit_job[v]
        # Its fellows, whose stacks are complete up to here, run whenever it runs.
        if i == unit_job[u] or start[i] <= moment < start[i] + duration[i]:
            for r in range(len(limit)):
                total[r] += unit_demand[v, r]
        v = below[v]
    fits = True
    for r in range(len(limit)):
        fits = fits and total[r] <= limit[r]
    return fits


@compiled
def _choose_node(problem: Any, state: Any, u: int, begin: int, end: int, total: Any) -> int:
    """Node for unit u from begin to end, -1 if there is none."""
    limit, inverse, unit_demand = problem.limit, problem.inverse, problem.unit_demand
    unit_job, duration, rule = problem.unit_job, problem.duration, problem.rule
    start, below, top = state.start, state.below, state.top
    best, best_score = -1, -1.0
    nodes, resources = limit.shape
    for n in range(nodes):
        fits = True
        for r in range(resources):
            total[r] = unit_demand[u, r]
            if total[r] > limit[n, r]:
                fits = False
                break
        if not fits:
            continue
        together = True  # whether all the others run at `begin`
        v = top[n]
        while v >= 0:
            i = unit_job[v]
            if start[i] < end and start[i] + duration[i] > begin:
                together = together and start[i] <= begin
                for r in range(resources):
                    total[r] += unit_demand[v, r]
            v = below[v]
        score = 0.0
        for r in range(resources):
            score += total[r] * inverse[n, r]
            if total[r] > limit[n, r]:
                fits = False
        if score <= best_score:
            continue
        if not fits and not together:
            # Room enough at `begin`, and whenever another unit begins.
            fits = _fits_at(
                limit[n], unit_demand, unit_job, duration, start, below, top[n], u, begin, total
            )
            v = top[n]
            while fits and v >= 0:
                moment = start[unit_job[v]]
                if begin < moment < end:
                    fits = _fits_at(
                        limit[n],
                        unit_demand,
                        unit_job,
                        duration,
                        start,
                        below,
                        top[n],
                        u,
                        moment,
                        total,
                    )
                v = below[v]
        if fits:
            if rule == FIRST:
                return n
            best, best_score = n, score
    return best


@compiled
def _wake(problem: Any, state: Any, u: int, begin: int, total: Any) -> int:
    """A time after `begin` before which unit u fits on no node, or `begin` if nothing runs."""
    limit, unit_demand = problem.limit, problem.unit_demand
    unit_job, duration = problem.unit_job, problem.duration
    start, below, top = state.start, state.below, state.top
    wake = state.times[state.size[0] - 1]
    for n in range(limit.shape[0]):
        alone = True
        for r in range(limit.shape[1]):
            if unit_demand[u, r] > limit[n, r]:
                alone = False
        # Some unit of the node ends first, and then there must be room at that moment.
        v = top[n] if alone else -1
        while v >= 0:
            moment = start[unit_job[v]] + duration[unit_job[v]]
            if begin < moment < wake and _fits_at(
                limit[n], unit_demand, unit_job, duration, start, below, top[n], u, moment, total
            ):
                wake = moment
            v = below[v]
    return max(wake, begin)


@compiled
def _push(state: Any, u: int, n: int) -> None:
    state.node[u] = n
    state.below[u] = state.top[n]
    state.top[n] = u


@compiled
def _pop(state: Any, last: int, first: int) -> None:
    """Take units off their nodes, the last one first."""
    top, below, node = state.top, state.below, state.node
    for u in range(last, first - 1, -1):
        top[node[u]] = below[u]


@compiled
def _host(problem: Any, state: Any, j: int, total: Any) -> int:
    """Find nodes for all units of job j, whose start is set; -1, or else when to try again."""
    begin = state.start[j]
    end = begin + problem.duration[j]
    first, last = problem.unit_first[j], problem.unit_first[j + 1]
    for u in range(first, last):
        n = _choose_node(problem, state, u, begin, end, total)
        if n < 0:
            _pop(state, u - 1, first)
            return _wake(problem, state, u, begin, total)
        _push(state, u, n)
    return -1


@compiled
def _insert(problem: Any, state: Any, j: int, total: Any) -> None:
    """Start job j as early as it fits."""
    needs, length, begin = problem.demand[j], problem.duration[j], problem.submit[j]
    while True:
        begin = _pooled_start(
            state.times, state.use, state.size[0], problem.pool, needs, begin, length
        )
        state.start[j] = begin
        wake = _host(problem, state, j, total)
        if wake < 0:
            break
        if wake <= begin:  # nothing runs any more: the exact search's nodes
            for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
                _push(state, u, problem.packed[u])
            break
        begin = wake
    _book(state, needs, begin, begin + length)


@compiled
def _insert_pooled(problem: Any, state: Any, j: int) -> None:
    """Start job j as early as it fits into all nodes as one."""
    needs, length = problem.demand[j], problem.duration[j]
    begin = _pooled_start(
        state.times, state.use, state.size[0], problem.pool, needs, problem.submit[j], length
    )
    state.start[j] = begin
    _book(state, needs, begin, begin + length)


@compiled
def _remove_pooled(problem: Any, state: Any, j: int) -> None:
    begin = state.start[j]
    _unbook(state, problem.demand[j], begin, begin + problem.duration[j])
    state.start[j] = -1


@compiled
def _remove(problem: Any, state: Any, j: int) -> None:
    """Take the job out that was placed last."""
    _pop(state, problem.unit_first[j + 1] - 1, problem.unit_first[j])
    _remove_pooled(problem, state, j)


@compiled
def decode(problem: Any, order: Any) -> Any:
    """Place all jobs in the order given; return the state and the objective (5.2) [s]."""
    state = new_state(problem)
    total = np.empty(problem.limit.shape[1])
    cost = 0.0
    for j in order:
        _insert(problem, state, j, total)
        cost += problem.weight[j] * (state.start[j] - problem.submit[j])
    return state, cost


@compiled
def _extend(
    problem: Any, state: Any, order: Any, first: int, cost: float, most: float, exact: bool
) -> Any:
    """Place the jobs from position `first` on, as long as the cost is at most `most`.

    Returns
    -------
    placed : int
        So many jobs of the order are placed now.
    cost : float
        Of those.
    """
    total = np.empty(problem.limit.shape[1])
    placed = first
    while placed < len(order) and cost <= most:
        j = order[placed]
        if exact:
            _insert(problem, state, j, total)
        else:
            _insert_pooled(problem, state, j)
        cost += problem.weight[j] * (state.start[j] - problem.submit[j])
        placed += 1
    return placed, cost


@compiled
def _cut(problem: Any, state: Any, order: Any, placed: int, first: int, exact: bool) -> int:
    """Take out the jobs from position `first` on, of which so many are placed."""
    while placed > first:
        placed -= 1
        if exact:
            _remove(problem, state, order[placed])
        else:
            _remove_pooled(problem, state, order[placed])
    return placed


@compiled
def _sum_up(problem: Any, state: Any, order: Any, first: int, spent: Any) -> None:
    """Set spent[p], the cost of the first p jobs of the order, for p > first."""
    for p in range(first, len(order)):
        j = order[p]
        spent[p + 1] = spent[p] + problem.weight[j] * (state.start[j] - problem.submit[j])


@compiled
def _move(order: Any, trial: Any, i: int, k: int, swap: bool) -> None:
    """Set `trial` to the order with its jobs i and k swapped, or job i moved to place k."""
    trial[:] = order
    if swap:
        trial[i], trial[k] = order[k], order[i]
        return
    trial[k] = order[i]
    if i < k:
        trial[i:k] = order[i + 1 : k + 1]
    else:
        trial[k + 1 : i + 1] = order[k:i]


@compiled
def improve(
    problem: Any, order: Any, evaluations: int, hot: float, cold: float, reach: int, rng: Any
) -> Any:
    """Anneal over orders: a job moves by up to `reach` places, or two jobs change places.

    A changed order is first decoded without nodes, which is ten times faster; only if that is
    good enough it is decoded with nodes.

    Parameters
    ----------
    problem : SerialProblem
    order : int array
        The jobs.
    evaluations : int
        Orders that are tried.
    hot, cold : float
        Temperature [s] at the beginning and at the end, which falls geometrically.
    reach : int
    rng : numpy.random.Generator

    Returns
    -------
    best : int array
        The best order.
    cost : float
        Its objective (5.2) [s].
    exact : int
        Orders that were decoded with nodes.
    trace : float array
        Least objective [s] after 1, 2, 4, 8, ... orders were tried.
    """
    jobs = len(order)
    order = order.copy()
    state, now = decode(problem, order)
    best, best_cost, exact = order.copy(), now, 1
    trace, marks = np.empty(64), 0
    if jobs < 2:
        return best, best_cost, exact, trace[:0]
    pooled = new_state(problem)
    _extend(problem, pooled, order, 0, 0.0, np.inf, False)
    spent, spent_pooled = np.zeros(jobs + 1), np.zeros(jobs + 1)
    _sum_up(problem, state, order, 0, spent)
    _sum_up(problem, pooled, order, 0, spent_pooled)
    trial = order.copy()
    there, there_pooled = jobs, jobs  # so many jobs of `order` are placed
    ratio = (cold / hot) ** (1.0 / max(evaluations - 1, 1))
    temperature = hot
    for tried in range(evaluations):
        if tried == 1 << marks:
            trace[marks] = best_cost
            marks += 1
        i = int(rng.random() * jobs)
        span = 1 + int(rng.random() * reach)
        k = i + span if rng.random() < 0.5 else i - span
        swap = rng.random() < 0.5
        most = now - temperature * np.log(1.0 - rng.random())
        temperature *= ratio
        if k < 0 or k >= jobs:
            continue
        _move(order, trial, i, k, swap)
        first = min(i, k)
        # Jobs before the change are those of `order`, which `trial` shares.
        there_pooled = _cut(problem, pooled, order, there_pooled, first, False)
        placed, cost = _extend(
            problem, pooled, trial, there_pooled, spent_pooled[there_pooled], most, False
        )
        passed = placed == jobs and cost <= most
        if passed:
            exact += 1
            there = _cut(problem, state, order, there, first, True)
            done, cost = _extend(problem, state, trial, there, spent[there], most, True)
            passed = done == jobs and cost <= most
            if not passed:
                there = _cut(problem, state, trial, done, min(first, done), True)
        if not passed:
            there_pooled = _cut(problem, pooled, trial, placed, min(first, placed), False)
            continue
        order[:] = trial
        now = cost
        there, there_pooled = jobs, jobs
        _sum_up(problem, state, order, first, spent)
        _sum_up(problem, pooled, order, first, spent_pooled)
        if cost < best_cost:
            best_cost = cost
            best[:] = order
    return best, best_cost, exact, trace[:marks]


@compiled
def misplaced(problem: Any, jobs: Any) -> Any:
    """Those of the jobs that the decoder's order of nodes does not place on the empty system."""
    state = new_state(problem)
    total = np.empty(problem.limit.shape[1])
    found = np.zeros(len(jobs), np.bool_)
    for k in range(len(jobs)):
        state.start[jobs[k]] = 0
        found[k] = _host(problem, state, jobs[k], total) >= 0
        state.top[:] = -1
    return jobs[found]
