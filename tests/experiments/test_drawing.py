import os
from itertools import pairwise
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from experiments.drawing import FILLS, HATCHES, INK, ink_on, plain_style, save_figure
from models.files import InputError


def lightness(colour: str) -> float:
    """CIE lightness L*, 0..100, of an sRGB colour."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * y ** (1 / 3) - 16


def contrast(one: str, other: str) -> float:
    """Ratio of WCAG 2."""
    values = sorted(((lightness(c) + 16) / 116) ** 3 for c in (one, other))
    return (values[1] + 0.05) / (values[0] + 0.05)


def figure(text: str = "text") -> Figure:
    with plain_style():
        drawn = Figure(figsize=(2, 1))
        axes = drawn.add_subplot()
        axes.bar([0, 1], [1, 2], hatch=HATCHES[1])
        axes.set_title(text)
    return drawn


def test_fills_in_a_row_differ_in_grey() -> None:
    round_trip = [*FILLS, FILLS[0]]
    steps = [abs(lightness(a) - lightness(b)) for a, b in pairwise(round_trip)]
    assert min(steps) > 9


@pytest.mark.parametrize("fill", FILLS)
def test_text_is_readable_on_every_fill(fill: str) -> None:
    chosen = ink_on(fill)
    assert chosen in (INK, "white")
    assert contrast("#FFFFFF" if chosen == "white" else chosen, fill) > 3


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.SVG"])
def test_the_same_figure_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    first, second = tmp_path / name, tmp_path / f"again-{name}"
    save_figure(figure(), first)
    save_figure(figure(), second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 500


def test_files_hold_no_date_and_no_program(tmp_path: Path) -> None:
    save_figure(figure(), tmp_path / "a.svg")
    save_figure(figure(), tmp_path / "a.png")
    text = (tmp_path / "a.svg").read_text()
    assert "<dc:date>" not in text
    assert "Matplotlib v" not in text
    assert b"Software" not in (tmp_path / "a.png").read_bytes()


def test_settings_of_the_user_change_nothing_and_come_back(tmp_path: Path) -> None:
    save_figure(figure(), tmp_path / "before.svg")
    with matplotlib.rc_context({"font.size": 20.0, "svg.hashsalt": "other", "lines.linewidth": 9}):
        save_figure(figure(), tmp_path / "after.svg")
        assert matplotlib.rcParams["font.size"] == 20.0
    assert (tmp_path / "before.svg").read_bytes() == (tmp_path / "after.svg").read_bytes()


def test_texts_are_taken_as_they_are(tmp_path: Path) -> None:
    # As mathematics the first would be an error; the second has no glyphs in the font.
    save_figure(figure("$\\frac{$"), tmp_path / "a.svg")
    save_figure(figure("作業"), tmp_path / "b.png")
    assert sorted(os.listdir(tmp_path)) == ["a.svg", "b.png"]


@pytest.mark.parametrize("name", ["a.pdf", "a", "png", "missing/a.png"])
def test_other_places_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        save_figure(figure(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
