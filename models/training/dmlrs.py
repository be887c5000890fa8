r"""DMLRS, the exact offline problem, as one compact mixed-integer model.

For every possible job i, slot t in a_i..T-1 and machine h:

* :math:`c_{it}` binary: job i completes in slot t;
* :math:`z_{iht}`, :math:`e_{it}` binary: in slot t job i runs internally on machine h, or
  externally over several machines (D1);
* integers :math:`w^{int}_{iht}, s^{int}_{iht}, w^{ext}_{iht}, s^{ext}_{iht}`: workers and
  parameter servers (PSs) of the two modes.

.. math::

   \max \quad & \sum_{i,t} u_i(t - a_i)\, c_{it} \\
   & \sum_t c_{it} \le 1, \qquad
     \sum_h z_{iht} + e_{it} \le \sum_{t' \ge t} c_{it'} \\
   & w^{int}_{iht} \le \bar w^{int}_{ih} z_{iht}, \quad
     s^{int}_{iht} \le \bar s^{int}_{ih} z_{iht}, \quad
     \gamma_i s^{int}_{iht} \ge w^{int}_{iht} \\
   & \textstyle\sum_h w^{ext}_{iht} \le F_i e_{it}, \quad
     w^{ext}_{iht} \le \bar w^{ext}_{ih} e_{it}, \quad
     s^{ext}_{iht} \le \bar s^{ext}_{ih} e_{it}, \quad
     \gamma_i \textstyle\sum_h s^{ext}_{iht} \ge \sum_h w^{ext}_{iht} \\
   & \sum_{t,h} \left( w^{int}_{iht} + \rho_i w^{ext}_{iht} \right)
     \ge \frac{V_i}{r^{int}_i} \sum_t c_{it},
     \qquad \rho_i = r^{ext}_i / r^{int}_i \le 1 \\
   & \sum_i \alpha_{ir} (w^{int}_{iht} + w^{ext}_{iht})
         + \beta_{ir} (s^{int}_{iht} + s^{ext}_{iht}) \le C_{hr}

The barred counts are the most that fit on the machine (`models.training.fit`). The workload is
counted in workers at the internal rate, so that all coefficients are near one.

Source: arXiv 2108.02917, section "System Model", eqs. (1)-(7); our D1, D2, D5.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.training.fit import Fit, fit_of, machine_classes, ratio_row, room_of
from models.training.instance import Job, TrainingInstance

__all__ = ["build_dmlrs", "completion_slots", "model_size", "worker_slots"]

TINY = 1e-9


def worker_slots(job: Job) -> float:
    """Workers at the internal rate, summed over slots, that the workload needs (eq. 3)."""
    return job.workload / job.rate_internal


def completion_slots(
    instance: TrainingInstance, i: int, last_slot: Mapping[int, int] | None
) -> range:
    """Slots in which job i may complete: not before it could alone on the empty cluster (D5)."""
    job, needed = instance.jobs[i], instance.reach[i].slots_needed
    if needed is None or not instance.reach[i].possible:
        return range(0)
    last = instance.slots - 1 if last_slot is None else last_slot.get(i, -1)
    return range(job.arrival + needed - 1, min(last, instance.slots - 1) + 1)


def model_size(instance: TrainingInstance) -> int:
    """Number of (job, machine, slot) triples of the compact model, a measure of its size."""
    slots = sum(instance.slots - instance.jobs[i].arrival for i in instance.possible_jobs)
    return slots * instance.number_of_machines


def build_dmlrs(
    instance: TrainingInstance,
    *,
    last_slot: Mapping[int, int] | None = None,
    left: NDArray[np.float64] | None = None,
    break_symmetry: bool = True,
    strengthen: bool = True,
    scale: float = 1.0,
) -> pyo.ConcreteModel:
    """Build the compact model.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : mapping of job index to slot, optional
        Latest completion that is worth anything; jobs that are not in it are left out.
        By default the last slot of the horizon for all possible jobs.
    left : array, shape (slots, machines, resources), optional
        Capacity that may be used, where other jobs have their places already; by default all.
        Needs `break_symmetry` off, since equal machines then differ.
    break_symmetry : bool
        Order equal machines within each slot.
    strengthen : bool
        Add the valid inequalities (they change no integer solution).
    scale : float
        The objective is divided by this.

    Returns
    -------
    ConcreteModel
        With sets `job_slots` (i, t), `places` (i, h, t), variables named as in the module's
        docstring and the objective `total_utility`.
    """
    if left is None:
        left = np.repeat(instance.capacity[None], instance.slots, axis=0)
    elif break_symmetry:
        raise ValueError("equal machines are not equal where other jobs have places already")
    fit = fit_of(instance)
    model = pyo.ConcreteModel("DMLRS")
    completions = {i: completion_slots(instance, i, last_slot) for i in instance.possible_jobs}
    jobs = [i for i, slots in completions.items() if len(slots)]
    machines = range(instance.number_of_machines)
    model.jobs = pyo.Set(initialize=jobs, dimen=1)
    model.completions = pyo.Set(initialize=[(i, t) for i in jobs for t in completions[i]], dimen=2)
    slots = {i: range(instance.jobs[i].arrival, completions[i][-1] + 1) for i in jobs}
    model.job_slots = pyo.Set(initialize=[(i, t) for i in jobs for t in slots[i]], dimen=2)
    model.internal_places = pyo.Set(
        initialize=[
            (i, h, t)
            for i in jobs
            for h in machines
            if fit.internal_workers[i, h] > 0
            for t in slots[i]
        ],
        dimen=3,
    )
    spread = [i for i in jobs if len(machines) > 1 and instance.reach[i].external_workers > 0]
    model.external_slots = pyo.Set(initialize=[(i, t) for i in spread for t in slots[i]], dimen=2)
    model.worker_places = _external_places(spread, machines, slots, fit.external_workers)
    model.ps_places = _external_places(spread, machines, slots, fit.external_ps)
    _variables(model, instance, fit)
    _complete_at_most_once(model)
    _run_in_one_mode_until_completion(model, completions)
    _internal_workers_fit(model, fit)
    _internal_ps_fit(model, fit)
    _internal_ps_ratio(model, instance)
    _external_batch(model, instance)
    _external_workers_fit(model, fit)
    _external_ps_fit(model, fit)
    _external_ps_ratio(model, instance)
    _workload(model, instance)
    _capacity(model, instance, left)
    if strengthen:
        _whole_workers(model, instance)
        _work_before_completion(model, instance)
    if break_symmetry:
        _order_equal_machines(model, instance)
    model.total_utility = pyo.Objective(
        expr=sum(
            instance.jobs[i].utility.value(t - instance.jobs[i].arrival)
            / scale
            * model.completes[i, t]
            for i, t in model.completions
        ),
        sense=pyo.maximize,
    )
    return model


def _external_places(
    jobs: Sequence[int], machines: range, slots: Mapping[int, range], count: Any
) -> pyo.Set:
    return pyo.Set(
        initialize=[(i, h, t) for i in jobs for h in machines if count[i, h] > 0 for t in slots[i]],
        dimen=3,
    )


def _variables(model: Any, instance: TrainingInstance, fit: Fit) -> None:
    """Only possible jobs, reachable slots and machines on which something fits have variables."""

    def at_most(table: Any) -> Any:
        return lambda _, i, h, t: (0, int(table[i, h]))

    model.completes = pyo.Var(model.completions, domain=pyo.Binary)
    model.internal = pyo.Var(model.internal_places, domain=pyo.Binary)
    model.external = pyo.Var(model.external_slots, domain=pyo.Binary)
    integers = pyo.NonNegativeIntegers
    model.internal_workers = pyo.Var(
        model.internal_places, domain=integers, bounds=at_most(fit.internal_workers)
    )
    model.internal_ps = pyo.Var(
        model.internal_places, domain=integers, bounds=at_most(fit.internal_ps)
    )
    model.external_workers = pyo.Var(
        model.worker_places, domain=integers, bounds=at_most(fit.external_workers)
    )
    model.external_ps = pyo.Var(model.ps_places, domain=integers, bounds=at_most(fit.external_ps))
    model.places_of = _by_job_slot(model.internal_places)
    model.worker_places_of = _by_job_slot(model.worker_places)
    model.ps_places_of = _by_job_slot(model.ps_places)


def _by_job_slot(places: Any) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    groups: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for i, h, t in places:
        groups[i, t].append((i, h, t))
    return groups


def _complete_at_most_once(model: Any) -> None:
    """A job completes in at most one slot (x_i in eqs. 3 and 6)."""
    last: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for i, t in model.completions:
        last[i].append((i, t))
    model.completion_slots = last
    model.complete_at_most_once = pyo.Constraint(
        model.jobs, rule=lambda m, i: sum(m.completes[key] for key in last[i]) <= 1
    )


def _run_in_one_mode_until_completion(model: Any, completions: Mapping[int, range]) -> None:
    """In a slot a job is internal on one machine, or external, or idle; idle when done (eq. 6)."""

    def rule(m: Any, i: int, t: int) -> Any:
        modes = sum(m.internal[key] for key in m.places_of[i, t])
        if (i, t) in m.external_slots:
            modes += m.external[i, t]
        if isinstance(modes, int):
            return pyo.Constraint.Skip
        return modes <= sum(m.completes[i, u] for u in completions[i] if u >= t)

    model.run_in_one_mode = pyo.Constraint(model.job_slots, rule=rule)


def _internal_workers_fit(model: Any, fit: Fit) -> None:
    """Workers only where the job runs internally, at most what fits with PSs (eq. 5)."""
    model.internal_workers_fit = pyo.Constraint(
        model.internal_places,
        rule=lambda m, i, h, t: (
            m.internal_workers[i, h, t] <= int(fit.internal_workers[i, h]) * m.internal[i, h, t]
        ),
    )


def _internal_ps_fit(model: Any, fit: Fit) -> None:
    """PSs only where the job runs internally."""
    model.internal_ps_fit = pyo.Constraint(
        model.internal_places,
        rule=lambda m, i, h, t: (
            m.internal_ps[i, h, t] <= int(fit.internal_ps[i, h]) * m.internal[i, h, t]
        ),
    )


def _internal_ps_ratio(model: Any, instance: TrainingInstance) -> None:
    """At least one PS per gamma workers on the machine (eq. 2, D2)."""
    row = {i: ratio_row(instance.jobs[i]) for i in model.jobs}
    model.internal_ps_ratio = pyo.Constraint(
        model.internal_places,
        rule=lambda m, i, h, t: (
            row[i][0] * m.internal_ps[i, h, t] + row[i][1] >= m.internal_workers[i, h, t]
        ),
    )


def _external_batch(model: Any, instance: TrainingInstance) -> None:
    """At most F workers at once, and none unless the job runs externally (eq. 4)."""
    model.external_batch = pyo.Constraint(
        model.external_slots,
        rule=lambda m, i, t: (
            sum(m.external_workers[key] for key in m.worker_places_of[i, t])
            <= instance.reach[i].external_workers * m.external[i, t]
        ),
    )


def _external_workers_fit(model: Any, fit: Fit) -> None:
    """Workers per machine only where the job runs externally, at most what fits (eq. 5)."""
    model.external_workers_fit = pyo.Constraint(
        model.worker_places,
        rule=lambda m, i, h, t: (
            m.external_workers[i, h, t] <= int(fit.external_workers[i, h]) * m.external[i, t]
        ),
    )


def _external_ps_fit(model: Any, fit: Fit) -> None:
    """No stray PSs: only where the job runs externally, at most what fits (eq. 5)."""
    model.external_ps_fit = pyo.Constraint(
        model.ps_places,
        rule=lambda m, i, h, t: (
            m.external_ps[i, h, t] <= int(fit.external_ps[i, h]) * m.external[i, t]
        ),
    )


def _external_ps_ratio(model: Any, instance: TrainingInstance) -> None:
    """At least one PS per gamma workers over all machines (eq. 2, D2)."""
    row = {i: ratio_row(instance.jobs[i]) for i in model.jobs}
    model.external_ps_ratio = pyo.Constraint(
        model.external_slots,
        rule=lambda m, i, t: (
            row[i][0] * sum(m.external_ps[key] for key in m.ps_places_of[i, t]) + row[i][1]
            >= sum(m.external_workers[key] for key in m.worker_places_of[i, t])
        ),
    )


def _processed(model: Any, instance: TrainingInstance, i: int, slots: range | None = None) -> Any:
    """Work of job i in workers at the internal rate."""
    ratio = instance.jobs[i].rate_external / instance.jobs[i].rate_internal
    return sum(
        model.internal_workers[key]
        for (j, t), keys in model.places_of.items()
        if j == i and (slots is None or t in slots)
        for key in keys
    ) + ratio * sum(
        model.external_workers[key]
        for (j, t), keys in model.worker_places_of.items()
        if j == i and (slots is None or t in slots)
        for key in keys
    )


def _workload(model: Any, instance: TrainingInstance) -> None:
    """A job that completes has processed its E*K samples (eq. 3)."""

    def rule(m: Any, i: int) -> Any:
        job = instance.jobs[i]
        needed = worker_slots(job)
        if job.rate_external == job.rate_internal:
            needed = math.ceil(needed * (1 - TINY))  # a sum of integers
        return _processed(m, instance, i) >= needed * sum(
            m.completes[key] for key in m.completion_slots[i]
        )

    model.workload = pyo.Constraint(model.jobs, rule=rule)


def _capacity(model: Any, instance: TrainingInstance, left: NDArray[np.float64]) -> None:
    """No machine gives more of a resource than it has (eq. 5); each row in units of its size."""
    use: dict[tuple[int, int, int], list[tuple[float, Any]]] = defaultdict(list)
    for name, demand in (
        ("internal_workers", instance.worker_demand),
        ("internal_ps", instance.ps_demand),
        ("external_workers", instance.worker_demand),
        ("external_ps", instance.ps_demand),
    ):
        variables = getattr(model, name)
        for i, h, t in variables:
            for r in np.flatnonzero(demand[i]):
                use[h, t, int(r)].append((float(demand[i, r]), variables[i, h, t]))

    def rule(m: Any, h: int, t: int, r: int) -> Any:
        room, demands = max(float(left[t, h, r]), 0.0), [demand for demand, _ in use[h, t, r]]
        room = room_of(_whole_units(room, demands))
        scale = max(room, min(demands))
        return sum(demand / scale * variable for demand, variable in use[h, t, r]) <= room / scale

    model.capacity = pyo.Constraint(sorted(use), rule=rule)


def _whole_units(room: float, demands: Sequence[float]) -> float:
    """Round a capacity down to what whole demands can use: 7 serves demands of 2 and 4 up to 6."""
    if any(demand != round(demand) or demand > 2**31 for demand in demands):
        return room
    unit = math.gcd(*(int(demand) for demand in demands))
    return min(room, math.floor(room / unit * (1 + TINY)) * unit)


def _whole_workers(model: Any, instance: TrainingInstance) -> None:
    """Workers are whole: V / rate_int, rounded up, counts all of them at the internal rate.

    Valid since an external worker processes no more than an internal one.
    """

    def rule(m: Any, i: int) -> Any:
        needed = math.ceil(worker_slots(instance.jobs[i]) * (1 - TINY) - TINY)
        total = sum(
            variables[key]
            for variables in (m.internal_workers, m.external_workers)
            for key in variables
            if key[0] == i
        )
        return total >= needed * sum(m.completes[key] for key in m.completion_slots[i])

    model.whole_workers = pyo.Constraint(model.jobs, rule=rule)


def _work_before_completion(model: Any, instance: TrainingInstance) -> None:
    """By every possible completion slot, the work of jobs that completed by then is done."""

    def rule(m: Any, i: int, t: int) -> Any:
        job = instance.jobs[i]
        if t == m.completion_slots[i][-1][1]:
            return pyo.Constraint.Skip  # that is the workload row
        done = sum(m.completes[key] for key in m.completion_slots[i] if key[1] <= t)
        return _processed(m, instance, i, range(job.arrival, t + 1)) >= worker_slots(job) * done

    model.work_before_completion = pyo.Constraint(model.completions, rule=rule)


def _order_equal_machines(model: Any, instance: TrainingInstance) -> None:
    """Equal machines are ordered, slot by slot, by the first job that runs internally on them.

    Renaming equal machines within one slot changes nothing. Ordered this way, job i may be
    internal on a machine only if an earlier job is internal on the machine before it.
    """
    before = {
        h: members[k]
        for members in machine_classes(instance.capacity)
        for k, h in enumerate(members[1:])
    }
    keys = [key for key in model.internal_places if key[1] in before]

    def rule(m: Any, i: int, h: int, t: int) -> Any:
        others = [j for j in m.jobs if j < i and (j, before[h], t) in m.internal]
        return m.internal[i, h, t] <= sum(m.internal[j, before[h], t] for j in others)

    model.order_equal_machines = pyo.Constraint(keys, rule=rule)
