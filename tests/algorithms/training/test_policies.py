"""What every training policy must get right: audits, special cases, seeds, and explanations."""

import math

import pytest

from algorithms.training import POLICIES, run
from algorithms.training.outcome import JobOutcome
from models.files import InputError, to_json
from models.training import TrainingInstance, audit
from models.training.generator import generate
from tests.algorithms.training.kit import cluster, explanation_of, flat, unit_job

BASELINES = ("fifo", "drf", "dorm", "oasis", "optimus")
TWO = [{"gpu": 6.0, "cpu": 6.0}] * 2
PS_ON_CPU = {"ps": {"cpu": 1}}

# Each with the share of jobs that is impossible; elsewhere some job is possible, and one that is
# alone must be completed by everyone.
SPECIAL = {
    "no jobs": cluster(),
    "one slot": cluster(unit_job(worker_slots=1, **PS_ON_CPU), slots=1, machines=TWO),
    "one slot, full": cluster(
        *(unit_job(f"j{i}", worker_slots=1, worker={"gpu": 4}) for i in range(3)), slots=1
    ),
    "one machine": cluster(unit_job("a", **PS_ON_CPU), unit_job("b", arrival=2, **PS_ON_CPU)),
    "all impossible": cluster(
        unit_job("long", epochs=10**6), unit_job("wide", worker={"gpu": 7}), machines=TWO
    ),
    "nothing fits": cluster(
        unit_job("no gpu", ps={"gpu": 1}), machines=[{"cpu": 9.0}, {"cpu": 9.0}]
    ),
    "batch of one": cluster(unit_job(batch=1, worker_slots=5, **PS_ON_CPU), machines=TWO),
    "gamma not whole": cluster(unit_job(workers_per_ps=1.7, **PS_ON_CPU), machines=TWO),
    "gamma below one": cluster(
        unit_job(workers_per_ps=0.3, batch=2, worker_slots=3, **PS_ON_CPU), machines=TWO
    ),
    "gamma beyond the batch": cluster(unit_job(workers_per_ps=50.0, **PS_ON_CPU), machines=TWO),
    "no demand at all": cluster(unit_job(worker={}), unit_job("k", **PS_ON_CPU), machines=TWO),
    "free workers": cluster(unit_job(worker={}, **PS_ON_CPU), machines=TWO),
    "free workers of a huge batch": cluster(
        unit_job(worker={}, batch=10**9, workers_per_ps=1e8, **PS_ON_CPU), machines=TWO
    ),
    "no capacity of a resource": cluster(
        unit_job(worker={"cpu": 1}, **PS_ON_CPU), machines=[{"cpu": 6.0}] * 2
    ),
    "a machine without anything": cluster(
        unit_job(**PS_ON_CPU), machines=[{"gpu": 6.0}, {}, {"cpu": 6.0}]
    ),
    "worth nothing in the end": cluster(
        *(
            unit_job(
                f"j{i}",
                worker_slots=9,
                utility=flat().model_copy(update={"decay": 6.0, "target": 1.0}),
                **PS_ON_CPU,
            )
            for i in range(4)
        ),
        machines=TWO,
        slots=80,
    ),
}


def check(instance, outcome):
    """The audit holds, and the log agrees with the schedule."""
    report = audit(instance, outcome.solution)
    assert report.feasible, report.violations
    assert [job.name for job in outcome.solution.jobs] == [job.name for job in instance.jobs]
    for job, reach in zip(outcome.solution.jobs, instance.reach, strict=True):
        assert (job.reason == "impossible") == (not reach.possible)
        assert (job.reason is None) == (job.completion is not None)
        assert reach.possible or not job.allocation


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(name, policy):
    instance = SPECIAL[name]
    outcome = run(instance, policy)
    check(instance, outcome)
    alone = len(instance.possible_jobs) == 1
    if not instance.possible_jobs:
        assert outcome.solution.objective == 0
    elif policy != "oasis" and (alone or name == "no demand at all"):
        assert outcome.solution.objective > 0


@pytest.mark.parametrize("name", sorted(set(SPECIAL) - {"one machine", "one slot, full"}))
def test_oasis_completes_a_lone_job_where_two_sides_can(name):
    instance = SPECIAL[name]
    assert (run(instance, "oasis").solution.objective > 0) == bool(instance.possible_jobs)


@pytest.mark.parametrize("policy", BASELINES)
@pytest.mark.parametrize("seed", range(6))
def test_random_instances_pass_the_audit(seed, policy):
    preset = "paper" if seed % 3 == 2 else "calibrated"
    scales = (0.5, 1.0, 1.5) if seed % 2 else (1.0,)
    instance = generate(
        jobs=15,
        slots=8 + 2 * seed,
        machines=1 + 2 * seed,
        preset=preset,
        scales=scales,
        seed=seed,
    ).instance
    outcome = run(instance, policy, seed=seed)
    check(instance, outcome)
    check_log(instance, outcome)


