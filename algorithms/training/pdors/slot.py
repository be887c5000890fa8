"""Algorithm 4: the cheapest allocation of one job in one slot for a given number of samples.

`JobSlots` holds what is the same for all slots and workload levels of one job: the compiled slot
program and the integer counts of each level. Costs are logarithms throughout (D6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.prices import MINUS_INFINITY, log_amounts
from models.solver import Engine, SolverError, Status
from models.training import Job, TrainingInstance
from models.training.slot_program import build_slot_program
from models.training.throughput import fits, most_units, workers_for

__all__ = [
    "ExternalOptimum",
    "JobSlots",
    "SlotAllocation",
    "SlotState",
    "log_costs",
    "log_sum",
    "smallest_packing",
]

# D6 caps cost ratios at 1e12. The rescaling below makes 1e6 do, and the narrower range is safer:
# with ratios up to 1e9 HiGHS 1.16 ended some slot programs as "unknown" or "solve error".
LOG_RATIO_CAP = math.log(1e6)
LOG_NEGLIGIBLE = math.log(1e-12)
SOLVER_TOLERANCE = 1e-9
MOST_ROOM = 1e18
LEAST_DEMAND, MOST_DEMAND = 1e-3, 1e6
LOG_GOOD_SCALE = math.log(1e-3)
MAX_RESCALINGS = 60


def log_count(count: int) -> float:
    """ln of a number of units, -inf for none."""
    return math.log(count) if count else MINUS_INFINITY


def log_sum(terms: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """ln of the sum of exp(terms) along an axis; -inf where all terms are."""
    top = np.max(terms, axis=axis, keepdims=True, initial=MINUS_INFINITY)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(terms - safe), axis=axis, keepdims=True))
    return np.asarray(np.squeeze(total + safe, axis=axis))


def log_costs(
    workers: NDArray[Any],
    ps: NDArray[Any],
    log_worker_price: NDArray[np.float64],
    log_ps_price: NDArray[np.float64],
) -> NDArray[np.float64]:
    """ln of the costs of workers and PSs, all shaped (..., machines); returns shape (...)."""
    return log_sum(
        np.concatenate(
            [
                log_amounts(workers.astype(float)) + log_worker_price,
                log_amounts(ps.astype(float)) + log_ps_price,
            ],
            axis=-1,
        )
    )


def _row_units(
    worker_demand: NDArray[np.float64], ps_demand: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Units in which a solver can count each resource: 1, or a power of 2 for extreme demands.

    Memory in bytes, say: HiGHS refuses coefficients from 1e15 and takes those below 1e-9 for 0.
    """
    largest = np.maximum(worker_demand, ps_demand)
    ordinary = (largest == 0) | ((largest >= LEAST_DEMAND) & (largest <= MOST_DEMAND))
    exponent = np.frexp(largest)[1] - 1
    return np.where(ordinary, 1.0, np.ldexp(1.0, exponent))


@dataclass(frozen=True)
class SlotState:
    """What a job meets in one slot.

    Attributes
    ----------
    free_capacity : array, shape (machines, resources)
    log_worker_price, log_ps_price : arrays, shape (machines,)
        ln of the price of one worker and of one PS on each machine.
    """

    free_capacity: NDArray[np.float64]
    log_worker_price: NDArray[np.float64]
    log_ps_price: NDArray[np.float64]

    def log_cost(self, workers: NDArray[Any], ps: NDArray[Any]) -> float:
        """ln of the cost of workers and PSs, each shaped (machines,)."""
        return float(log_costs(workers, ps, self.log_worker_price, self.log_ps_price))


@dataclass(frozen=True)
class SlotAllocation:
    """Integer workers and PSs of one job in one slot, both shaped (machines,), and ln cost."""

    workers: NDArray[np.int64]
    ps: NDArray[np.int64]
    log_cost: float
    internal: bool


@dataclass(frozen=True)
class ExternalOptimum:
    """LP optimum of a slot program: real workers and PSs, and ln of the cost."""

    workers: NDArray[np.float64]
    ps: NDArray[np.float64]
    log_cost: float


def smallest_packing(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    free_capacity: NDArray[np.float64],
) -> float:
    """W_2 of Theorems 3 and 4: entries where not one unit fits are left out (D7).

    Demands are shaped (resources,), the free capacity (machines, resources).
    """
    ratios = [float(job.batch)]
    for demand in (worker_demand, ps_demand):
        used = demand > 0
        open_machines = most_units(demand, free_capacity, 1) >= 1
        if used.any() and open_machines.any():
            ratios.append(float((free_capacity[open_machines][:, used] / demand[used]).min()))
    return max(min(ratios), 1.0)


