"""What every policy of every family looks like: parameters, one run function, one result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic import ValidationError as PydanticError

from models.files import InputError, first_error

__all__ = ["NoSolution", "Parameters", "Policy", "Run"]


class NoSolution(RuntimeError):  # noqa: N818 - an answer, not a fault
    """The instance has no feasible solution, proved; one line that says why.

    On the command line the answer is "no": exit code 1.
    """


class Parameters(BaseModel):
    """Base of all parameter sets: immutable, validated, without unknown names.

    Fields carry their meaning and unit in ``description``; ``schedlab FAMILY policies`` prints
    them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def from_options(cls, options: dict[str, str]) -> Parameters:
        """Build parameters from ``--set key=value`` texts.

        Raises
        ------
        InputError
            Naming the key, the value and the rule.
        """
        try:
            return cls.model_validate_strings(options)
        except PydanticError as error:
            raise first_error(error).within("--set") from None


@dataclass(frozen=True)
class Run:
    """What a policy returns.

    Attributes
    ----------
    solution : file model of the family
    log : object
        What happened, for people and figures; a dataclass of the policy's own.
    counters : mapping of str to number
        Machine-independent cost, such as LPs solved; or a model's own value.
    """

    solution: Any
    log: Any = None
    counters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """A named way to solve a family's instances.

    Attributes
    ----------
    name, summary : str
    parameters : type of Parameters
    run : callable (instance, parameters, seed) -> Run
    counters : mapping of str to str
        What each counter of its runs counts.
    """

    name: str
    summary: str
    parameters: type[Parameters]
    run: Callable[[Any, Any, int], Run]
    counters: Mapping[str, str] = field(default_factory=dict)

    def make_parameters(self, values: Mapping[str, Any]) -> Parameters:
        """Build the parameters from values by name.

        Raises
        ------
        InputError
            For a name that the policy does not have, or a value that it refuses.
        """
        known = self.parameters.model_fields
        for name in values:
            if name not in known:
                rule = f"is not a parameter of {self.name}, which has "
                raise InputError(rule + (", ".join(known) or "none"), field=name)
        try:
            return self.parameters(**values)
        except PydanticError as error:
            raise first_error(error) from None
