"""What an experiment is: one declaration from which sweeps, figures and claims follow.

Functions may be given as ``"module:function"``. They are then imported when they are first
needed, so that listing experiments loads neither a solver nor a plotting library.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas

__all__ = ["META", "Claim", "Context", "Experiment", "Status", "Verdict", "reference", "resolve"]

META = ("seconds", "finished_at", "versions")
"""Columns that the store adds to every row. They tell how it was made and are not reproducible."""

Status = Literal["reproduced", "partly", "not-reproduced", "not-run"]
Parameters = Mapping[str, Any]
Row = Mapping[str, Any]
Grid = Callable[[bool], Sequence[Parameters]]
TaskFunction = Callable[[dict[str, Any], int], Row]


@dataclass(frozen=True)
class Verdict:
    """What the rows say about the paper's statement.

    Attributes
    ----------
    text : str
        One or two sentences, with the numbers and their n.
    status : str
        ``reproduced``, ``partly``, ``not-reproduced`` or ``not-run``.
    numbers : mapping of str to number
        The numbers behind the text, such as estimate, low, high and n.
    """

    text: str
    status: Status
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, and how rows are judged by it.

    Attributes
    ----------
    id : str
        Unique in the family: the figure's name, with ``/what`` if the figure has several claims.
    statement : str
        What the paper says, in our words; one sentence.
    statistic : str
        What is computed from the rows, and when the claim counts as reproduced or partly so.
    judge : function (rows) -> Verdict, or its name
    """

    id: str
    statement: str
    statistic: str
    judge: Callable[[pandas.DataFrame], Verdict] | str

    def verdict(self, rows: pandas.DataFrame) -> Verdict:
        """Compare the rows with the statement; without rows the verdict is ``not-run``."""
        if not len(rows):
            return Verdict("No rows in the results store yet.", "not-run")
        found: Verdict = resolve(self.judge)(rows)
        return found


@dataclass(frozen=True)
class Context:
    """How the rows of a figure were made, for its caption and file name."""

    quick: bool = False
    seeds: int = 0
    options: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One figure, table or claim of a paper, and how it is computed again.

    Parameters
    ----------
    name : str
        ``family/name``, as ``training/ratio``.
    revision : int
        Raised by whoever changes what the rows mean; rows of other revisions are not used.
    summary, paper : str
        What is computed, in one line; what it reproduces (figure, section, statement).
    grid : function (quick) -> sequence of parameter dicts, or its name
        The parameters, of JSON values only (no NaN). Must be quick to call.
    task : function (parameters, seed) -> dict row, or its name
        One point of the sweep; a function at the top level of a module, because it runs in
        another process. It gets the parameters as read back from their JSON text. The row's
        values are numbers (NaN and infinities too), texts, truth values and None; the same
        parameters and seed must give the same row, timings apart.
    figure : function (rows, destination, context) -> None, or its name
    claims : tuple of Claim
        What the paper states about this figure.
    finding : function (rows) -> str, or its name
        One sentence on what the figure shows, where no claim says it; for readers who do not
        see it.
    note : function (rows) -> str, or its name
        Markdown that ``reproduce`` prints after the claims, where a figure alone does not do.
    rows : str
        Name under which the rows are stored, the experiment's own by default. Experiments with
        the same task and revision may share rows: what one computed the other has.
    metrics : mapping of str to str
        The columns that every row must hold, with meaning and unit.
    cost : str
        The column that counts work independently of the machine (LPs solved, iterations);
        every row must hold it too. Seconds are measured beside it.
    policies : tuple of str
        The policies compared, for listings.
    options : tuple of str
        Parameters that may be added from outside, such as ``arrivals``.
    check : function (points) -> None, or its name
        Called with all points, such parameters included, before anything is run; raises
        InputError for what no task could use. Nothing is checked by default.
    seeds, quick_seeds : int
        How many seeds (0, 1, ...) each grid point gets by default.
    expected_seconds, quick_seconds : float
        Rough duration of the whole sweep with one worker.
    """

    name: str
    revision: int
    summary: str
    paper: str
    grid: Grid | str
    task: TaskFunction | str
    figure: Callable[[pandas.DataFrame, Path, Context], None] | str
    claims: tuple[Claim, ...] = ()
    finding: Callable[[pandas.DataFrame], str] | str = ""
    note: Callable[[pandas.DataFrame], str] | str = ""
    rows: str = ""
    metrics: Mapping[str, str] = field(default_factory=dict)
    cost: str = "cost"
    policies: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    check: Callable[[Sequence[Parameters]], None] | str = ""
    seeds: int = 20
    quick_seeds: int = 2
    expected_seconds: float = 60.0
    quick_seconds: float = 5.0

    def __post_init__(self) -> None:
        # These are mistakes of the experiment's author, not of a user: plain ValueErrors.
        if not re.fullmatch(r"[a-z0-9]+/[a-z0-9-]+", self.name):
            raise ValueError(f"an experiment's name must be family/name (got {self.name!r})")
        if self.revision < 1 or self.seeds < 1 or self.quick_seeds < 1:
            raise ValueError(f"{self.name}: revision and numbers of seeds must be at least 1")
        ids = [claim.id for claim in self.claims]
        own = self.name.split("/")[1]
        if len(set(ids)) < len(ids) or any(known.split("/")[0] != own for known in ids):
            raise ValueError(f"{self.name}: claims must be named {own} or {own}/what, once each")
        reference(self.task)

    @property
    def family(self) -> str:
        """The part of the name before the slash."""
        return self.name.split("/")[0]

    @property
    def stored_as(self) -> str:
        """The name under which rows are stored."""
        return self.rows or self.name

    @property
    def task_reference(self) -> str:
        """The task as ``module:function``, which is how other processes find it."""
        return reference(self.task)

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that every row must hold."""
        return tuple(dict.fromkeys([*self.metrics, self.cost]))

    def parameters(self, quick: bool = False) -> list[dict[str, Any]]:
        """Return the grid's points."""
        return [dict(point) for point in resolve(self.grid)(quick)]

    def draw(self, rows: pandas.DataFrame, destination: Path, context: Context) -> None:
        """Write the figure to `destination`."""
        resolve(self.figure)(rows, destination, context)

    def judge(self, rows: pandas.DataFrame) -> list[tuple[Claim, Verdict]]:
        """Compare the rows with each claim."""
        return [(claim, claim.verdict(rows)) for claim in self.claims]


def resolve(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return the function that ``"module:function"`` names (a function is returned as is)."""
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    if not module or not name:
        raise ValueError(f"a function is named as module:function (got {function!r})")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def reference(function: Callable[..., Any] | str) -> str:
    """Return the ``module:function`` name of a top-level function."""
    if isinstance(function, str):
        return function
    name: str = function.__qualname__
    if "<" in name or "." in name:
        raise ValueError(f"{name} must stand at the top level of a module to run elsewhere")
    return f"{function.__module__}:{name}"
