"""The part of the report that belongs to one experiment."""

from __future__ import annotations

from experiments.report.entries import Entry, Made
from experiments.report.html import Cell, data_address, element, prose, table, text

__all__ = ["VERDICTS", "article", "claims_table", "finding_of", "verdict_badge"]

VERDICTS = {
    "reproduced": "✓ reproduced",
    "partly": "◐ partly",
    "not-reproduced": "✗ not reproduced",
    "not-run": "– not run",
}
"""How verdicts are shown: by a sign and a word, so that colour is not needed."""

FEW_CLAIMS = 3
_KINDS = {"csv": "text/csv;charset=utf-8", "md": "text/markdown;charset=utf-8"}


def verdict_badge(status: str) -> str:
    """Return the verdict with its sign."""
    return element("span", text(VERDICTS[status]), class_=f"verdict {status}")


def claims_table(entries: list[Entry], caption: str) -> str:
    """Return the claims of these experiments, best verdict first when it is sorted by that."""
    rows = []
    for entry in entries:
        for claim in entry.claims:
            numbers = claim.verdict.numbers
            name = element("a", text(claim.id), href=f"#{anchor(entry)}")
            rows.append(
                [
                    Cell(name, claim.id),
                    Cell(text(claim.statement)),
                    Cell(
                        verdict_badge(claim.verdict.status),
                        list(VERDICTS).index(claim.verdict.status),
                    ),
                    _number(numbers.get("estimate"), numbers.get("low"), numbers.get("high")),
                    _number(numbers.get("n")),
                ]
            )
    return table(
        caption, ("claim", "what the paper states", "verdict", "estimate (interval)", "n"), rows
    )


def anchor(entry: Entry) -> str:
    """Return the id of an experiment's part of the page."""
    return entry.name.replace("/", "-")


def finding_of(entry: Entry) -> str:
    """Say in a few sentences what the figure shows: its alternative text."""
    made = entry.made
    seeds = f" ({made.seeds} seed{'s' if made.seeds != 1 else ''})" if made else ""
    grid = "Quick grid. " if entry.quick else ""
    start = f"{grid}{_sentence(entry.summary + seeds)}"
    if entry.finding:
        return f"{start} {entry.finding}"
    if not entry.claims:
        return f"{start} No claim of a paper is judged by it."
    if len(entry.claims) <= FEW_CLAIMS:
        verdicts = [
            f"{_sentence(claim.statement)} This is {_words(claim.verdict.status)}."
            for claim in entry.claims
        ]
    else:
        counts = [
            (sum(claim.verdict.status == status for claim in entry.claims), status)
            for status in VERDICTS
        ]
        told = ", ".join(f"{count} {_words(status)}" for count, status in counts if count)
        verdicts = [f"Of {len(entry.claims)} statements {told}."]
    return " ".join([start, *verdicts])


def article(entry: Entry) -> str:
    """Return the experiment's figure, what was found, and how it was made."""
    parts = [element("h4", f"{element('code', text(entry.name))}: {text(entry.summary)}")]
    parts.append(element("p", f"Source: {text(entry.paper)}.", class_="soft"))
    if entry.missing:
        parts.append(element("p", text(entry.missing), class_="warning"))
    if entry.fault:
        said = f"Could not be drawn or judged, a mistake of ours: {entry.fault}"
        parts.append(element("p", text(said), class_="fault"))
    if entry.drawing is not None:
        parts.append(_figure(entry))
    parts += [_claim(claim_number, entry) for claim_number in range(len(entry.claims))]
    if entry.finding:
        parts.append(element("p", text(entry.finding)))
    if entry.note:
        folded = element("summary", "Note") + element("div", prose(entry.note))
        parts.append(element("details", folded))
    if entry.made is None:
        minutes = f"about {entry.expected_seconds:.0f} s of one processor"
        parts.append(element("p", f"To compute it ({minutes}):"))
        parts.append(element("pre", element("code", text(entry.command))))
    else:
        parts.append(_how(entry, entry.made))
    return element("article", "\n".join(parts), id=anchor(entry))


def _figure(entry: Entry) -> str:
    drawing = entry.drawing
    assert drawing is not None
    image = element(
        "img",
        src=data_address("image/svg+xml", drawing.svg),
        alt=finding_of(entry),
        width=drawing.width,
        height=drawing.height,
    )
    # It scrolls on a narrow screen, so the keyboard must reach it.
    paper = element(
        "div", image, class_="paper", tabindex=0, role="group", aria_label=f"Figure {entry.name}"
    )
    links = " ".join(
        element(
            "a",
            text(attachment.name),
            href=data_address(_kind(attachment.name), attachment.content),
            download=attachment.name,
        )
        for attachment in drawing.attachments
    )
    return element("figure", paper + element("p", links, class_="downloads"))


def _claim(number: int, entry: Entry) -> str:
    claim = entry.claims[number]
    lines = [
        element("dt", "statement"),
        element("dd", text(claim.statement)),
        element("dt", "measured"),
        element("dd", text(claim.verdict.text)),
        element("dt", "statistic"),
        element("dd", text(claim.statistic)),
    ]
    summary = f"{element('code', text(claim.id))} {verdict_badge(claim.verdict.status)}"
    few = len(entry.claims) <= FEW_CLAIMS
    return element("details", element("summary", summary) + element("dl", "".join(lines)), open=few)


def _how(entry: Entry, made: Made) -> str:
    when = made.last if made.first == made.last else f"{made.first} to {made.last}"
    facts = {
        "command": element("code", text(made.command)),
        "rows": text(f"{made.rows:,}, of {made.seeds} seed{'s' if made.seeds != 1 else ''}"),
        "finished": text(when),
        "work": text(f"{made.cost:,.6g} {made.cost_name}; {made.seconds:,.1f} s in all tasks"),
    }
    for count, (versions, rows) in enumerate(made.versions):
        label = "versions" if len(made.versions) == 1 else f"versions ({rows:,} rows)"
        facts[f"{label}{' ' * count}"] = text(versions)
    if entry.policies:
        facts["policies"] = text(", ".join(entry.policies))
    for column, meaning in entry.metrics:
        facts[column] = text(meaning)
    lines = "".join(element("dt", text(name)) + element("dd", fact) for name, fact in facts.items())
    return element("details", element("summary", "How it was made") + element("dl", lines))


def _number(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    if value is None or value != value:
        return Cell("", "")
    interval = "" if low is None or high is None else f" ({_short(low)} to {_short(high)})"
    return Cell(element("span", text(_short(value) + interval), class_="number"), value)


def _short(value: float) -> str:
    return "?" if value != value else f"{value:.4g}"


def _kind(name: str) -> str:
    return _KINDS.get(name.rpartition(".")[2], "application/octet-stream")


def _words(status: str) -> str:
    return status.replace("-", " ")


def _sentence(words: str) -> str:
    words = words.strip()
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
