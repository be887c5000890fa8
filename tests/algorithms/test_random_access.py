"""Numbers at any position of a stream are NumPy's."""

import numpy as np
import pytest

from algorithms.random_access import jumps_ahead, random_at, stream_words, times


@pytest.mark.parametrize("seed", [0, 1, [7, 3]])
def test_numbers_at_any_position_are_numpys(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    stream = stream_words(rng.bit_generator)
    drawn = rng.random(1000)
    assert [random_at(stream, n) for n in range(1000)] == drawn.tolist()
    far = np.random.Generator(np.random.PCG64(seed))
    far.bit_generator.advance(10**12)
    assert random_at(stream, 10**12) == far.random()


def test_jumps_add_up():
    stream = stream_words(np.random.PCG64(5))
    jumps = jumps_ahead(40, stream[2], stream[3])
    for step in (1, 3, 8):
        for count in (0, 1, 4, 5):
            assert np.array_equal(times(count, jumps[step])[0], jumps[step * count])
