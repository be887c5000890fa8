"""Small pieces of HTML: elements, tables that can be sorted, text of the docstrings."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from experiments.report.mathml import LatexError, mathml

__all__ = ["Cell", "data_address", "element", "prose", "table", "text"]

_VOID = ("img", "meta", "br")
_INLINE = re.compile(r"`([^`]+)`|\$([^$]+)\$|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its HTML, and what it is sorted by (the text itself by default)."""

    html: str
    order: str | float | None = None


def text(content: object) -> str:
    """Return a text as HTML."""
    return escape(str(content), quote=False)


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; a trailing ``_`` of an attribute's name is dropped, others become ``-``.

    Attributes that are None or False are left out, True stands alone.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{escape(str(value))}"')
    opening = f"<{' '.join(parts)}>"
    return opening if name in _VOID else f"{opening}{content}</{name}>"


def table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[Cell]], *, sortable: bool = True
) -> str:
    """Return a table; on a narrow screen each row becomes a block with its headings beside it.

    The roles are stated, because a table that is laid out as blocks loses them in some browsers.
    """
    head = "".join(
        element(
            "th",
            element("button", text(heading), type="button") if sortable else text(heading),
            scope="col",
            role="columnheader",
        )
        for heading in headings
    )
    body = []
    for row in rows:
        cells = []
        for column, (heading, cell) in enumerate(zip(headings, row, strict=True)):
            cells.append(
                element(
                    "td" if column else "th",
                    element("div", cell.html),
                    role="cell" if column else "rowheader",
                    scope=None if column else "row",
                    data_label=heading,
                    data_order=cell.order,
                )
            )
        body.append(element("tr", "".join(cells), role="row"))
    return element(
        "table",
        (element("caption", text(caption)) if caption else "")
        + element("thead", element("tr", head, role="row"), role="rowgroup")
        + element("tbody", "".join(body), role="rowgroup"),
        role="table",
        class_="sortable" if sortable else None,
    )


def data_address(kind: str, content: bytes) -> str:
    """Return the content as an address that needs no file."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def prose(markdown: str) -> str:
    """Return Markdown as HTML: what docstrings and notes use of it, and nothing else.

    Paragraphs, headings (below those of the page), lists, tables, formulas, code, emphasis.
    """
    parts = []
    for number, part in enumerate(re.split(r"^\$\$$", markdown, flags=re.MULTILINE)):
        if number % 2:
            parts.append(element("div", _formula(part, display=True), class_="formula"))
            continue
        parts += [_block(block) for block in re.split(r"\n\s*\n", part.strip()) if block.strip()]
    return "\n".join(parts)


def _block(block: str) -> str:
    if heading := re.fullmatch(r"(#+) (.*)", block):
        return element("h5" if len(heading[1]) == 1 else "h6", inline(heading[2]))
    if block.startswith("|"):
        return _markdown_table(block)
    for tag, mark in (("ul", r"[*-] "), ("ol", r"\d+\. ")):
        if re.match(mark, block.lstrip()):
            items = re.split(rf"^\s*{mark}", block, flags=re.MULTILINE)[1:]
            return element(tag, "".join(element("li", inline(item)) for item in items))
    return element("p", inline(block))


def _markdown_table(block: str) -> str:
    lines = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()
    ]
    body = [line for line in lines[1:] if not all(re.fullmatch(":?-+:?", cell) for cell in line)]
    rows = [[Cell(inline(cell)) for cell in line] for line in body]
    return table("", lines[0], rows, sortable=False)


def inline(markdown: str) -> str:
    """Return one paragraph's text: code, formulas and emphasis in it."""
    parts, start = [], 0
    for match in _INLINE.finditer(markdown):
        parts.append(text(markdown[start : match.start()]))
        code, formula, strong, emphasis = match.groups()
        if code is not None:
            parts.append(element("code", text(code)))
        elif formula is not None:
            parts.append(element("span", _formula(formula), class_="inline"))
        elif strong is not None:
            parts.append(element("strong", text(strong)))
        else:
            parts.append(element("em", text(emphasis)))
        start = match.end()
    return "".join(parts) + text(markdown[start:])


def _formula(latex: str, *, display: bool = False) -> str:
    try:
        return mathml(latex, display=display)
    except LatexError:  # shown as it is written
        return element("code", text(" ".join(latex.split())))
