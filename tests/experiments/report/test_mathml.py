"""Formulas of the docstrings become well-formed MathML that holds every symbol."""

import re
import xml.etree.ElementTree as ET

import pytest

from experiments.model_book import MODELS, read_page
from experiments.report.mathml import LatexError, mathml

FORMULA = re.compile(r"\$\$(.*?)\$\$|\$([^$]+)\$", re.DOTALL)


def shape(latex: str) -> str:
    """Tags and texts of the formula alone, without its annotation."""
    element = ET.fromstring(mathml(latex))[0][0]

    def walk(node: ET.Element) -> str:
        return f"{node.tag}({node.text or ''}{' '.join(map(walk, node))})"

    return walk(element)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("x", "mi(x)"),
        ("12.5", "mn(12.5)"),
        ("x_i^2", "msubsup(mi(x) mi(i) mrow(mn(2)))"),
        ("w^{int}_{ih}", "msubsup(mi(w) mrow(mi(i) mi(h)) mrow(mi(int)))"),
        ("b^{(e)}", "msup(mi(b) mrow(mrow(mo(() mi(e) mo()))))"),
        ("t'", "msup(mi(t) mrow(mo(′)))"),
        (r"\sum_{i}^n a", "mrow(munderover(mo(∑) mi(i) mrow(mi(n))) mi(a))"),
        (r"\frac{a}{b c}", "mfrac(mi(a) mrow(mi(b) mi(c)))"),
        (r"\tfrac12 x", "mrow(mfrac(mn(1) mn(2)) mi(x))"),
        ("x^12", "mrow(msup(mi(x) mrow(mn(1))) mn(2))"),
        (r"\bar\mu_u", "msub(mover(mi(μ) mo(¯)) mi(u))"),
        (r"\left( a \right)", "mrow(mo(() mi(a) mo()))"),
        (r"a \text{ if } b < 1", "mrow(mi(a) mtext(\xa0if\xa0) mi(b) mo(<) mn(1))"),
        (r"a & b \\ c", "mtable(mtr(mtd(mi(a)) mtd(mi(b))) mtr(mtd(mi(c))))"),
        (r"\{0, 1\}", "mrow(mo({) mn(0) mo(,) mn(1) mo(}))"),
    ],
)
def test_shapes(latex: str, expected: str) -> None:
    assert shape(latex) == expected


@pytest.mark.parametrize("latex", [r"\unknown", "{a", r"\left( a", "a}", "x_", "€", r"\frac{a}"])
def test_what_is_not_known_is_refused(latex: str) -> None:
    with pytest.raises(LatexError):
        mathml(latex)


@pytest.mark.parametrize("family", MODELS)
def test_every_formula_of_the_model_book(family: str) -> None:
    found = 0
    for module in MODELS[family]:
        for display, inline in FORMULA.findall(read_page(family, module).markdown()):
            root = ET.fromstring(mathml(display or inline, display=bool(display)))
            assert root.tag == "math"
            found += 1
    assert found
