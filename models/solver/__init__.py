"""One engine over HiGHS: a Pyomo model compiled once, updated by vectors, solved many times."""

from models.solver.compiled import CompiledModel, compile_model
from models.solver.engine import Engine, solve_model
from models.solver.relation import relation
from models.solver.result import Result, SolverError, Status

__all__ = [
    "CompiledModel",
    "Engine",
    "Result",
    "SolverError",
    "Status",
    "compile_model",
    "relation",
    "solve_model",
]