def check_log(instance, outcome):
    """Waiting, samples, first slot and reason of each job, counted again from the schedule."""
    entries = {entry.name: entry for entry in outcome.log.decisions}
    assert len(entries) == instance.number_of_jobs
    arrivals = [entry.arrival for entry in outcome.log.decisions]
    assert arrivals == sorted(arrivals)
    for job, result in zip(instance.jobs, outcome.solution.jobs, strict=True):
        entry = entries[job.name]
        slots = {item.slot for item in result.allocation if item.workers}
        assert isinstance(entry, JobOutcome)
        assert (entry.reason, entry.completion) == (result.reason, result.completion)
        assert entry.first_slot == min(slots, default=None)
        assert entry.slots_run == len(slots)
        end = instance.slots - 1 if result.completion is None else result.completion
        assert entry.waiting_slots == end - job.arrival + 1 - len(slots)
        assert job.workload_reached(entry.samples) == (result.completion is not None)
        assert entry.explanation
        words = {
            None: "completed in slot",
            "unfinished": "% of the samples in",
            "not-selected": "never started: waited",
            "impossible": "needs",
        }
        assert words.get(entry.reason, "") in entry.explanation
        if entry.status == "delayed":
            assert f"waited {entry.waiting_slots} slot" in entry.explanation


@pytest.mark.parametrize(
    ("policy", "name"),
    [("pdors", "levels"), ("oasis", "levels"), ("fifo", "most_workers"), ("dorm", "node_limit")],
)
def test_numbers_too_large_to_work_with_are_refused(policy, name):
    parameters = POLICIES[policy].parameters
    assert getattr(parameters.from_options({name: str(10**6)}), name) == 10**6
    with pytest.raises(InputError, match=f"--set: {name}: must be less than or equal to "):
        parameters.from_options({name: str(10**17)})


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        ("best", {}, r"^policy: must be one of pdors, .* \(got \"best\"\)$"),
        ("pdors", {"draw": 3}, "^draw: is not a parameter of pdors, which has gain, theory, "),
        ("pdors", {"draws": 0}, r"^draws: must be greater than or equal to 1 \(got 0\)$"),
        ("pdors", {"gain": math.nan}, "^gain: must be a finite number"),
        ("drf", {"levels": 3}, "^levels: is not a parameter of drf, which has none$"),
    ],
)
def test_wrong_options_are_named_in_one_line(policy, options, message):
    with pytest.raises(InputError, match=message):
        run(cluster(), policy, **options)


@pytest.mark.parametrize("policy", BASELINES)
def test_same_seed_same_bytes(policy):
    instance = generate(jobs=15, slots=10, machines=5, seed=3).instance
    first, second = run(instance, policy, seed=4), run(instance, policy, seed=4)
    assert to_json(first.solution) == to_json(second.solution)
    assert first.counters == second.counters
    assert first.log.decisions == second.log.decisions


def test_seed_matters_to_fifo_only():
    instance = generate(jobs=15, slots=10, machines=5, seed=3).instance
    for policy in BASELINES:
        texts = {to_json(run(instance, policy, seed=seed).solution) for seed in range(3)}
        assert (len(texts) > 1) == (policy == "fifo")


@pytest.mark.parametrize("policy", sorted(set(BASELINES) - {"oasis"}))
def test_nothing_of_the_future_is_used(policy):
    """Jobs that arrive later change nothing before they arrive."""
    whole = generate(jobs=12, slots=12, machines=3, seed=8).instance
    late = max(job.arrival for job in whole.jobs)
    before = [job for job in whole.jobs if job.arrival < late]
    after = [job for job in whole.jobs if job.arrival == late]
    assert before
    assert after

    def instance_of(jobs):
        return TrainingInstance(
            slots=whole.slots, resources=whole.resources, machines=whole.machines, jobs=tuple(jobs)
        )

    def until(outcome):
        return {
            job.name: [item for item in job.allocation if item.slot < late]
            for job in outcome.solution.jobs
            if job.name in {j.name for j in before}
        }

    # FIFO draws by file position, so the later jobs must come last in the file.
    short, long = instance_of(before), instance_of([*before, *after])
    assert until(run(short, policy)) == until(run(long, policy))


@pytest.mark.parametrize("policy", BASELINES)
def test_impossible_jobs_are_skipped_and_disturb_nobody(policy):
    possible = [unit_job(f"j{i}", worker_slots=8, **PS_ON_CPU) for i in range(3)]
    impossible = unit_job("x", worker={"gpu": 7}, **PS_ON_CPU)
    with_it = run(cluster(*possible, impossible, machines=TWO), policy)
    without = run(cluster(*possible, machines=TWO), policy)
    assert with_it.solution.jobs[:3] == without.solution.jobs
    assert with_it.solution.jobs[3].reason == "impossible"
    assert explanation_of(with_it, "x") == "no worker fits together with its parameter servers"


@pytest.mark.parametrize("policy", BASELINES)
def test_counters_are_whole_numbers(policy):
    instance = generate(jobs=8, slots=8, machines=4, seed=0).instance
    counters = run(instance, policy).counters
    assert all(isinstance(value, int) and value >= 0 for value in counters.values())
    assert "waiting_slots" in counters


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_run_counts_is_explained(policy):
    instance = generate(jobs=4, slots=5, machines=3, seed=0).instance
    assert run(instance, policy).counters.keys() == POLICIES[policy].counters.keys()
    assert all(POLICIES[policy].counters.values())


@pytest.mark.slow
@pytest.mark.parametrize("policy", BASELINES)
@pytest.mark.parametrize("preset", ["calibrated", "paper"])
def test_full_size_passes_the_audit(policy, preset):
    """The paper's size, I = 50, T = 20, H = 100, on 20 seeds."""
    for seed in range(20):
        instance = generate(jobs=50, slots=20, machines=100, preset=preset, seed=seed).instance
        outcome = run(instance, policy, seed=seed)
        check(instance, outcome)
        check_log(instance, outcome)
        assert math.isfinite(outcome.solution.objective)
