"""Whatever is wrong with the input: exit code 2, one line on stderr, nothing on stdout or disk."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from models.training import load_instance

RUN = "training run {instance} --policy stub"
OPTIMUM = "training optimum {instance}"

CASES = [
    # usage
    ("", "schedlab: Missing command"),
    ("nothing", "No such command 'nothing'"),
    ("training", "schedlab training: Missing command"),
    ("training nothing", "No such command 'nothing'"),
    ("training run", "Missing argument 'INSTANCE'"),
    ("training run {instance}", "Missing option '--policy'"),
    (f"{RUN} --what", "No such option: --what"),
    (f"{RUN} extra", "unexpected extra argument"),
    (f"{RUN} --seed one", "--seed"),
    (f"{RUN} --seed -1", "--seed"),
    (f"{RUN} --seed 1.5", "--seed"),
    ("training generate", "Missing option"),
    # policies and their parameters
    ("training run {instance} --policy none", "--policy: must be one of stub, "),
    ("training run {instance} --policy Stub", '(got "Stub")'),
    (f"{RUN} --set level=1", "is not a parameter of stub, which has workers, share"),
    ("training run {instance} --policy crash --set a=1", "of crash, which has none"),
    (f"{RUN} --set workers", '--set: must be written key=value (got "workers")'),
    (f"{RUN} --set =3", "--set: must be written key=value"),
    (f"{RUN} --set workers=1 --set workers=2", '--set: must set each key once (got "workers")'),
    (f"{RUN} --set workers=0", '--set: workers: must be greater than or equal to 1 (got "0")'),
    (f"{RUN} --set workers=two", "--set: workers:"),
    (f"{RUN} --set workers=", "--set: workers:"),
    (f"{RUN} --set share=nan", "--set: share:"),
    (f"{RUN} --set share=inf", "--set: share:"),
    (f"{RUN} --set mode=sideways", "--set: mode:"),
    ("training compare {instance} --policies stub,none", "--policies: must be one of stub"),
    ("training compare {instance} --policies stub,stub", "--policies: must name each policy once"),
    ("training compare {instance} --policies stub,", "--policies: must be one of stub"),
    ("training compare {instance} --policies stub --seeds 0", "--seeds"),
    # where output goes
    (f"{RUN} -o {{out}}/no/a.json", "-o: must be in an existing folder"),
    (f"{RUN} -o {{out}}", "-o: must be a file, but is a folder"),
    (f"{RUN} -o {{instance}}", "-o: must not be the same file as an input file"),
    (f"{RUN} -o {{instance}}/a.json", "-o: must be in an existing folder"),
    (f"{RUN} --plot {{out}}/a.pdf", "--plot: must end in .png or .svg"),
    (f"{RUN} --plot {{out}}/no/a.png", "--plot: must be in an existing folder"),
    (f"{RUN} -o {{out}}/a.png --plot {{out}}/a.png", "--plot: must not be the same file as -o"),
    (f"{RUN} -o {{out}}/{'a' * 300}", "-o: "),
    ("training plot {instance} {solution} -o {out}/a.jpg", "-o: must end in .png or .svg"),
    ("training plot {instance} {solution} -o {out}/no/a.png", "-o: must be in an existing folder"),
    ("training plot {instance} {solution} -o {solution}", "-o: must end in .png or .svg"),
    ("training generate -o {out}/no/a.json", "-o: must be in an existing folder"),
    (f"{OPTIMUM} --write-model {{out}}/a.txt", "--write-model: must end in .lp or .mps"),
    (f"{OPTIMUM} --write-model {{out}}/no/a.lp", "--write-model: must be in an existing folder"),
    (f"{OPTIMUM} -o {{out}}/no/a.json", "-o: must be in an existing folder"),
    (f"{OPTIMUM} --time-limit 0", "--time-limit: must be a positive, finite number"),
    (f"{OPTIMUM} --time-limit nan", "--time-limit: must be a positive, finite number"),
    (f"{OPTIMUM} --time-limit soon", "--time-limit"),
    # generator
    ("training generate -o {out}/a.json --jobs -1", "--jobs"),
    ("training generate -o {out}/a.json --slots 0", "--slots"),
    ("training generate -o {out}/a.json --machines 0", "--machines"),
    (
        "training generate -o {out}/a.json --preset none",
        "--preset: must be one of calibrated, paper",
    ),
    ("training generate -o {out}/a.json --mix none", "--mix: must be one of default, google"),
    ("training generate -o {out}/a.json --locality 0.5", "--locality: must be a number from 1"),
    ("training generate -o {out}/a.json --locality nan", "--locality: must be a number from 1"),
    ("training generate -o {out}/a.json --arrivals {out}/no.csv", "no.csv: cannot be read"),
    ("training generate -o {out}/a.json --arrivals {instance}", "instance.json: "),
    # files
    ("training describe {out}/no.json", "no.json: cannot be read: No such file or directory"),
    ("training describe {out}", "cannot be read: Is a directory"),
    ("training describe {solution}", 'solution.json: kind: must be "training"'),
    ("training run {out}/no.json --policy stub -o {out}/a.json", "no.json: cannot be read"),
    ("training run {solution} --policy stub -o {out}/a.json", "solution.json: kind"),
    ("training audit {instance} {out}/no.json", "no.json: cannot be read"),
    ("training audit {instance} {instance}", 'instance.json: kind: must be "training-schedule"'),
    ("training audit {instance} {foreign}", "foreign.json: jobs[0].name: is not a job of"),
    ("training plot {instance} {foreign} -o {out}/a.png", "foreign.json: jobs[0].name: is not"),
    # experiments
    ("reproduce", "FIGURE: name a figure, or all; --list shows them"),
    ("reproduce nothing", "must be one of the known experiments"),
    ("reproduce all --seeds 0", "--seeds"),
    ("reproduce all --workers 0", "--workers"),
    ("reproduce all --arrivals {out}/no.csv", "--arrivals: must be an existing file"),
    ("reproduce all --arrivals {out} --dry-run", "--arrivals: must be an existing file"),
    ("claims nothing", "FAMILY: must be one of"),
    ("bench nothing", "FAMILY: must be one of training"),
]


@pytest.fixture
def files(instance: Path, out: Path) -> dict[str, Path]:
    schedule = {
        "kind": "training-schedule",
        "version": 1,
        "policy": "p",
        "objective": 0.0,
        "jobs": [],
    }
    outcome = {"admitted": False, "completion": None, "utility": 0.0, "reason": None}
    jobs = [{"name": job.name, **outcome, "allocation": []} for job in load_instance(instance).jobs]
    solution = instance.with_name("solution.json")
    solution.write_text(json.dumps({**schedule, "jobs": jobs}))
    foreign = instance.with_name("foreign.json")
    foreign.write_text(json.dumps({**schedule, "jobs": [{**jobs[0], "name": "other"}]}))
    return {"instance": instance, "out": out, "solution": solution, "foreign": foreign}


def check_refusal(result, message: str) -> None:
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert result.err.endswith("\n")
    assert result.err.count("\n") == 1
    assert message in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("command", "message"), CASES, ids=[case[0] or "nothing" for case in CASES]
)
def test_refusals(
    cli: Callable, files: dict[str, Path], command: str, message: str, monkeypatch, tmp_path
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    check_refusal(cli(*command.format(**files).split()), message)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"batch": 4', '"batch": 0', "jobs[0].batch: must be greater than or equal to 1 (got 0)"),
        ('"batch": 4', '"batch": 4.0', "jobs[0].batch: must be a valid integer (got 4.0)"),
        ('"slots": 3', '"slots": "3"', "slots: must be a valid integer"),
        ('"slots": 3', '"slots": 3, "slot": 4', "slot: is not a known field"),
        ('"slots": 3, ', "", "slots: is required"),
        ('"version": 1', '"version": 2', "version: must be 1 (got 2)"),
        ('"gpu": 8', '"gpu": NaN', "machines[0].capacity.gpu: "),
        ('"gpu": 8', '"gpu": 1e999', "machines[0].capacity.gpu: "),
        ('"gpu": 8', '"tpu": 8', "machines[0].capacity.tpu: is not one of the declared resources"),
        ('"j1"', '"j0"', "jobs[1].name: names must be unique"),
        ("{", "[", "is not JSON"),
        ('"training"', '"ü"', 'kind: must be "training"'),
    ],
)
@pytest.mark.parametrize("command", ["describe {0}", "run {0} --policy stub -o {1} --json"])
def test_broken_instances(
    cli: Callable, instance: Path, out: Path, command: str, old: str, new: str, message: str
) -> None:
    text = instance.read_text()
    assert old in text
    instance.write_text(text.replace(old, new, 1))
    result = cli("training", *command.format(instance, out / "a.json").split())
    check_refusal(result, f"error: {instance}: {message}" if message[0] != "i" else message)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"\xff\xfe{", b"null", b"[" * 100_000, b"{}", b"\0"])
def test_files_that_are_no_instances(cli: Callable, out: Path, data: bytes) -> None:
    path = out / "a.json"
    path.write_bytes(data)
    check_refusal(cli("training", "describe", path), f"error: {path}: ")


def test_a_name_with_line_breaks_stays_on_one_line(cli: Callable, instance: Path) -> None:
    instance.write_text(instance.read_text().replace('"gpu": 8', '"g\\np\\u0007u": 8', 1))
    check_refusal(cli("training", "describe", instance), "is not one of the declared resources")


def test_a_folder_that_cannot_be_written_is_found_before_the_work(
    cli: Callable, instance: Path, out: Path, monkeypatch
) -> None:
    # Whoever runs this may be root, to whom every folder is open.
    monkeypatch.setattr("experiments.cli.arguments.os.access", lambda *_: False)
    result = cli("training", "run", instance, "--policy", "crash", "-o", out / "a.json")
    check_refusal(result, "-o: must be in a writable folder")
