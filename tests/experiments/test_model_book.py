"""The model book says what the docstrings say, and leaves no model out."""

import ast

from experiments.model_book import BOOK, MODELS, ROOT, model_book, read_page

NOT_MODELS = {"build_schedule", "build_routing", "build_run"}


def test_the_committed_book_is_up_to_date():
    assert BOOK.read_text(encoding="utf-8") == model_book(), "make model-book writes it again"


def test_every_formulation_has_a_page():
    found = {
        (path.parent.name, path.stem)
        for path in (ROOT / "models").glob("*/*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("build_")
        and node.name not in NOT_MODELS
    }
    listed = {(family, module) for family, modules in MODELS.items() for module in modules}
    assert found == listed


def test_a_page_names_builder_and_constraints():
    page = read_page("training", "r_dmlrs")
    assert page.builder == "build_r_dmlrs"
    assert [name for name, _ in page.constraints][:2] == ["_resource_limit", "_schedule_selection"]
    text = page.markdown()
    assert ":math:" not in text
    assert ".. math::" not in text
    assert text.count("$$") == 2
    assert "\\begin{aligned}" in text
