"""Made-up logs read back as what they state, and are the same for the same seed."""

from pathlib import Path

import numpy as np
import pytest

from models.dispatch.swf import import_swf, read_swf
from models.dispatch.swf_generator import DAY, make_log, write_log
from models.files import InputError


def test_a_log_has_the_stated_load_and_traits(tmp_path: Path) -> None:
    path = tmp_path / "a.swf"
    write_log(path, 3000, days=14, processors=64, load=0.6, seed=1)
    records, dropped = read_swf(path)
    assert {row.reason for row in dropped} == {"cancelled before it ran"}
    assert len(records) + len(dropped) == 3000
    assert 0.01 < len(dropped) / 3000 < 0.06
    work = sum(record.processors * record.runtime for record in records)
    assert work / (64 * 14 * DAY) == pytest.approx(0.6, rel=0.1)
    assert max(record.processors for record in records) == 8
    outrun = np.mean([record.runtime > record.requested_time for record in records])
    assert 0.005 < outrun < 0.04
    hours = np.array([record.submit // 3600 % 24 for record in records])
    assert (hours == 16).sum() > 2 * (hours == 4).sum()
    assert import_swf(path, 32, 2, memory=16.0).instance.arrays.possible.all()


def test_same_arguments_same_bytes() -> None:
    assert make_log(50, seed=3) == make_log(50, seed=3) != make_log(50, seed=4)
    assert len(make_log(0).splitlines()) == 5


@pytest.mark.parametrize(
    "wrong", [{"jobs": -1}, {"days": 0}, {"processors": 7}, {"load": 0.0}, {"seed": -1}]
)
def test_wrong_arguments_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        make_log(**{"jobs": 10, **wrong})
