"""Reading and writing the project's JSON files; the one kind of error a user's input can cause."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as PydanticError

__all__ = [
    "FileModel",
    "FrozenDict",
    "InputError",
    "Name",
    "NonNegative",
    "Positive",
    "PositiveInt",
    "check_unique",
    "parse_json",
    "read_model",
    "read_text",
    "write_atomic",
    "write_model",
]

LONGEST_SHOWN_VALUE = 60


class InputError(ValueError):
    """Something that the user gave is wrong: one line naming file, field, rule and value.

    Parameters
    ----------
    rule : str
        What is required, in words.
    source : str, optional
        The file (or option) at fault.
    field : str, optional
        Path of the field inside the file, such as ``jobs[3].batch``.
    value : object, optional
        What was found there; shown shortened.
    """

    _NOTHING = object()

    def __init__(
        self, rule: str, *, source: str = "", field: str = "", value: object = _NOTHING
    ) -> None:
        parts = [part for part in (source, field) if part]
        text = ": ".join([*parts, rule])
        if value is not self._NOTHING:
            text += f" (got {_shown(value)})"
        super().__init__(" ".join(text.split()))
        self.rule = rule
        self.source = source
        self.field = field
        self.value = value

    def within(self, source: str) -> InputError:
        """Return the same error, naming the file it was found in."""
        if self.source:
            return self
        return InputError(self.rule, source=source, field=self.field, value=self.value)


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError):
        text = repr(value)
    if len(text) > LONGEST_SHOWN_VALUE:
        text = text[: LONGEST_SHOWN_VALUE - 3] + "..."
    return text


class FrozenDict(dict):
    """A dictionary that refuses to be changed, so that instances stay what was validated."""

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("this mapping is part of a validated instance and cannot be changed")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]
    __ior__ = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenDict, (dict(self),))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __deepcopy__(self, _memo: dict[int, Any]) -> FrozenDict:
        return self


class FileModel(BaseModel):
    """Base of everything that stands in a file: immutable, strict, without unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}

    # Pydantic's own versions of the following also look at cached properties: comparing would
    # fail on arrays, and a changed copy would keep the arrays of the original.

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._values() == other._values()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(tuple(self._values().values()))

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        return {**state, "__dict__": self._values()}

    def __deepcopy__(self, _memo: dict[int, Any] | None = None) -> Self:
        # Nothing in it can change; a copy would have arrays that can.
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields replaced, validated again (so `deep` changes nothing)."""
        return type(self)(**{**self._values(), **(update or {})})


def _without_blanks(name: str) -> str:
    if not name.strip():
        raise ValueError("must not be blank")
    return name


Name = Annotated[str, StringConstraints(min_length=1), AfterValidator(_without_blanks)]
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
PositiveInt = Annotated[int, Field(ge=1)]
Amounts = Annotated[Mapping[str, NonNegative], AfterValidator(FrozenDict)]


def check_unique(names: Iterable[str], field: str) -> None:
    """Raise `InputError` if a name occurs twice; `field` is the list's place, as ``jobs``."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            raise InputError(
                f"names must be unique, but {field}[{seen[name]}] has the same name",
                field=f"{field}[{index}].name",
                value=name,
            )
        seen[name] = index


