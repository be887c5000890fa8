"""Pictures with sliders in a notebook, and without them wherever there are none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["STATIC", "show"]

STATIC = "SCHEDLAB_STATIC"
"""Set this variable to 1 for pictures without sliders, as they are wanted on paper."""


def show(draw: Callable[..., Figure], **choices: Sequence[Any]) -> None:
    """Show a picture in a notebook, with a slider for each parameter.

    Parameters
    ----------
    draw : callable
        Returns a figure; it is called with one keyword for each of `choices`.
    **choices : sequence
        The values that a parameter may take. The first is drawn at once, and is all that is
        drawn where ipywidgets is not installed, and where SCHEDLAB_STATIC is set to 1.
    """
    from IPython.display import display

    first = {name: values[0] for name, values in choices.items()}

    def picture(**values: Any) -> None:
        import matplotlib.pyplot as plt

        figure = draw(**values)
        plt.close(figure)  # else the notebook shows it a second time, at the cell's end
        display(figure)  # type: ignore[no-untyped-call]

    widgets = _widgets()
    if widgets is None:
        picture(**first)
        return
    sliders = {
        name: widgets.SelectionSlider(
            options=sorted(values),
            value=values[0],
            description=name.replace("_", " "),
            continuous_update=False,
        )
        for name, values in choices.items()
    }
    widgets.interact(picture, **sliders)


def _widgets() -> Any:
    """Return ipywidgets, or None where it is not there or not wanted."""
    if os.environ.get(STATIC) == "1":
        return None
    try:
        import ipywidgets
    except ImportError:
        return None
    return ipywidgets
