"""What the command line must know about a family; a family is plugged in by one such object.

Everything here is a function that imports what it needs when it is called, so that
``schedlab --help`` loads neither a solver nor a plotting library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from experiments.cli.output import Table

if TYPE_CHECKING:
    from algorithms.policy import Parameters, Policy, Run
    from models.audit import AuditReport
    from models.files import FileModel

__all__ = ["Bounds", "Description", "Family", "Generated"]


@dataclass(frozen=True)
class Generated:
    """A new instance, and what there is to say about how it came about.

    Attributes
    ----------
    instance : file model
    notes : sequence of str
        Lines for the user, such as how many jobs were redrawn.
    """

    instance: Any
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Description:
    """What an instance is like.

    Attributes
    ----------
    content : mapping
        For ``describe --json``.
    sections : sequence of (heading, table or text)
        For people.
    infeasible : str
        Why no solution can exist; empty if one can.
    """

    content: Mapping[str, Any]
    sections: Sequence[tuple[str, Table | str]]
    infeasible: str = ""


@dataclass(frozen=True)
class Bounds:
    """An interval that is proved to hold the optimum.

    Attributes
    ----------
    status : str
        ``optimal``, ``bounded`` or ``infeasible``.
    lower, upper : float or None
        None where nothing is known. `solution` attains lower if the family maximises, else upper.
    solution : file model or None
    seconds : float
    notes : sequence of str
        Further lines for people.
    """

    status: Literal["optimal", "bounded", "infeasible"]
    lower: float | None
    upper: float | None
    solution: Any
    seconds: float
    notes: Sequence[str] = ()


def run_policy(policy: Policy, instance: Any, parameters: Parameters, seed: int) -> Run:
    """Run a policy: what ``schedlab FAMILY run`` does unless the family says otherwise."""
    return policy.run(instance, parameters, seed)


def same_instance(instance: Any, seed: int) -> Any:
    """Return the instance itself: seeds differ in the policy's draws only."""
    del seed
    return instance


def no_remarks(_instance: Any, _run: Run) -> list[str]:
    """Say nothing more about a run."""
    return []


@dataclass(frozen=True)
class Family:
    """One kind of problem.

    Keyword-only parameters of `generate`, `run` and `optimum`, annotated as typer wants them,
    become further options of the command with that name. That is all there is to an option
    that only one family has.

    Attributes
    ----------
    name, summary : str
    sense : "max" or "min"
    objective : str
        What the objective counts, with its unit.
    instance_model, solution_model : function () -> file model class
    audit : function (instance, solution) -> AuditReport
    policies : function () -> mapping of name to Policy
    generate : function (seed, *, options) -> Generated
    describe : function (instance) -> Description
    count : function (instance, solution) -> mapping of str to int
        The outcome in a few numbers, such as jobs completed and rejected.
    outcome_table : function (instance, Run) -> Table
        What happened to each job, and why.
    remarks : function (instance, Run) -> list of str, optional
        What else the run says of itself, such as a certificate.
    optimum : function (instance, time_limit, seed, *, options) -> Bounds
    write_formulation : function (instance, path, *, options of optimum) -> None
        Writes the exact model; the path's ending (.lp or .mps) is the format.
    plot : function (instance, solution, path) -> None
        The path ends in .png or .svg.
    run : function (policy, instance, parameters, seed, *, options) -> Run
    redraw : function (instance, seed) -> instance
        What ``compare`` changes from seed to seed besides the policy's own draws.
    bench : function () -> mapping, optional
        Measures the family's typical work; numbers, texts, or mappings of those by name.
    commands : mapping of name to function
        Commands that only this family has.
    read_instance : function (path) -> instance, optional
        Reads an instance file that names other files.
    """

    name: str
    summary: str
    sense: Literal["max", "min"]
    objective: str
    instance_model: Callable[[], type[FileModel]]
    solution_model: Callable[[], type[FileModel]]
    audit: Callable[[Any, Any], AuditReport]
    policies: Callable[[], Mapping[str, Policy]]
    generate: Callable[..., Generated]
    describe: Callable[[Any], Description]
    count: Callable[[Any, Any], Mapping[str, int]]
    outcome_table: Callable[[Any, Run], Table]
    optimum: Callable[..., Bounds]
    write_formulation: Callable[..., None]
    plot: Callable[[Any, Any, Path], None]
    run: Callable[..., Run] = run_policy
    redraw: Callable[[Any, int], Any] = same_instance
    remarks: Callable[[Any, Run], list[str]] = no_remarks
    bench: Callable[[], Mapping[str, Any]] | None = None
    commands: Mapping[str, Callable[..., int]] = field(default_factory=dict)
    read_instance: Callable[[Path], Any] | None = None

    def load_instance(self, path: Path) -> Any:
        """Read an instance; raises `InputError` naming file, field, rule and value."""
        if self.read_instance is not None:
            return self.read_instance(path)
        from models.files import read_model

        return read_model(self.instance_model(), path)

    def load_solution(self, path: Path) -> Any:
        """Read a solution; raises `InputError` naming file, field, rule and value."""
        from models.files import read_model

        return read_model(self.solution_model(), path)
