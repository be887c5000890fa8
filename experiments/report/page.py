"""Puts the report's page together: contents, overview, one section per family, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from experiments.model_book import MODELS, read_page
from experiments.report.entries import Entry
from experiments.report.figures import VERDICTS, anchor, article, claims_table
from experiments.report.html import Cell, element, prose, table, text
from experiments.store import Failure

__all__ = ["page"]

# Nothing is fetched from anywhere: a browser that obeys this cannot.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(entries: Sequence[Entry], failures: Sequence[Failure]) -> str:
    """Return the whole page.

    Parameters
    ----------
    entries : sequence of Entry
    failures : sequence of Failure
        All that the store has recorded.
    """
    families = list(dict.fromkeys([*MODELS, *(entry.family for entry in entries)]))
    by_family = {name: [e for e in entries if e.family == name] for name in families}
    sections = [_overview(by_family)]
    sections += [_family(name, found, failures) for name, found in by_family.items()]
    sections.append(_failed(failures))
    head = "\n".join(
        [
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            element("title", "schedlab: report"),
            element("style", _resource("page.css")),
        ]
    )
    body = "\n".join(
        [
            element("a", "Skip to the content", class_="skip", href="#content"),
            element(
                "div",
                _contents(by_family) + element("main", "\n".join(sections), id="content"),
                class_="frame",
            ),
            element("script", _resource("page.js")),
        ]
    )
    whole = element("html", element("head", head) + element("body", body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _resource(name: str) -> str:
    found = resources.files("experiments.report").joinpath(name)
    return "\n" + found.read_text(encoding="utf-8")


def _contents(by_family: dict[str, list[Entry]]) -> str:
    items = [element("li", element("a", "Overview", href="#overview"))]
    for family, entries in by_family.items():
        below = [element("li", element("a", "Models", href=f"#{family}-models"))]
        if any(entry.claims for entry in entries):
            below.append(element("li", element("a", "Claims", href=f"#{family}-claims")))
        below += [
            element("li", element("a", text(e.name.split("/")[1]), href=f"#{anchor(e)}"))
            for e in entries
        ]
        link = element("a", text(family), href=f"#{family}")
        items.append(element("li", link + element("ul", "".join(below))))
    items.append(element("li", element("a", "What failed", href="#failed")))
    listing = element("ul", "".join(items))
    folded = element("details", element("summary", "Contents") + listing, open=True)
    return element("nav", folded, aria_label="Contents")


def _overview(by_family: dict[str, list[Entry]]) -> str:
    rows = []
    for family, entries in by_family.items():
        statuses = [claim.verdict.status for entry in entries for claim in entry.claims]
        shown = sum(entry.drawing is not None for entry in entries)
        counts = [statuses.count(status) for status in VERDICTS]  # type: ignore[arg-type]
        rows.append(
            [
                Cell(element("a", text(family), href=f"#{family}"), family),
                Cell(f"{shown} of {len(entries)}", shown),
                *(Cell(str(count), count) for count in counts),
            ]
        )
    headings = ("family", "figures with rows", *VERDICTS.values())
    return element(
        "section",
        element("h1", "schedlab: what was computed, and which claims hold")
        + element(
            "p",
            "Made from a results store by <code>schedlab report</code>. Every figure says how its "
            "rows were made and offers them as a table; nothing here was typed in by hand.",
        )
        + table("Claims of the papers, counted by verdict", headings, rows),
        id="overview",
    )


def _family(family: str, entries: list[Entry], failures: Sequence[Failure]) -> str:
    parts = [element("h2", text(family)), element("h3", "Models", id=f"{family}-models")]
    parts += [_model(family, module) for module in MODELS.get(family, ())] or [
        element("p", "None is described yet.")
    ]
    if any(entry.claims for entry in entries):
        parts.append(element("h3", "Claims", id=f"{family}-claims"))
        parts.append(claims_table(entries, f"Claims of the papers on {family}, and verdicts"))
    parts.append(element("h3", "Figures"))
    if not entries:
        parts.append(element("p", "No experiment of this family is declared yet."))
    own = [failure for failure in failures if failure.experiment.split("/")[0] == family]
    if own:
        said = f"{len(own)} task{'s' if len(own) > 1 else ''} of this family failed: "
        link = element("a", "see which, and how to run them again", href="#failed")
        parts.append(element("p", text(said) + link + ".", class_="fault"))
    parts += [article(entry) for entry in entries]
    return element("section", "\n".join(parts), id=family)


def _model(family: str, module: str) -> str:
    found = read_page(family, module)
    built = (
        f"<p>Built by <code>{text(found.builder)}</code> in <code>{text(found.place)}</code>.</p>"
    )
    rows = [
        [Cell(element("code", text(name)), name), Cell(prose(says))]
        for name, says in found.constraints
    ]
    constraints = (
        table("Functions of the constraint families", ("function", "what it says"), rows)
        if rows
        else ""
    )
    title = prose(found.title).removeprefix("<p>").removesuffix("</p>")
    return element(
        "details",
        element("summary", title) + built + prose(found.body) + constraints,
        class_="model",
    )


def _failed(failures: Sequence[Failure]) -> str:
    if not failures:
        return element(
            "section", element("h2", "What failed") + element("p", "Nothing."), id="failed"
        )
    rows = [
        [
            Cell(element("code", text(f.experiment)), f.experiment),
            Cell(element("code", text(f.key.parameters))),
            Cell(str(f.key.seed), f.key.seed),
            Cell(text(f.error)),
            Cell(element("code", text(f.command))),
        ]
        for f in failures
    ]
    headings = ("rows of", "parameters", "seed", "error", "run again by")
    caption = f"{len(failures)} failed task{'s' if len(failures) > 1 else ''}"
    return element(
        "section",
        element("h2", "What failed") + table(caption, headings, rows),
        id="failed",
    )
