"""What figures have in common: line styles, place of the caption, table beside the figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.declaration import META
from experiments.drawing import INK
from models.files import write_atomic

if TYPE_CHECKING:
    import pandas

__all__ = ["LINE", "line_style", "put_caption", "write_table"]

LINE = 152  # characters of a caption's line
CAPTION_FONT = 6.3
LINE_HEIGHT = 0.118  # inches per line of the caption

# Colours are Okabe and Ito's; markers and dashes tell lines apart in grey too.
_STYLES: dict[str, dict[str, Any]] = {
    "pdors": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "pdors-plus": {"color": "#56B4E9", "marker": "*", "linestyle": "-", "markersize": 7},
    "fifo": {"color": "#D55E00", "marker": "v", "linestyle": ":"},
    "drf": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "dorm": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "oasis": {"color": "#CC79A7", "marker": "D", "linestyle": (0, (6, 1, 1, 1, 1, 1))},
    "optimus": {"color": "#E69F00", "marker": "x", "linestyle": (0, (3, 1))},
    "default": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "google": {"color": "#D55E00", "marker": "s", "linestyle": "--"},
    "oga": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "oga-lookahead": {"color": "#56B4E9", "marker": "*", "linestyle": "-", "markersize": 6},
    "fairness": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "binpacking": {"color": "#D55E00", "marker": "v", "linestyle": ":"},
    "spreading": {"color": "#E69F00", "marker": "x", "linestyle": (0, (3, 1))},
    "gain-linear": {"color": INK, "marker": "o", "linestyle": "-"},
    "gain-log": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "gain-mixed": {"color": "#D55E00", "marker": "^", "linestyle": "-."},
    "regret": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "bound": {"color": "#D55E00", "marker": "", "linestyle": "--"},
    "exact": {"color": "#999999", "marker": "", "linestyle": "-"},
    "best": {"color": "#999999", "marker": "", "linestyle": "-"},
    "step-theory": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.8},
    "step-sqrt": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "step-adagrad": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "step-geometric": {"color": "#D55E00", "marker": "v", "linestyle": ":"},
    "step-geometric-slow": {"color": "#CC79A7", "marker": "x", "linestyle": (0, (3, 1))},
    "hybrid": {"color": "#CC79A7", "marker": "D", "linestyle": "-", "linewidth": 1.4},
    "prb": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.4},
    "prb-margin-10": {"color": "#56B4E9", "marker": "*", "linestyle": "-", "markersize": 6},
    "prb-margin-20": {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    "easy": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "fcfs": {"color": "#E69F00", "marker": "v", "linestyle": ":"},
    "engine-none": {"color": INK, "marker": "o", "linestyle": "-", "linewidth": 1.4},
    "engine-set-times": {"color": "#CC79A7", "marker": "D", "linestyle": "--"},
    "engine-time-indexed": {"color": "#0072B2", "marker": "s", "linestyle": "-."},
    "engine-cp-sat": {"color": "#D55E00", "marker": "v", "linestyle": ":"},
    "lower-bound": {"color": "#999999", "marker": "", "linestyle": "--"},
}
_LEFT_OUT = (*META, "policy_seconds", "arrivals_source")  # timings, and a long text


def line_style(name: str) -> dict[str, Any]:
    """Return colour, marker and dashes of a policy's or mix's line."""
    return {"linewidth": 1.1, "markersize": 4, **_STYLES.get(name, {"color": "#777777"})}


def write_table(rows: pandas.DataFrame, destination: Path) -> None:
    """Write the rows beside a figure as CSV, without timings."""
    dropped = [name for name in _LEFT_OUT if name in rows]
    table = rows.drop(columns=dropped).dropna(axis="columns", how="all")
    write_atomic(destination.with_suffix(".csv"), table.to_csv(index=False, float_format="%.9g"))


def put_caption(figure: Any, text: str) -> float:
    """Write the caption at the foot of a figure, made taller for it.

    Returns
    -------
    float
        The part of the height that the caption takes.
    """
    width, height = figure.get_size_inches()
    needed = LINE_HEIGHT * (text.count("\n") + 1) + 0.1
    figure.set_size_inches(width, height + needed)
    figure.text(0.02, 0.05 / (height + needed), text, fontsize=CAPTION_FONT, va="bottom")
    return float(needed / (height + needed))
