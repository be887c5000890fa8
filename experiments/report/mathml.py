"""LaTeX of the models' docstrings as MathML, which browsers set and screen readers read aloud.

Only what the docstrings use is known; anything else is a `LatexError`, so that no formula is shown
half. Elements and attributes are those of MathML Core (W3C).
"""

from __future__ import annotations

import re
from html import escape

__all__ = ["LatexError", "mathml"]

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)
_GREEK = dict(
    zip(
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "theta",
            "lambda",
            "mu",
            "pi",
            "rho",
            "sigma",
            "tau",
            "phi",
            "Delta",
            "Pi",
        ],
        "αβγδϵθλμπρστφΔΠ",
        strict=True,
    )
)
_OPERATORS = {
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "in": "∈",
    "forall": "∀",
    "cdot": "·",
    "times": "×",
    "top": "⊤",
    "{": "{",
    "}": "}",
    "lceil": "⌈",
    "rceil": "⌉",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "to": "→",
    "infty": "∞",
    "dots": "…",
    "cup": "∪",
    "cap": "∩",
    "subset": "⊂",
}
_LARGE = {"sum": "∑", "prod": "∏"}
_NAMES = ("max", "min", "log", "ln", "exp")
_SPACES = {"quad": "1em", "qquad": "2em", ",": "0.17em", ";": "0.28em", " ": "0.25em"}
_ACCENTS = {"bar": "¯", "tilde": "~", "hat": "^"}
_DOUBLE = {"R": "ℝ", "Z": "ℤ", "N": "ℕ"}


class LatexError(ValueError):
    """A formula holds something that is not known here."""


def mathml(latex: str, *, display: bool = False) -> str:
    r"""Return a formula as a ``<math>`` element; its source stands in it as an annotation.

    Parameters
    ----------
    latex : str
        The source, without dollars. With ``&`` or ``\\`` it is set as aligned lines.
    display : bool
        Set on lines of its own.

    Raises
    ------
    LatexError
        Naming what is not known.
    """
    source = " ".join(latex.split())
    body = _Parser(latex).formula()
    kind = ' display="block"' if display else ""
    note = f'<annotation encoding="application/x-tex">{escape(source)}</annotation>'
    return f"<math{kind}><semantics>{body}{note}</semantics></math>"


