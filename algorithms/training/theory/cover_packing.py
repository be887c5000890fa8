"""Cover/packing programs: their widths, random ones, and what HiGHS finds for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from algorithms.training.pdors.slot import JobSlots, SlotState

__all__ = [
    "CoverPacking",
    "program_of_slot",
    "random_program",
    "slot_like_program",
    "split_columns",
]

MOST_REDRAWS = 200


@dataclass(frozen=True)
class CoverPacking:
    """min c x subject to A x >= a, B x <= b, x whole and not negative.

    Attributes
    ----------
    costs : array, shape (columns,)
    cover, packing : arrays, shape (rows, columns)
        A and B, non-negative.
    cover_least, packing_most : arrays, shape (rows,)
        a and b, positive.
    """

    costs: NDArray[np.float64]
    cover: NDArray[np.float64]
    cover_least: NDArray[np.float64]
    packing: NDArray[np.float64]
    packing_most: NDArray[np.float64]

    @property
    def smallest_cover(self) -> float:
        """W_a, the smallest ratio of right-hand side to coefficient in cover rows."""
        return _smallest_ratio(self.cover, self.cover_least)

    @property
    def smallest_packing(self) -> float:
        """W_b, the same in packing rows."""
        return _smallest_ratio(self.packing, self.packing_most)

    def optimum(self, *, integer: bool = False) -> NDArray[np.float64] | None:
        """Return an optimal x of the LP relaxation or of the program itself, None if infeasible."""
        from models.solver import Engine, SolverError, Status
        from models.training.cover_packing import build_cover_packing

        model = build_cover_packing(
            self.costs,
            self.cover,
            self.cover_least,
            self.packing,
            self.packing_most,
            integer=integer,
        )
        engine = Engine(model)
        result = engine.solve()
        if result.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED):
            return None
        if result.status is not Status.OPTIMAL or result.primal is None:
            raise SolverError(f"a cover/packing program ended as {result.status}")
        columns = engine.columns(model.x)
        return np.maximum(np.asarray(result.primal)[columns], 0.0)


def random_program(
    *,
    columns: int,
    cover_rows: int,
    packing_rows: int,
    smallest_cover: float,
    smallest_packing: float,
    rng: np.random.Generator,
    density: float = 0.25,
) -> tuple[CoverPacking, NDArray[np.float64]]:
    """Draw a program with these W_a and W_b, again until its LP relaxation has a solution.

    Each row has `density` of its columns, with coefficients from U(0.2, 1), and the right-hand
    side W times its largest coefficient, so that every row has the same width.

    Returns
    -------
    CoverPacking
    array, shape (columns,)
        An optimum of the LP relaxation.

    Raises
    ------
    ValueError
        If 200 draws in a row are infeasible.
    """
    for _ in range(MOST_REDRAWS):
        cover = _random_matrix(cover_rows, columns, density, rng)
        packing = _random_matrix(packing_rows, columns, density, rng)
        program = CoverPacking(
            costs=rng.uniform(1.0, 10.0, columns),
            cover=cover,
            cover_least=smallest_cover * cover.max(axis=1),
            packing=packing,
            packing_most=smallest_packing * packing.max(axis=1),
        )
        relaxed = program.optimum()
        if relaxed is not None:
            return program, relaxed
    raise ValueError(f"no feasible program in {MOST_REDRAWS} draws with these widths")


def slot_like_program(
    *,
    machines: int,
    resources: int,
    smallest_cover: int,
    smallest_packing: float,
    workers_per_ps: float,
    rng: np.random.Generator,
) -> tuple[CoverPacking, NDArray[np.float64]]:
    """Draw a program of the slot program's shape: r = machines * resources + 1, m = 2 (D3).

    Workers and PSs of one job on machines of different free capacity, the scarcest of which
    holds `smallest_packing` of the larger unit alone; `smallest_cover` PSs are needed, and
    workers_per_ps times as many workers. Returned as by `random_program`.
    """
    worker, ps = rng.uniform(0.3, 1.0, resources), rng.uniform(0.3, 1.0, resources)
    largest = np.maximum(worker, ps)
    room = smallest_packing * largest * rng.uniform(1.0, 3.0, (machines, resources))
    room[0] = smallest_packing * largest
    workers = math.ceil(smallest_cover * max(workers_per_ps, 1.0))
    packing = np.zeros((machines * resources + 1, 2 * machines))
    for h in range(machines):
        packing[h * resources : (h + 1) * resources, h] = worker
        packing[h * resources : (h + 1) * resources, machines + h] = ps
    packing[-1, :machines] = 1.0
    cover = np.zeros((2, 2 * machines))
    cover[0, :machines] = cover[1, machines:] = 1.0
    program = CoverPacking(
        costs=np.exp(rng.uniform(0.0, 3.0, 2 * machines)),
        cover=cover,
        cover_least=np.array([workers, smallest_cover], dtype=float),
        packing=packing,
        packing_most=np.append(room.ravel(), max(2.0 * workers, smallest_packing)),
    )
    relaxed = program.optimum()
    if relaxed is None:
        raise ValueError("the machines have no room for so large a cover")
    return program, relaxed


def split_columns(
    program: CoverPacking, relaxed: NDArray[np.float64], copies: int
) -> tuple[CoverPacking, NDArray[np.float64]]:
    """Write every column `copies` times and share its amount evenly among them.

    The copies are as good as the column, so this is an optimum of the larger program, though no
    vertex: what a solver's vertex hides, since few of its entries are fractional, shows here.
    """
    larger = CoverPacking(
        costs=np.repeat(program.costs, copies),
        cover=np.repeat(program.cover, copies, axis=1),
        cover_least=program.cover_least,
        packing=np.repeat(program.packing, copies, axis=1),
        packing_most=program.packing_most,
    )
    return larger, np.repeat(relaxed / copies, copies)


def program_of_slot(
    slots: JobSlots, state: SlotState, worker_cover: int, log_scale: float
) -> CoverPacking:
    """Write a slot program that a run met in general form; columns are workers, then PSs.

    Parameters
    ----------
    slots : JobSlots
    state : SlotState
    worker_cover : int
        D; the PS cover follows (D3).
    log_scale : float
        Costs are divided by exp(log_scale) (D6).

    Notes
    -----
    Machines on which one unit does not fit have no such column in the LP (D7). Here their costs
    and rows are kept, and their entries of x are 0.
    """
    machines, resources = state.free_capacity.shape
    packing = np.zeros((machines * resources + 1, 2 * machines))
    for h in range(machines):
        packing[h * resources : (h + 1) * resources, h] = slots.worker_demand
        packing[h * resources : (h + 1) * resources, machines + h] = slots.ps_demand
    packing[-1, :machines] = 1.0
    cover = np.zeros((2, 2 * machines))
    cover[0, :machines] = cover[1, machines:] = 1.0
    log_costs = np.concatenate([state.log_worker_price, state.log_ps_price]) - log_scale
    return CoverPacking(
        costs=np.exp(np.minimum(log_costs, math.log(1e300))),
        cover=cover,
        cover_least=np.array([worker_cover, slots.job.ps_for(worker_cover)], dtype=float),
        packing=packing,
        packing_most=np.append(np.maximum(state.free_capacity, 0.0).ravel(), slots.job.batch),
    )


def _smallest_ratio(matrix: NDArray[np.float64], sides: NDArray[np.float64]) -> float:
    rows, columns = np.nonzero(matrix > 0)
    if not rows.size:
        return math.inf
    return float((sides[rows] / matrix[rows, columns]).min())


def _random_matrix(
    rows: int, columns: int, density: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    matrix = rng.uniform(0.2, 1.0, (rows, columns)) * (rng.random((rows, columns)) < density)
    empty = np.flatnonzero(~matrix.any(axis=1))
    matrix[empty, rng.integers(0, columns, len(empty))] = 1.0
    return matrix
