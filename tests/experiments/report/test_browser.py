"""The page in a real browser: it works, fits phones and paper, and its console stays silent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.report.entries import entries_of
from experiments.report.page import page
from experiments.store import Store
from tests.experiments.report import kit
from tests.experiments.report.browser import Page, find_chromium, opened

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")

ROWS = "Array.from(document.querySelector('#splitting-claims + table').tBodies[0].rows)"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("report")
    statuses = ("partly", "reproduced", "not-run", "not-reproduced")
    first = kit.make("splitting/points", statuses)
    second = kit.make("training/others", ("reproduced",))
    with Store.open(folder) as store:
        for experiment in (first, second):
            kit.fill(store, experiment)
        failure = kit.fail(store, first)
        content = page(entries_of([first, second], store), [failure])
    path = folder / "report.html"
    path.write_text(content, encoding="utf-8")
    assert CHROMIUM is not None
    with opened(CHROMIUM, path) as found:
        yield found
        assert found.complaints == []


@pytest.fixture
def browser(shown: Page) -> Page:
    shown.emulate()
    shown.resize(1280, 900)
    return shown


def order(browser: Page) -> list[str]:
    found: list[str] = browser.evaluate(f"{ROWS}.map(row => row.cells[0].textContent)")
    return found


def press(browser: Page, column: int) -> str:
    """Press a heading of the claims table and return what it then says of its order."""
    heading = f"document.querySelector('#splitting-claims + table').tHead.rows[0].cells[{column}]"
    browser.evaluate(f"{heading}.querySelector('button').click()")
    found: str = browser.evaluate(f"{heading}.getAttribute('aria-sort')")
    return found


def test_tables_sort_by_what_cells_mean(browser: Page) -> None:
    assert press(browser, 3) == "ascending"  # estimates 10, 9, 8, 7
    assert order(browser) == ["points/3", "points/2", "points/1", "points/0"]
    assert press(browser, 3) == "descending"
    assert order(browser) == ["points/0", "points/1", "points/2", "points/3"]
    assert press(browser, 2) == "ascending"  # verdicts, from reproduced to not run
    assert order(browser) == ["points/1", "points/0", "points/3", "points/2"]
    marked = "document.querySelectorAll('#splitting-claims + table th[aria-sort]').length"
    assert browser.evaluate(marked) == 1


def test_links_lead_somewhere(browser: Page) -> None:
    broken = browser.evaluate(
        "Array.from(document.querySelectorAll('a[href^=\"#\"]'))"
        ".map(a => a.getAttribute('href')).filter(h => !document.querySelector(h))"
    )
    assert broken == []


def test_images_are_there_and_have_their_size(browser: Page) -> None:
    images = browser.evaluate(
        "Array.from(document.images).map(i => [i.complete, i.naturalWidth > 0, i.alt.length > 20,"
        " Math.abs(i.clientWidth / i.clientHeight - 2) < 0.02])"
    )
    assert images == [[True] * 4] * 2


def test_figures_can_be_saved(browser: Page) -> None:
    names = browser.evaluate(
        "Array.from(document.querySelectorAll('a[download]')).map(a => [a.download,"
        " a.href.slice(0, 9), a.textContent === a.download])"
    )
    assert [name for name, _, _ in names] == [
        *("training-others.svg", "training-others.csv"),
        *("splitting-points.svg", "splitting-points.csv"),
    ]
    assert all(address in ("data:imag", "data:text") and same for _, address, same in names)


@pytest.mark.parametrize("width", [320, 390, 700, 1000, 1280, 1920])
def test_nothing_sticks_out(browser: Page, width: int) -> None:
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    browser.resize(width, 844, mobile=width < 800)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_the_contents_fold_on_a_phone(browser: Page) -> None:
    folded = "!document.querySelector('nav details').open"
    browser.resize(390, 844, mobile=True)
    assert browser.evaluate(folded) is True
    browser.resize(1280, 900)
    assert browser.evaluate(folded) is False


@pytest.mark.parametrize("width", [390, 1280])
def test_a_screen_reader_hears_figures_tables_and_landmarks(browser: Page, width: int) -> None:
    browser.resize(width, 844, mobile=width < 800)
    heard = browser.heard()
    images = [name for role, name in heard if role == "image"]
    assert len(images) == 2
    assert all("statement" in name.lower() for name in images)
    roles = [role for role, _ in heard]
    assert {"main", "navigation", "table", "row", "rowheader", "cell", "math"} <= {
        role.lower().removeprefix("mathml") for role in roles
    }
    assert ("table", "Claims of the papers on splitting, and verdicts") in heard
    cells = [name for role, name in heard if role == "cell"]
    verdicts = [name for name in cells if name.endswith("not reproduced")]
    assert verdicts == ["verdict: ✗ not reproduced" if width < 700 else "✗ not reproduced"]


CONTRAST = """(() => {
  const luminance = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  const places = "p, a, th, td, .soft, .verdict, caption, code, dt, summary";
  return Math.min(...Array.from(document.querySelectorAll(places), (place) => {
    const ink = luminance(getComputedStyle(place).color);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  }));
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_the_ground(browser: Page, scheme: str) -> None:
    browser.emulate(scheme=scheme)
    dark = browser.evaluate(
        "getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'"
    )
    assert dark == (scheme == "dark")
    assert browser.evaluate(CONTRAST) >= 4.5  # WCAG 2.2, level AA


def test_paper_gets_everything_opened_and_no_contents(browser: Page, tmp_path: Path) -> None:
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = false; })")
    browser.emulate(media="print")
    hidden = "getComputedStyle(document.querySelector('nav')).display"
    assert browser.evaluate(hidden) == "none"
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.evaluate("document.querySelectorAll('main details:not([open])').length") == 0
    browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert browser.evaluate("document.querySelectorAll('main details[open]').length") == 0
    assert browser.pdf().startswith(b"%PDF-")


def test_a_link_into_a_folded_part_opens_it(browser: Page) -> None:
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = false; })")
    inner = "document.querySelector('details.model table')"
    browser.evaluate(f"{inner}.id = 'inside'")
    browser.evaluate("location.hash = 'inside'; dispatchEvent(new HashChangeEvent('hashchange'))")
    assert browser.evaluate(f"{inner}.closest('details').open") is True