@dataclass
class JobSlots:
    """The slot subproblems of one job.

    Parameters
    ----------
    instance : TrainingInstance
    job_index : int
    start : {"warm", "cold"}
        Whether an LP starts from the basis of the one before.
    """

    instance: TrainingInstance
    job_index: int
    start: Literal["warm", "cold"] = "warm"
    lps_solved: int = field(default=0, init=False)
    iterations: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.job = self.instance.jobs[self.job_index]
        self.worker_demand = self.instance.worker_demand[self.job_index]
        self.ps_demand = self.instance.ps_demand[self.job_index]
        self._unit = _row_units(self.worker_demand, self.ps_demand)
        self._engine: Engine | None = None
        self._loaded: SlotState | None = None

    def state(
        self, free_capacity: NDArray[np.float64], log_price: NDArray[np.float64]
    ) -> SlotState:
        """Return the job's view of a slot; both arrays shaped (machines, resources)."""
        return SlotState(
            free_capacity=free_capacity,
            log_worker_price=log_sum(log_price + log_amounts(self.worker_demand)),
            log_ps_price=log_sum(log_price + log_amounts(self.ps_demand)),
        )

    def internal(
        self, state: SlotState, samples: NDArray[np.float64]
    ) -> list[SlotAllocation | None]:
        """Internal case (steps 2-7, D8): per level, the first machine that fits by price.

        Parameters
        ----------
        state : SlotState
        samples : array, shape (levels,)
            Samples to process, each positive.
        """
        workers = np.array([workers_for(v, self.job.rate_internal) for v in samples])
        ps = np.array([self.job.ps_for(int(w)) for w in workers])
        key = np.logaddexp(
            math.log(self.job.workers_per_ps) + state.log_worker_price, state.log_ps_price
        )
        order = np.argsort(key, kind="stable")
        use = workers[:, None] * self.worker_demand + ps[:, None] * self.ps_demand
        fitting = fits(use[:, None, :], state.free_capacity[order][None, :, :])
        fitting &= (workers <= self.job.batch)[:, None]
        result: list[SlotAllocation | None] = []
        for level in range(len(samples)):
            if not fitting[level].any():
                result.append(None)
                continue
            machine = order[int(np.argmax(fitting[level]))]
            count_workers = np.zeros(len(order), dtype=np.int64)
            count_ps = np.zeros(len(order), dtype=np.int64)
            count_workers[machine] = workers[level]
            count_ps[machine] = ps[level]
            cost = state.log_cost(count_workers, count_ps)
            result.append(SlotAllocation(count_workers, count_ps, cost, internal=True))
        return result

    def workers_for(self, samples: float) -> int:
        """D = ceil(v / rate_ext), workers that so many samples need in the external case."""
        return workers_for(samples, self.job.rate_external)

    def smallest_packing(self, state: SlotState) -> float:
        """W_2 of Theorems 3 and 4; see `smallest_packing`."""
        return smallest_packing(self.job, self.worker_demand, self.ps_demand, state.free_capacity)

    def external(self, state: SlotState, worker_cover: int) -> ExternalOptimum | None:
        """LP relaxation of the external case (step 8), None if it is infeasible.

        The costs that HiGHS sees are divided by a scale and capped. The scale starts at a lower
        bound of the optimum, the cheapest worker price and the cheapest PS price taken apart. If
        the optimum then needs a capped column, its true cost is an upper bound and becomes the
        next scale; from there the scale only falls, until the optimum is of its size. So the
        vertex is optimal at its own scale however far prices lie apart (D6).
        """
        ps_cover = self.job.ps_for(worker_cover)
        if worker_cover > self.job.batch:
            return None
        self._load(state, worker_cover, ps_cover)
        # Only machines on which a unit fits count: the others may be cheap, but are closed.
        log_scale = float(
            np.logaddexp(
                math.log(worker_cover) + self._cheapest(state.log_worker_price, self._open_workers),
                log_count(ps_cover) + self._cheapest(state.log_ps_price, self._open_ps),
            )
        )
        if not math.isfinite(log_scale):  # some unit of each kind is free of charge
            log_scale = self._cheapest_paid(state)
        best: ExternalOptimum | None = None
        for _ in range(MAX_RESCALINGS):
            found, uses_cap = self._solve(state, log_scale)
            if found is None:
                return None
            if best is None or found.log_cost < best.log_cost:
                best = found
            if not uses_cap and (
                found.log_cost >= log_scale + LOG_GOOD_SCALE or not math.isfinite(found.log_cost)
            ):
                return best
            if found.log_cost == log_scale:
                return best
            log_scale = found.log_cost
        raise SolverError(f"job {self.job.name}: no scale of the slot program's costs was found")

    @staticmethod
    def _cheapest(log_price: NDArray[np.float64], is_open: NDArray[np.bool_]) -> float:
        return float(log_price[is_open].min()) if is_open.any() else 0.0

    @staticmethod
    def _cheapest_paid(state: SlotState) -> float:
        prices = np.concatenate([state.log_worker_price, state.log_ps_price])
        paid = prices[np.isfinite(prices)]
        return float(paid.min()) if paid.size else 0.0

    def _compile(self, state: SlotState) -> Engine:
        machines = self.instance.number_of_machines
        model = build_slot_program(
            worker_cost=np.ones(machines),
            ps_cost=np.ones(machines),
            free_capacity=self._in_units(state.free_capacity),
            worker_demand=self.worker_demand / self._unit,
            ps_demand=self.ps_demand / self._unit,
            most_workers=np.full(machines, self.job.batch),
            most_ps=np.full(machines, self.job.ps_for(self.job.batch)),
            batch=self.job.batch,
            worker_cover=1,
            ps_cover=1,
        )
        engine = Engine(
            model,
            options={
                "primal_feasibility_tolerance": SOLVER_TOLERANCE,
                "dual_feasibility_tolerance": SOLVER_TOLERANCE,
            },
        )
        self._worker_columns = engine.columns(model.workers)
        self._ps_columns = engine.columns(model.ps)
        self._columns = np.concatenate([self._worker_columns, self._ps_columns])
        needed = (self.worker_demand > 0) | (self.ps_demand > 0)
        self._needed = np.flatnonzero(needed)
        self._packing_rows = (
            engine.rows(model.packing) if self._needed.size else np.zeros(0, dtype=np.int32)
        )
        self._cover_rows = np.concatenate(
            [engine.rows(model.worker_cover), engine.rows(model.ps_cover)]
        )
        return engine

    def _in_units(self, free: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # room without end, which HiGHS takes as a number only
            return np.clip(free / self._unit, 0.0, MOST_ROOM)

    def _load(self, state: SlotState, worker_cover: int, ps_cover: int) -> None:
        if self._engine is None:
            self._engine = self._compile(state)
        engine = self._engine
        if self._loaded is not state:
            free = np.maximum(state.free_capacity, 0.0)
            if self._needed.size:
                rows = self._in_units(free)[:, self._needed].ravel()
                engine.set_row_bounds(self._packing_rows, np.full(rows.size, -np.inf), rows)
            self._open_workers = most_units(self.worker_demand, free, 1) >= 1
            self._open_ps = most_units(self.ps_demand, free, 1) >= 1
            upper = np.concatenate(
                [
                    np.where(self._open_workers, self.job.batch, 0),
                    np.where(self._open_ps, self.job.ps_for(self.job.batch), 0),
                ]
            ).astype(float)
            engine.set_column_bounds(self._columns, np.zeros(upper.size), upper)
            self._loaded = state
        engine.set_row_bounds(
            self._cover_rows, np.array([worker_cover, ps_cover], dtype=float), np.full(2, np.inf)
        )

    def _solve(self, state: SlotState, log_scale: float) -> tuple[ExternalOptimum | None, bool]:
        """Solve at one scale; also say whether the optimum uses a column with a capped cost."""
        assert self._engine is not None
        relative = np.concatenate([state.log_worker_price, state.log_ps_price]) - log_scale
        costs = np.exp(np.minimum(relative, LOG_RATIO_CAP))
        costs[relative < LOG_NEGLIGIBLE] = 0.0
        self._engine.set_costs(self._columns, costs)
        result = self._engine.solve(self.start)
        self.lps_solved += 1
        self.iterations += result.iterations
        if result.status is Status.ERROR and self.start == "warm":
            result = self._engine.solve("cold")
            self.lps_solved += 1
            self.iterations += result.iterations
        if result.status is Status.INFEASIBLE:
            return None, False
        if result.status is not Status.OPTIMAL or result.primal is None:
            raise SolverError(f"job {self.job.name}: slot program ended as {result.status}")
        workers = np.maximum(result.primal[self._worker_columns], 0.0)
        ps = np.maximum(result.primal[self._ps_columns], 0.0)
        amounts = np.concatenate([workers, ps])
        uses_cap = bool(np.any((relative > LOG_RATIO_CAP) & (amounts > SOLVER_TOLERANCE)))
        # What is below the solver's tolerance is no allocation, but at e^400 times the price
        # of the rest it would be the whole cost.
        workers[workers <= SOLVER_TOLERANCE] = 0.0
        ps[ps <= SOLVER_TOLERANCE] = 0.0
        return ExternalOptimum(workers, ps, state.log_cost(workers, ps)), uses_cap
