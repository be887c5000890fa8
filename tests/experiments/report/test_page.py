"""The page is sound HTML that needs nothing beside itself, and says the same each time."""

import base64
import itertools
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments.report.entries import entries_of
from experiments.report.html import Cell, inline, prose, table
from experiments.report.page import page
from experiments.store import Store
from tests.experiments.report import kit

VOID = {"img", "meta", "br"}


class Reader(HTMLParser):
    """Collects elements, and insists that what is opened is closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def source(store: Store) -> str:
    full = kit.make(statuses=("reproduced", "partly"))
    bare = kit.make("splitting/bare")
    faulty = kit.make("training/faulty", figure=kit.draw_badly)
    for experiment in (full, faulty):
        kit.fill(store, experiment)
    failure = kit.fail(store, full)
    return page(entries_of([full, bare, faulty], store), [failure])


def test_what_is_opened_is_closed_and_ids_are_unique(source: str) -> None:
    reader = Reader(source)
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert source.startswith("<!doctype html>")
    assert reader.all("html") == [{"lang": "en"}]
    assert len(reader.all("main")) == len(reader.all("nav")) == len(reader.all("h1")) == 1


def test_links_resolve_and_nothing_is_fetched(source: str) -> None:
    reader = Reader(source)
    ids = {attributes.get("id") for _, attributes in reader.elements}
    for link in reader.all("a"):
        address = link["href"] or ""
        assert address.startswith("data:") or address[1:] in ids, address
    for _, attributes in reader.elements:
        if "src" in attributes:
            assert (attributes["src"] or "").startswith("data:")
    assert "url(" not in source
    assert "@import" not in source
    assert "default-src 'none'" in str(reader.all("meta"))


def test_figures_have_size_alternative_text_and_data(source: str) -> None:
    reader = Reader(source)
    (image,) = reader.all("img")
    assert (image["width"], image["height"]) == ("400", "200")
    assert "Statement <0> holds. This is reproduced." in (image["alt"] or "")
    (download,) = [link for link in reader.all("a") if "download" in link]
    content = base64.b64decode((download["href"] or "").partition(",")[2])
    assert content.startswith(b"x,seed,cost\n")


def test_texts_stay_texts(source: str) -> None:
    words = "".join(Reader(source).words)
    for expected in (
        "Statement <0> holds",
        "a & b",
        "a paper & more",
        "ValueError: <b>bold</b> & bad",
        "no <axis> & no scale",
        '{"x":9}',
    ):
        assert expected in words


def test_headings_go_down_one_level_at_a_time(source: str) -> None:
    levels = [int(tag[1]) for tag, _ in Reader(source).elements if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_families_without_experiments_show_their_models(source: str) -> None:
    words = "".join(Reader(source).words)
    assert "No experiment of this family is declared yet." in words
    assert "build_node_exact" in words


def test_the_same_store_gives_the_same_page(store: Store) -> None:
    experiment = kit.make()
    kit.fill(store, experiment)
    first, second = (page(entries_of([experiment], store), []) for _ in range(2))
    assert first == second


def test_every_model_of_the_book_is_shown_with_its_formulas(source: str) -> None:
    reader = Reader(source)
    assert len(reader.all("math")) > 60


def test_a_tables_cells_carry_their_headings() -> None:
    reader = Reader(table("Some", ("a", "b"), [[Cell("x"), Cell("1", 1.0)]]))
    assert reader.all("td") == [{"role": "cell", "data-label": "b", "data-order": "1.0"}]
    assert reader.all("th")[-1] == {"role": "rowheader", "scope": "row", "data-label": "a"}


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a < `b<c` *d e*", "a &lt; <code>b&lt;c</code> <em>d e</em>"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        (r"$\unknown x$", r'<span class="inline"><code>\unknown x</code></span>'),
    ],
)
def test_inline(markdown: str, expected: str) -> None:
    assert inline(markdown) == expected


def test_prose_has_paragraphs_lists_and_formulas() -> None:
    html = prose("One\ntwo.\n\n* a\n  b\n* c\n\n$$\nx\n$$\n\nEnd.")
    assert html.count("<p>") == 2
    assert html.count("<li>") == 2
    assert html.count('display="block"') == 1


def test_prose_has_headings_and_tables() -> None:
    html = prose("## Below\n\n| a | b |\n|---|--:|\n| 1 | `x` |\n| 2 | **y** |")
    reader = Reader(html)
    assert html.startswith("<h6>Below</h6>")
    assert len(reader.all("tr")) == 3
    assert "<code>x</code>" in html
    assert "<strong>y</strong>" in html


def test_the_resources_are_in_the_package() -> None:
    folder = Path(__file__).parents[3] / "experiments" / "report"
    assert {path.name for path in folder.glob("page.*s*")} == {"page.css", "page.js"}
