"""What the report says of each experiment: figure, verdicts, and how the rows were made."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Context, Experiment, Verdict, resolve
from experiments.evidence import Evidence, evidence_of, judge, not_run
from experiments.store import Store

if TYPE_CHECKING:
    import pandas

__all__ = ["Attachment", "ClaimLine", "Drawing", "Entry", "Made", "entries_of", "entry_of"]

POINT = 96 / 72  # pixels of CSS


@dataclass(frozen=True)
class Attachment:
    """A file that can be downloaded from the page."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG with its size in CSS pixels, and the data behind it."""

    svg: bytes
    width: int
    height: int
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True)
class ClaimLine:
    """A claim and its verdict, without the functions, so that it travels between processes."""

    id: str
    statement: str
    statistic: str
    verdict: Verdict


@dataclass(frozen=True)
class Made:
    """How the rows of a figure were made.

    Attributes
    ----------
    command : str
        Computes the same rows again.
    seeds, rows : int
    versions : tuple of (text, int)
        Each set of versions with the number of rows that it made.
    first, last : str
        When the first and the last row were finished (UTC).
    seconds : float
        What the tasks took together.
    cost : float
        The work that was counted, independently of the machine, in units of `cost_name`.
    """

    command: str
    seeds: int
    rows: int
    versions: tuple[tuple[str, int], ...]
    first: str
    last: str
    seconds: float
    cost: float
    cost_name: str


@dataclass(frozen=True)
class Entry:
    """One experiment's part of the report.

    Attributes
    ----------
    name, summary, paper : str
    policies : tuple of str
    metrics : tuple of (column, meaning)
    claims : tuple of ClaimLine
    command : str
        Computes the full grid.
    expected_seconds : float
    quick : bool
        The figure shows the small grid.
    drawing : Drawing or None
    made : Made or None
        None if there are no rows of a whole grid.
    finding : str
        What the figure shows, where there is no claim to say it.
    note : str
        What `reproduce` says below the figure, as Markdown.
    missing : str
        Why there is no figure, or why it shows less than it should.
    fault : str
        The error of a figure or claim that could not be made: a mistake of ours.
    """

    name: str
    summary: str
    paper: str
    policies: tuple[str, ...]
    metrics: tuple[tuple[str, str], ...]
    claims: tuple[ClaimLine, ...]
    command: str
    expected_seconds: float
    quick: bool = False
    drawing: Drawing | None = None
    made: Made | None = None
    finding: str = ""
    note: str = ""
    missing: str = ""
    fault: str = ""

    @property
    def family(self) -> str:
        """The part of the name before the slash."""
        return self.name.split("/")[0]


def entries_of(experiments: Sequence[Experiment], store: Store | None) -> list[Entry]:
    """Return the entries of these experiments, one after the other."""
    return [entry_of(experiment, store) for experiment in experiments]


def entry_of(experiment: Experiment, store: Store | None, scratch: Path | None = None) -> Entry:
    """Draw and judge one experiment from what the store holds of it.

    `scratch` is where figures are drawn first; a worker process may be ended in the middle of
    that, so it is for the caller to remove.
    """
    command = f"schedlab reproduce {experiment.name}"
    evidence = None if store is None else _best_evidence(experiment, store)
    rows = made = drawing = None
    finding = note = missing = fault = ""
    judged = not_run(experiment, "No rows in the results store yet.")
    if store is None or evidence is None:
        missing = _what_is_there(experiment, store)
        judged = not_run(experiment, missing)
    else:
        rows = store.rows(experiment.stored_as, experiment.revision, evidence.keys)
        made = _made(experiment, evidence, rows, command)
        missing = _shortfall(experiment, evidence)
        try:
            judged = judge(experiment, evidence, rows)
            drawing = _draw(experiment, evidence, rows, scratch)
            if experiment.finding:
                finding = resolve(experiment.finding)(rows)
            if experiment.note:
                note = resolve(experiment.note)(rows)
        except Exception as error:  # one faulty figure does not cost the others
            fault = " ".join(f"{type(error).__name__}: {error}".split())
    return Entry(
        name=experiment.name,
        summary=experiment.summary,
        paper=experiment.paper,
        policies=experiment.policies,
        metrics=tuple(experiment.metrics.items()),
        claims=tuple(ClaimLine(c.id, c.statement, c.statistic, v) for c, v in judged),
        command=command,
        expected_seconds=experiment.expected_seconds,
        quick=evidence is not None and evidence.quick,
        drawing=drawing,
        made=made,
        finding=finding,
        note=note,
        missing=missing,
        fault=fault,
    )


