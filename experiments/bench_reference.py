"""What a benchmark found once, by ratios only, and what has become of it since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, model_validator

from experiments.side_by_side import ratios_of
from experiments.versions import versions
from models.files import FileModel, FrozenDict, InputError, Positive

__all__ = ["FALLEN", "BenchRatio", "BenchReference", "compare", "reference_of"]

ALLOWED = 1.25  # times; what another machine may do to a ratio without anything being wrong
FALLEN, SAME, RISEN, GONE, NEW = "fallen", "as before", "risen", "not measured", "new"


class BenchRatio(FileModel):
    """A ratio, and an interval for it where there is one."""

    ratio: Positive
    low: Positive | None = None
    high: Positive | None = None

    @model_validator(mode="after")
    def _ordered(self) -> BenchRatio:
        if (self.low is None) != (self.high is None):
            raise InputError("low and high must both be given or neither", field="low")
        if self.least > self.ratio or self.ratio > self.most:
            raise InputError("must be from low to high", field="ratio", value=self.ratio)
        return self

    @property
    def least(self) -> float:
        """The lower end of what it may be."""
        return self.ratio if self.low is None else self.low

    @property
    def most(self) -> float:
        """The upper end of what it may be."""
        return self.ratio if self.high is None else self.high


Ratios = Annotated[Mapping[str, BenchRatio], AfterValidator(FrozenDict)]


class BenchReference(FileModel):
    """Ratios of some families' benchmarks, and the versions that they were measured with."""

    kind: Literal["bench"] = "bench"
    version: Literal[1] = 1
    versions: Annotated[Mapping[str, str], AfterValidator(FrozenDict)]
    families: Annotated[Mapping[str, Ratios], AfterValidator(FrozenDict)]


def reference_of(measured: Mapping[str, Mapping[str, Any]]) -> BenchReference:
    """Keep the ratios of what was measured, per family, to four digits."""
    families = {
        family: {
            name: BenchRatio(**{key: float(f"{number:.4g}") for key, number in ratio.items()})
            for name, ratio in ratios_of(content)
        }
        for family, content in measured.items()
    }
    return BenchReference(versions=versions(), families=families)


def compare(
    then: Mapping[str, BenchRatio], now: Mapping[str, BenchRatio]
) -> list[tuple[str, float | None, float | None, str]]:
    """Return (name, ratio then, ratio now, what became of it) for each ratio of either.

    A ratio has fallen if even the upper end of its interval, times what is allowed, is below the
    lower end of what it was; it has risen if the same holds the other way round.
    """
    rows: list[tuple[str, float | None, float | None, str]] = []
    for name in dict.fromkeys([*then, *now]):
        old, new = then.get(name), now.get(name)
        if old is None or new is None:
            verdict = NEW if old is None else GONE
        elif new.most * ALLOWED < old.least:
            verdict = FALLEN
        else:
            verdict = RISEN if new.least > old.most * ALLOWED else SAME
        rows.append((name, old.ratio if old else None, new.ratio if new else None, verdict))
    return rows
