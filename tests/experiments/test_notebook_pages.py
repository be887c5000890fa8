"""Notebooks on paper: what is missing is said, and a page holds text, formula and picture."""

import shutil
from pathlib import Path

import pytest

from experiments import notebook_pages

nbformat = pytest.importorskip("nbformat", reason="pip install -e '.[notebooks]'")


def test_without_pandoc_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(notebook_pages.shutil, "which", lambda name: None)
    assert notebook_pages.main([]) == 1
    assert capsys.readouterr().err.startswith("error: pandoc is not installed")


def test_without_a_printer_there_is_the_page_only(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(notebook_pages.shutil, "which", lambda name: None)
    assert notebook_pages.pdf_of(tmp_path / "a.html") is None


@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_a_page_holds_output_and_formula(tmp_path: Path):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# Title\n\n$x^2$", id="a"),
        nbformat.v4.new_code_cell("print(6 * 7)", id="b"),
    ]
    source = tmp_path / "small.ipynb"
    nbformat.write(notebook, source)
    page = notebook_pages.page_of(source, tmp_path / "out")
    text = page.read_text(encoding="utf-8")
    assert "<math" in text
    assert "42" in text
    assert sorted(path.name for path in page.parent.iterdir()) == ["small.html"]
