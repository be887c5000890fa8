"""training/ratio: the verdict on rows whose answer is known, and the figure on awkward rows."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.declaration import Context
from experiments.training.ratio import RATIO, grid
from experiments.training.ratio_figure import _caption, draw
from experiments.training.ratio_task import _kind, _ratio
from experiments.training.ratio_verdict import judge


def make_rows(ratios, jobs=2):
    """Rows with the given ratios: a number, a pair (low, high), inf, or None for OPT = 0."""
    rows = []
    for seed, ratio in enumerate(ratios):
        low, high = ratio if isinstance(ratio, tuple) else (ratio, ratio)
        if ratio is None:
            kind, online, low, high = "empty", 0.0, 1.0, 1.0
        elif low == math.inf:
            kind, online = "infinite", 0.0
        else:
            kind, online = ("proven" if low == high else "interval"), 10.0
        rows.append(
            {
                "jobs": jobs + seed % 3,
                "slots": 10,
                "machines": 4,
                "preset": "calibrated",
                "time_limit": 10.0,
                "seed": seed,
                "kind": kind,
                "online": online,
                "lower": 0.0 if ratio is None else (5.0 if online == 0 else low * online),
                "upper": 0.0 if ratio is None else (5.0 if online == 0 else high * online),
                "ratio_low": low,
                "ratio_high": high,
                "theory": 900.0,
                "dual": 1e4,
                "possible": 2,
                "impossible": 0,
                "redraws": 3,
                "completed": 1,
                "rejected_price": 0,
                "rejected_capacity": 1,
                "rejected_rounding": 0,
                "lps_solved": 5,
                "arrivals_source": "a table",
                "status": "optimal" if low == high else "bounded",
            }
        )
    return pd.DataFrame(rows)


def test_all_in_the_band_is_reproduced():
    verdict = judge(make_rows([1.0, 1.2, 1.4] * 40))
    assert verdict.status == "reproduced"
    assert verdict.numbers["estimate"] == 1.0


def test_too_few_rows_do_not_reproduce():
    """Ten of ten in the band: the exact interval begins at 69 %."""
    verdict = judge(make_rows([1.1] * 10))
    assert verdict.status == "partly"
    assert verdict.numbers["low"] == pytest.approx(0.025 ** (1 / 10))


def test_median_in_the_band_is_partly():
    verdict = judge(make_rows([1.1] * 60 + [2.0] * 40))
    assert verdict.status == "partly"
    assert verdict.numbers["estimate"] == pytest.approx(0.6)


def test_median_out_of_the_band_is_not_reproduced():
    verdict = judge(make_rows([1.1] * 40 + [2.0] * 60))
    assert verdict.status == "not-reproduced"


def test_special_values_are_counted():
    verdict = judge(make_rows([1.1, math.inf, math.inf, (1.2, 1.6), None]))
    assert verdict.numbers["infinite"] == 2
    assert verdict.numbers["interval"] == 1
    assert verdict.numbers["empty"] == 1
    assert verdict.numbers["n"] == 4
    assert "2 ratios are infinite" in verdict.text
    assert "between 25% and 50%" in verdict.text  # the interval may be in or out


@pytest.mark.parametrize(
    ("ratios", "text"),
    [
        ([1.1, 7.0, (9.25, 12.0), (1.0, math.inf), math.inf, None], "is at least 9.25. "),
        ([1.1, 7.5, (2.0, 12.0)], "is at least 7.50. "),
    ],
)
def test_the_largest_ratio_is_the_one_in_the_figure(ratios, text):
    """A ratio known as an interval is at least its lower end; infinite ones are counted apart."""
    assert f"the largest finite ratio {text}" in judge(make_rows(ratios)).text


def test_without_a_finite_ratio_no_largest_is_named():
    assert "largest" not in judge(make_rows([math.inf, math.inf])).text


def test_the_caption_names_the_source_but_no_single_instance():
    rows = make_rows([1.0, 1.2, 1.4])
    rows["arrivals_source"] = [f"a: table: {k} of 7 consecutive, {k}.5 minutes" for k in (2, 3, 4)]
    text = " ".join(_caption(rows, Context()).split())
    assert "arrivals and classes: a: table, I of at most 1000 consecutive submissions" in text
    assert "minutes" not in text


def test_only_empty_rows_have_no_verdict():
    assert judge(make_rows([None, None])).status == "not-run"


@pytest.mark.parametrize(
    ("status", "lower", "upper", "online", "kind", "ratio"),
    [
        ("optimal", 0.0, 0.0, 0.0, "empty", 1.0),
        ("optimal", 2.0, 2.0, 0.0, "infinite", math.inf),
        ("bounded", 0.0, 2.0, 0.0, "interval", 1.0),
        ("bounded", 1.0, 2.0, 1.0, "interval", 1.0),
        ("optimal", 3.0, 3.0, 2.0, "proven", 1.5),
    ],
)
def test_kinds_of_ratios(status, lower, upper, online, kind, ratio):
    assert _kind(status, lower, upper, online) == kind
    assert _ratio(lower, online) == ratio


@pytest.mark.parametrize(
    "ratios",
    [
        [1.0],
        [None],
        [math.inf],
        [(1.0, 3.0), (1.0, math.inf)],
        [1.0, 1.3, 9.0, math.inf, None, (1.1, 1.2)] * 5,
    ],
)
def test_figure_and_table_of_awkward_rows(tmp_path, ratios):
    rows = make_rows(ratios)
    for name in ("ratio.png", "ratio.svg"):
        draw(rows, tmp_path / name, Context(seeds=len(rows)))
        assert (tmp_path / name).stat().st_size > 5000
    table = pd.read_csv(tmp_path / "ratio.csv")
    assert len(table) == len(rows)
    assert np.isinf(table["ratio_low"]).sum() == sum(r == math.inf for r in ratios)
    first = (tmp_path / "ratio.svg").read_bytes()
    draw(rows, tmp_path / "ratio.svg", Context(seeds=len(rows)))
    assert (tmp_path / "ratio.svg").read_bytes() == first


def test_grid_is_what_the_paper_shows():
    points = grid(quick=False)
    assert [point["jobs"] for point in points] == list(range(2, 11))
    assert {(p["slots"], p["machines"], p["preset"]) for p in points} == {(10, 4, "calibrated")}
    assert RATIO.seeds >= 20
