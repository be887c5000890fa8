"""The model book: every formulation in LaTeX beside the functions that build it.

It is put together from the modules' docstrings, so what a reader sees is what the code says.
``python -m experiments.model_book`` writes it to notebooks/MODELS.md; a test holds the file to it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MODELS", "ModelPage", "model_book", "read_page", "write_model_book"]

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "notebooks" / "MODELS.md"

MODELS = {
    "training": (
        "dmlrs",
        "r_dmlrs",
        "dual",
        "slot_program",
        "cover_packing",
        "pooled",
        "dorm_program",
        "slot_totals",
    ),
    "splitting": ("service_ilp", "single_job", "priority_ilp", "path_master", "placement_iqp"),
    "multiserver": ("projection_qp", "stationary_lp"),
    "dispatch": ("relaxed", "node_exact", "time_indexed", "rcpsp"),
}
"""Modules of each family, in the order of the book."""

HEAD = """\
# The model book

Every model of every family, in LaTeX, beside the function that builds it and the functions of its
constraint families. Made from the modules' docstrings by `python -m experiments.model_book`; edit
those, not this page. Symbols and units: [README.md](README.md).
"""


@dataclass(frozen=True)
class ModelPage:
    """One model's page.

    Attributes
    ----------
    family, module : str
    text : str
        The module's docstring.
    builder : str
        Name of the function that builds the model.
    constraints : tuple of (name, first line)
        Functions that add a constraint family, in the order of the module.
    """

    family: str
    module: str
    text: str
    builder: str
    constraints: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The docstring's first paragraph, without the full stop."""
        return _inline(" ".join(self.text.partition("\n\n")[0].split())).rstrip(".")

    @property
    def body(self) -> str:
        """The rest of the docstring as Markdown with LaTeX between dollars."""
        return _blocks(self.text.partition("\n\n")[2]).strip()

    @property
    def place(self) -> str:
        """The module's path in the repository."""
        return f"models/{self.family}/{self.module}.py"

    def markdown(self) -> str:
        """Return the page as Markdown with LaTeX between dollars."""
        lines = [
            f"### {self.title}",
            f"Built by `{self.builder}` in [`{self.place}`](../{self.place}).",
            self.body,
        ]
        if self.constraints:
            rows = "\n".join(f"| `{name}` | {_inline(says)} |" for name, says in self.constraints)
            lines.append(f"| function | what it says |\n|---|---|\n{rows}")
        return "\n\n".join(line.strip("\n") for line in lines if line.strip())


def read_page(family: str, module: str) -> ModelPage:
    """Read a model's page off its module, without importing it."""
    tree = ast.parse((ROOT / "models" / family / f"{module}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    builder = next(node.name for node in functions if node.name.startswith("build_"))
    constraints = tuple(
        (node.name, " ".join(says.partition("\n\n")[0].split()))
        for node in functions
        if not node.name.startswith("build_")
        and _takes_model(node)
        and (says := ast.get_docstring(node))
    )
    return ModelPage(family, module, ast.get_docstring(tree) or "", builder, constraints)


def model_book() -> str:
    """Return the whole book."""
    parts = [HEAD]
    for family, modules in MODELS.items():
        parts.append(f"## {family}\n")
        parts += [read_page(family, module).markdown() + "\n" for module in modules]
    return "\n".join(parts)


def write_model_book() -> Path:
    """Write the book to notebooks/MODELS.md and return its path."""
    BOOK.write_text(model_book(), encoding="utf-8")
    return BOOK


def _takes_model(node: ast.FunctionDef) -> bool:
    return bool(node.args.args) and node.args.args[0].arg in ("model", "rows", "cp")


def _inline(text: str) -> str:
    """Roles of reStructuredText to Markdown, within a line."""
    text = re.sub(r":math:`([^`]+)`", r"$\1$", text)
    return text.replace("``", "`")


def _blocks(text: str) -> str:
    """Replace math directives by display formulas, the rest line by line."""
    out: list[str] = []
    formula: list[str] | None = None
    for line in text.split("\n"):
        if line.strip() == ".. math::":
            formula = []
        elif formula is not None and line and not line.startswith(" "):
            out.append(_display(formula))
            formula = None
            out.append(line)
        elif formula is not None:
            formula.append(line)
        else:
            out.append(line)
    if formula is not None:
        out.append(_display(formula))
    # Roles may be broken over two lines, so they are replaced in the whole text.
    return re.sub(r"\n{3,}", "\n\n", _inline("\n".join(out)))


def _display(lines: list[str]) -> str:
    """Set one formula; what has alignment marks gets an environment for them."""
    body = "\n".join(line.strip() for line in lines).strip()
    if "&" in body or "\\\\" in body:
        body = "\\begin{aligned}\n" + body + "\n\\end{aligned}"
    return f"$$\n{body}\n$$\n"


if __name__ == "__main__":
    write_model_book()