class _Parser:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, latex: str) -> None:
        plain = re.sub(r"\\(?:begin|end)\{aligned\}", "", latex)
        self.tokens = [token for token in _TOKEN.findall(plain) if not token.isspace()]
        # Within \text spaces count, so the texts are taken from the source in their order.
        self.texts = iter(re.findall(r"\\text\{([^}]*)\}", plain))
        self.place = 0

    def formula(self) -> str:
        """Read everything: one row, or a table of aligned rows."""
        rows = [[self._row()]]
        while self.place < len(self.tokens):
            token = self._next()
            if token == "&":
                rows[-1].append(self._row())
            elif token == r"\\":
                rows.append([self._row()])
            else:
                raise LatexError(f"{token!r} stands where a row should end")
        if len(rows) == len(rows[0]) == 1:
            return rows[0][0]
        # As LaTeX aligns: columns in pairs, the first to the right and the second to the left.
        lines = [
            "".join(
                f'<mtd class="{"left" if column % 2 else "right"}">{cell}</mtd>'
                for column, cell in enumerate(row)
            )
            for row in rows
        ]
        return (
            '<mtable displaystyle="true">'
            + "".join(f"<mtr>{line}</mtr>" for line in lines)
            + "</mtable>"
        )

    def _peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise LatexError("the formula ends too early")
        self.place += 1
        return token

    def _row(self, end: str = "") -> str:
        """Read up to the end of a cell, or to the closing token, which stays."""
        parts = []
        while (token := self._peek()) and token not in ("&", r"\\", "}", end):
            if token == r"\textstyle":  # for the rest of the group
                self._next()
                parts.append(f'<mstyle displaystyle="false">{self._row(end)}</mstyle>')
            else:
                parts.append(self._scripted())
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def _group(self) -> str:
        """Read what a command or script takes: a braced row or a single token."""
        first = self._peek()
        if first[:1].isdigit() and len(first) > 1:  # TeX takes one digit: \tfrac12 is a half
            self.tokens[self.place] = first[1:]
            return f"<mn>{first[0]}</mn>"
        if first != "{":
            return self._atom()
        self._next()
        body = self._row()
        if self._next() != "}":
            raise LatexError("a brace is not closed")
        return body

    def _scripted(self) -> str:
        """Read one atom with what stands below, above and behind it."""
        large = self._peek()[1:] in (*_LARGE, "max", "min")
        base = self._atom()
        below, above = "", ""
        while self._peek() in ("_", "^", "'"):
            mark = self._next()
            if mark == "_":
                below += self._group()
            else:
                above += "<mo>′</mo>" if mark == "'" else self._superscript()
        under, over = ("munder", "mover") if large else ("msub", "msup")
        both = "munderover" if large else "msubsup"
        above = f"<mrow>{above}</mrow>" if above else ""
        if below and above:
            return f"<{both}>{base}{below}{above}</{both}>"
        if below:
            return f"<{under}>{base}{below}</{under}>"
        return f"<{over}>{base}{above}</{over}>" if above else base

    def _superscript(self) -> str:
        """Read what stands above; several letters alone are a word there, as in w^{int}."""
        word = []
        if self._peek() == "{":
            for token in self.tokens[self.place + 1 :]:
                if token == "}":
                    break
                word.append(token)
        if len(word) > 1 and all(re.fullmatch("[A-Za-z]", letter) for letter in word):
            self.place += len(word) + 2
            return f"<mi>{''.join(word)}</mi>"
        return self._group()

    def _atom(self) -> str:
        token = self._next()
        if token == "{":
            self.place -= 1
            return self._group()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token in "+-=<>()[]|,.;:/!*":
            shown = "−" if token == "-" else escape(token)
            stretch = ' stretchy="false"' if token in "()[]|" else ""
            return f"<mo{stretch}>{shown}</mo>"
        raise LatexError(f"{token!r} is not known")

    def _command(self, name: str) -> str:
        if name in _GREEK:
            return f"<mi>{_GREEK[name]}</mi>"
        if name in _OPERATORS:
            return f'<mo stretchy="false">{_OPERATORS[name]}</mo>'
        if name in _LARGE:
            return f"<mo>{_LARGE[name]}</mo>"
        if name in _NAMES:
            limits = ' movablelimits="true"' if name in ("max", "min") else ""
            return f"<mo{limits}>{name}</mo>"
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"></mspace>'
        if name in _ACCENTS:
            return f"<mover>{self._group()}<mo>{_ACCENTS[name]}</mo></mover>"
        if name in ("frac", "tfrac"):
            small = ' displaystyle="false"' if name == "tfrac" else ""
            return f"<mfrac{small}>{self._group()}{self._group()}</mfrac>"
        if name == "text":
            self._group_of_text()
            return f"<mtext>{escape(next(self.texts)).replace(' ', '&#xA0;')}</mtext>"
        if name == "mathbb":
            self._next()
            letter = self._next()
            self._next()
            return f"<mi>{_DOUBLE[letter]}</mi>"
        if name == "left":
            return self._fenced()
        raise LatexError(f"\\{name} is not known")

    def _group_of_text(self) -> None:
        while self._next() != "}":
            pass

    def _fenced(self) -> str:
        opening = self._next()
        body = self._row(end=r"\right")
        if self._next() != r"\right":
            raise LatexError(r"\left without \right")
        closing = self._next()
        return f"<mrow><mo>{escape(opening)}</mo>{body}<mo>{escape(closing)}</mo></mrow>"
