"""The Eurora-like generator: what it promises, and that seeds fix it."""

import numpy as np
import pytest

from models.dispatch.generator import generate
from models.dispatch.power_model import busy_power, read_cap
from models.dispatch.presets import QUEUES
from models.files import InputError


def test_the_system_is_that_of_the_source() -> None:
    instance = generate(64, 0).instance
    arrays = instance.arrays
    assert arrays.total_capacity.tolist() == [1024, 64, 64, 58 * 16 + 6 * 32]
    assert (arrays.capacity[:, 3] == 32).sum() == 6
    assert instance.idle_power + busy_power(instance.nodes) == 29056  # 29.1 kW
    assert instance.power_cap == pytest.approx(6400 + 0.35 * 22656)


def test_jobs_are_within_their_queue() -> None:
    instance = generate(64, 400, span=3600, seed=3).instance
    queues = {queue.name: queue for queue in QUEUES}
    for job in instance.jobs:
        queue = queues[job.queue or ""]
        assert queue.shortest <= job.duration <= queue.longest
        assert 1 <= len(job.units) <= queue.most_units
        assert job.expected_wait == queue.expected_wait
        assert job.real_duration <= 1.2 * job.duration + 1
    share = np.mean([job.queue == "debug" for job in instance.jobs])
    assert 0.2 < share < 0.4
    submits = [job.submit for job in instance.jobs]
    assert submits == sorted(submits)
    assert 0 <= submits[0] <= submits[-1] <= 3600


def test_a_seed_fixes_the_instance_and_jobs_keep_their_shape() -> None:
    assert generate(4, 10, seed=5).instance == generate(4, 10, seed=5).instance
    assert generate(4, 10, seed=5).instance != generate(4, 10, seed=6).instance
    few, many = generate(4, 5, seed=5).instance, generate(9, 10, cap="90%", seed=5).instance
    assert [job.units for job in few.jobs] == [job.units for job in many.jobs[:5]]


@pytest.mark.parametrize(
    ("text", "watts"), [("none", None), ("1200", 1200.0), ("0%", 6400.0), (" 100 % ", 29056.0)]
)
def test_caps(text: str, watts: float | None) -> None:
    assert read_cap(text, generate(64, 0).instance.nodes) == watts


@pytest.mark.parametrize("text", ["", "-1", "nan", "inf", "half", "%", "1e300"])
def test_wrong_caps(text: str) -> None:
    with pytest.raises(InputError, match="cap: must be watts, per cent"):
        generate(2, 2, cap=text)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"nodes": 0}, "nodes"), ({"jobs": -1}, "jobs"), ({"span": 10**11}, "span")],
)
def test_wrong_sizes(arguments: dict[str, int], field: str) -> None:
    with pytest.raises(InputError, match=f"^{field}: must be"):
        generate(**arguments)