def read_text(path: str | Path) -> str:
    """Read a UTF-8 text file; every failure becomes an `InputError` that names the file."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"must be a UTF-8 text file, but byte {error.start} is not", source=str(path)
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None


def parse_json(text: str, source: str) -> Any:
    """Parse JSON strictly: no key may be given twice.

    NaN, Infinity and 1e999 come back as floats, so that the model's validation can name the
    field that holds them.

    Raises
    ------
    InputError
        With line and column where the text stops being JSON.
    """

    def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            if key in result:
                raise InputError("a key must not occur twice", source=source, field=key)
            result[key] = value
        return result

    try:
        return json.loads(text, object_pairs_hook=refuse_duplicates)
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not JSON: {error.msg} at line {error.lineno} column {error.colno}", source=source
        ) from None
    except RecursionError:
        raise InputError("is nested too deeply", source=source) from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is not JSON: {error}", source=source) from None


ModelType = TypeVar("ModelType", bound=FileModel)


def parse_model(model: type[ModelType], text: str, source: str) -> ModelType:
    """Build a validated file model from JSON text.

    Raises
    ------
    InputError
        For the first rule that is broken, naming `source` and the field.
    """
    content = parse_json(text, source)
    if not isinstance(content, dict):
        raise InputError("must be a JSON object", source=source)
    # In Python kind and version may be left out (they have defaults); in a file they are the
    # first thing to look at, and a wrong kind explains every other error.
    for label in ("kind", "version"):
        if label in model.model_fields:
            expected = model.model_fields[label].default
            if label not in content:
                raise InputError(
                    f"is required and must be {json.dumps(expected)}", source=source, field=label
                )
            found = content[label]
            if type(found) is not type(expected) or found != expected:
                raise InputError(
                    f"must be {json.dumps(expected)}", source=source, field=label, value=found
                )
    try:
        # Validated from JSON text, not from `content`: pydantic's strict mode takes a list for
        # a tuple only there.
        return model.model_validate_json(text.encode("utf-8"), by_alias=True, by_name=False)
    except InputError as error:
        raise error.within(source) from None
    except PydanticError as error:
        raise first_error(error, content).within(source) from None


def read_model(model: type[ModelType], path: str | Path) -> ModelType:
    """Read and validate one JSON file; see `parse_model`."""
    return parse_model(model, read_text(path), str(path))


def first_error(error: PydanticError, content: Any = None) -> InputError:
    """Turn a pydantic error into one line about its first finding.

    With `content`, what was validated, the field's path is one in it: pydantic also names the
    variant of a union that it tried.
    """
    details = error.errors(include_url=False, include_context=True)
    # An unknown field is often a misspelt one: then "missing" alone would mislead, so it goes
    # second to what stands in the file.
    details.sort(key=lambda detail: detail["type"] == "missing")
    detail = details[0]
    if content is not None:
        detail["loc"] = _location_in(content, detail["loc"], detail["type"] == "missing")
    raised = detail.get("ctx", {}).get("error")
    if isinstance(raised, InputError):
        return InputError(
            raised.rule,
            field=".".join(part for part in (_path(detail["loc"]), raised.field) if part),
            value=raised.value,
        )
    rule = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    # Pydantic spells limits of 1e200 and 1e-60 out.
    rule = re.sub(r"\d[\d.]{15,}\d", lambda digits: f"{float(digits.group()):g}", rule)
    if detail["type"] == "too_short":  # "Tuple should have at least 1 item after validation, not 0"
        rule = f"must have at least {detail['ctx']['min_length']} item"
    field = _path(detail["loc"])
    if detail["type"] == "missing":
        return InputError("is required", field=field)
    if detail["type"] == "extra_forbidden":
        return InputError("is not a known field", field=field)
    if detail["type"] == "json_invalid":  # its input is the whole file
        return InputError(f"is not JSON: {rule.removeprefix('Invalid JSON: ')}")
    if not rule.startswith(("must", "is ", "has ")):
        rule = f"must be {rule}" if detail["msg"].startswith("Input should be ") else rule
    return InputError(rule[:1].lower() + rule[1:], field=field, value=detail["input"])


def _location_in(
    content: Any, location: tuple[int | str, ...], missing: bool
) -> tuple[int | str, ...]:
    """Leave out the parts of a location that are not in the content (but for a missing field)."""
    found: list[int | str] = []
    for place, part in enumerate(location):
        if isinstance(content, list):
            inside = isinstance(part, int) and part < len(content)
        else:
            inside = isinstance(content, dict) and part in content
        if inside:
            content = content[part]
        if inside or (missing and place == len(location) - 1):
            found.append(part)
    return tuple(found)


def _path(location: Iterable[int | str]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def write_atomic(path: str | Path, content: str | bytes) -> None:
    """Write a file under a temporary name beside it and rename it, so none is ever half there."""
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        # mkstemp makes private files; the result should be as readable as any other new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise InputError(
            f"cannot be written: {error.strerror or error}", source=str(path)
        ) from None
    except BaseException:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise


def to_json(model: FileModel) -> str:
    """Return the file text of a model: the same model gives the same bytes."""
    return (
        json.dumps(model.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False)
        + "\n"
    )


def write_model(model: FileModel, path: str | Path) -> None:
    """Write a file model as JSON, atomically."""
    write_atomic(path, to_json(model))
