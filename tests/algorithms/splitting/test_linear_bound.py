"""The LP of one job for many queues, and the placements of one job: against each other."""

import numpy as np
import pytest

from algorithms.splitting.single.enumeration import all_placements
from algorithms.splitting.single.label_setting import ExactRouter
from algorithms.splitting.single.linear_program import LinearBound, solve_integer, solve_linear
from experiments.splitting.shaped_jobs import disturbed, hostile, random_queues
from models.files import InputError
from models.splitting import Queues
from models.splitting.counterexamples import load_counterexample
from tests.splitting_factories import make_instance, make_job, random_small


@pytest.mark.parametrize("seed", range(60))
def test_the_best_placement_is_the_integer_optimum(seed: int) -> None:
    instance = random_small(seed)
    queues = Queues.initial(instance)
    for job in range(instance.number_of_jobs):
        seconds, route = min(all_placements(instance, job, queues), key=lambda pair: pair[0])
        found = ExactRouter(instance).route(job, queues)
        assert found is not None
        assert found.seconds == pytest.approx(seconds, rel=1e-9, abs=1e-12)
        assert len(route.nodes) == instance.jobs[job].number_of_layers


def test_placements_that_no_way_joins_are_left_out() -> None:
    instance = make_instance([1.0, 1.0, 0.0], [(0, 1, 1.0), (1, 2, 1.0)], [make_job()])
    ((seconds, route),) = all_placements(instance, 0, Queues.initial(instance))
    assert (seconds, route.nodes, route.hops) == (1.0, (0,), ())


def test_too_many_placements_are_refused_in_one_line() -> None:
    many = make_job("j7", compute=[1.0] * 20, data=[1.0] * 21)
    instance = make_instance([1.0, 1.0], [(0, 1, 1.0), (1, 0, 1.0)], [many])
    with pytest.raises(InputError, match=r"^jobs: has more than 1000000 placements .*j7"):
        all_placements(instance, 0, Queues.initial(instance))


@pytest.mark.parametrize("seed", range(10))
def test_one_compiled_program_gives_the_value_of_a_new_one_for_any_queues(seed: int) -> None:
    stream = np.random.default_rng(seed)
    instance, queues = hostile(4, "u-shaped", 5, stream)
    bound = LinearBound(instance, 0)
    for _ in range(4):
        assert bound.value(queues) == pytest.approx(
            solve_linear(instance, 0, queues).value, rel=1e-9
        )
        queues = random_queues(instance, stream)


@pytest.mark.parametrize("seed", range(40))
def test_with_two_layers_the_lp_is_the_integer_optimum(seed: int) -> None:
    instance = random_small(seed, layers=2)
    queues = Queues.initial(instance)
    for job in range(instance.number_of_jobs):
        best = min(seconds for seconds, _ in all_placements(instance, job, queues))
        assert LinearBound(instance, job).value(queues) == pytest.approx(best, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_without_queues_at_nodes_the_lp_is_the_integer_optimum(seed: int) -> None:
    instance, queues = disturbed(0.5, np.random.default_rng(seed))
    queues.node[:] = 0.0
    best = min(seconds for seconds, _ in all_placements(instance, 0, queues))
    assert LinearBound(instance, 0).value(queues) == pytest.approx(best, rel=1e-7)


def test_the_counterexample_and_its_neighbours_have_a_gap() -> None:
    instance = load_counterexample("smallest")
    queues = Queues.initial(instance)
    assert LinearBound(instance, 0).value(queues) == pytest.approx(8.111, abs=1e-6)
    for seed in range(20):
        instance, queues = disturbed(0.1, np.random.default_rng(seed))
        best = min(seconds for seconds, _ in all_placements(instance, 0, queues))
        assert LinearBound(instance, 0).value(queues) < 0.95 * best


def test_an_lp_is_never_above_the_optimum_where_arcs_cost_a_million_times_as_much() -> None:
    """With times counted in the dearest arc's unit the solver's tolerance swallowed the optimum.

    In the draws of this stream one LP was 15.78321 where the optimum is 15.78266.
    """
    stream = np.random.Generator(np.random.PCG64([3, 2001]))
    for _ in range(20):
        instance, queues = disturbed(2.0, stream)
        best = min(seconds for seconds, _ in all_placements(instance, 0, queues))
        assert LinearBound(instance, 0).value(queues) <= best * (1 + 1e-7)
        assert solve_integer(instance, 0, queues).seconds == pytest.approx(best, rel=1e-7)