def _best_evidence(experiment: Experiment, store: Store) -> Evidence | None:
    """The full grid if at least one seed has all of it, else the small one, else nothing."""
    for quick in (False, True):
        evidence = evidence_of(experiment, store, quick=quick)
        if evidence.seeds:
            return evidence
    return None


def _what_is_there(experiment: Experiment, store: Store | None) -> str:
    held = len(store.keys(experiment.stored_as, experiment.revision)) if store else 0
    if not held:
        return "No rows in the results store yet."
    return f"No seed has rows for the whole grid yet ({held} rows of {experiment.stored_as})."


def _shortfall(experiment: Experiment, evidence: Evidence) -> str:
    if evidence.quick:
        return "Only the quick grid has rows: a first look, not the paper's setting."
    if len(evidence.seeds) < experiment.seeds:
        return f"Only {len(evidence.seeds)} of {experiment.seeds} seeds have the whole grid."
    return ""


def _made(experiment: Experiment, evidence: Evidence, rows: pandas.DataFrame, command: str) -> Made:
    seeds = len(evidence.seeds)
    usual = experiment.quick_seeds if evidence.quick else experiment.seeds
    if evidence.quick:
        command += " --quick"
    # Seeds are 0, 1, ... in a sweep; the last one tells how many were asked for.
    if (asked := evidence.seeds[-1] + 1) != usual:
        command += f" --seeds {asked}"
    used = Counter(rows["versions"])
    return Made(
        command=command,
        seeds=seeds,
        rows=len(rows),
        versions=tuple((_versions(text), count) for text, count in used.most_common()),
        first=min(rows["finished_at"]),
        last=max(rows["finished_at"]),
        seconds=float(rows["seconds"].sum()),
        cost=float(rows[experiment.cost].sum()) if experiment.cost in rows else 0.0,
        cost_name=experiment.cost.replace("_", " "),
    )


def _versions(text: str) -> str:
    found = json.loads(text)
    order = sorted(found, key=lambda name: (name != "schedlab", name != "python", name))
    return ", ".join(f"{name} {found[name]}" for name in order) or "not recorded"


def _draw(
    experiment: Experiment, evidence: Evidence, rows: pandas.DataFrame, scratch: Path | None
) -> Drawing:
    """Draw into a folder of its own; what is written beside the figure is attached."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        target = Path(folder) / f"{experiment.name.replace('/', '-')}.svg"
        experiment.draw(rows, target, Context(evidence.quick, len(evidence.seeds), {}))
        svg = target.read_bytes()
        beside = tuple(
            Attachment(path.name, path.read_bytes())
            for path in sorted(Path(folder).iterdir())
            if path != target
        )
    if not any(attachment.name.endswith(".csv") for attachment in beside):
        beside += (Attachment(f"{target.stem}.csv", rows.to_csv(index=False).encode()),)
    width, height = _size(svg)
    return Drawing(svg, width, height, beside)


def _size(svg: bytes) -> tuple[int, int]:
    """Width and height of an SVG of matplotlib's, which states them in points."""
    sizes = []
    for side in (b"width", b"height"):
        match = re.search(rb"<svg[^>]*?\b" + side + rb'="([0-9.]+)pt"', svg)
        if match is None:
            raise ValueError(f"the figure states no {side.decode()} in points")
        sizes.append(round(float(match[1]) * POINT))
    return sizes[0], sizes[1]
