"""The table of deep networks: what it holds, how it was made, and broken tables."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from experiments.splitting.make_dnn_profiles import main, profiles_text
from models.data import data_file
from models.files import InputError
from models.splitting.profiles import PROFILE_COLUMNS, TABLE, read_profiles

RAW = Path(__file__).parents[4] / "shared" / "data" / "dnn" / "profiles.csv"
needs_raw = pytest.mark.skipif(not RAW.is_file(), reason="the table of layer sizes is not here")


def test_the_shipped_profiles() -> None:
    profiles = read_profiles()
    layers = {name: len(profile.outputs) for name, profile in profiles.items()}
    assert layers == {
        **{"alexnet": 8, "alexnet_torchvision": 8, "vgg16": 16, "resnet50": 18},
        **{"resnet101": 35, "mobilenetv2": 20, "googlenet": 13, "cnn5": 5, "hourglass": 9},
    }
    for name, profile in profiles.items():
        assert profile.name == name
        assert len(profile.layer_names) == len(profile.multiplications) == len(profile.memory)
        assert min(profile.multiplications) > 0


def test_one_multiply_add_counts_as_one() -> None:
    profiles = read_profiles()
    # First layer of AlexNet: 96 kernels of 11 x 11 x 3 on 55 x 55 places.
    assert profiles["alexnet"].multiplications[0] == 96 * 11 * 11 * 3 * 55 * 55
    # Last layer of VGG-16: 4096 x 1000.
    assert profiles["vgg16"].multiplications[-1] == 4_096_000
    assert sum(profiles["alexnet"].multiplications) == pytest.approx(724e6, rel=0.01)


def test_the_five_layer_network_as_printed() -> None:
    cnn5 = read_profiles()["cnn5"]
    assert [m / 1e6 for m in cnn5.multiplications] == [3.81, 20.08, 1.20, 0.07, 0.002]
    assert [m / 1e3 for m in cnn5.memory] == [19.2, 409.6, 4816.9, 294.9, 7.7]
    assert [cnn5.input / 1e3, *(o / 1e3 for o in cnn5.outputs)] == [
        *(9.41, 50.18, 12.54, 1.54, 0.77, 0.04)
    ]


def test_the_hourglass_is_u_shaped() -> None:
    hourglass = read_profiles()["hourglass"]
    sizes = [hourglass.input, *hourglass.outputs]
    assert sizes == [
        *(4 * 256 * 256 * 3, 4 * 128 * 128 * 8, 4 * 64 * 64 * 16, 4 * 32 * 32 * 32),
        *(4 * 16 * 16 * 64, 4 * 16 * 16 * 8),
        *(4 * 32 * 32 * 32, 4 * 64 * 64 * 16, 4 * 128 * 128 * 8, 4 * 256 * 256 * 3),
    ]
    middle = sizes.index(min(sizes))
    assert sizes[: middle + 1] == sorted(sizes[: middle + 1], reverse=True)
    assert sizes[middle:] == sorted(sizes[middle:])
    assert hourglass.multiplications[0] == 9 * 3 * 8 * 128 * 128
    assert hourglass.memory[-1] == 4 * (9 * 8 * 3 + 3)


def test_a_profile_makes_a_job() -> None:
    job = read_profiles()["cnn5"].job("j", "a", "b")
    assert (job.name, job.source, job.destination, job.number_of_layers) == ("j", "a", "b", 5)
    assert job.compute[1] == 20.08e6
    assert job.data.tolist() == [9410, 50180, 12540, 1540, 770, 40]
    assert job.memory[0] == 19200


def test_what_is_read_cannot_change_what_is_read_next() -> None:
    read_profiles().clear()
    assert read_profiles()


# Broken tables.

HEAD = ",".join(PROFILE_COLUMNS)
GOOD = f"# head\n{HEAD}\na,0,input,0,10,0\na,1,conv,5,4,3\nb,0,input,0,1,0\nb,1,fc,2,3,4\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_text(text: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(text)
        return path

    return write_text


def test_a_table_of_ones_own(write: Callable[[str], Path]) -> None:
    profiles = read_profiles(write(GOOD))
    assert list(profiles) == ["a", "b"]
    assert (profiles["a"].input, profiles["a"].multiplications) == (10, (5,))
    assert (profiles["b"].outputs, profiles["b"].memory) == ((3,), (4,))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "has no models"),
        (f"{HEAD}\n", "has no models"),
        (GOOD.replace("model,", "net,"), "line 2: the columns must be model,layer,name"),
        (GOOD + "b,2,fc,1,1\n", "line 7: must have 6 columns"),
        (GOOD + "b,2,fc,1,1,1,1\n", "line 7: must have 6 columns"),
        (GOOD + "b,3,fc,1,1,1\n", "line 7, layer: layers of a model must be 0, 1, 2, ...: 2 comes"),
        (GOOD + "b,1,fc,1,1,1\n", "line 7, layer: layers of a model must be"),
        (GOOD + "c,1,fc,1,1,1\n", "line 7, layer: layers of a model must be 0, 1, 2, ...: 0 comes"),
        (GOOD + "a,2,fc,1,1,1\n", "line 7, model: rows of one model must follow each other"),
        (GOOD + "b,2,fc,-1,1,1\n", "line 7, multiplications: must be a whole number from 0 to"),
        (GOOD + "b,2,fc,1.0,1,1\n", "line 7, multiplications: must be a whole number"),
        (GOOD + "b,2,fc,1,nan,1\n", "line 7, output_bytes: must be a whole number"),
        (GOOD + "b,2,fc,1,1,\n", "line 7, memory_bytes: must be a whole number"),
        (GOOD + f"b,2,fc,1,1,{10**18 + 1}\n", "line 7, memory_bytes: must be a whole number"),
        (GOOD + "b,²,fc,1,1,1\n", "line 7, layer: must be a whole number"),
        (GOOD + " ,0,fc,0,1,0\n", "line 7, model: must not be blank"),
        (GOOD + "b,2,,0,1,0\n", "line 7, name: must not be blank"),
        (GOOD + "c,0,input,1,1,0\n", "line 7, multiplications: must be 0 for the input (got 1)"),
        (GOOD + "c,0,input,0,1,2\n", "line 7, memory_bytes: must be 0 for the input (got 2)"),
        (GOOD + "c,0,input,0,1,0\n", "c: must have at least one layer"),
    ],
)
def test_a_broken_table(write: Callable[[str], Path], text: str, rule: str) -> None:
    path = write(text)
    with pytest.raises(InputError) as caught:
        read_profiles(path)
    assert str(caught.value).startswith(f"{path}: {rule}")
    assert "\n" not in str(caught.value)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_profiles(tmp_path / "missing.csv")


# The script.


@needs_raw
def test_the_shipped_table_is_what_the_script_makes() -> None:
    assert profiles_text(RAW).encode() == data_file(TABLE).read_bytes()


@needs_raw
def test_the_shipped_table_has_half_the_operations_of_the_source() -> None:
    profiles = read_profiles()
    rows = [line.split(",") for line in RAW.read_text().splitlines()[1:]]
    for model, index, name, mflops, output, memory in rows:
        profile, k = profiles[model], int(index) - 1
        if k < 0:
            assert profile.input == int(output)
            continue
        assert profile.layer_names[k] == name
        assert 2 * profile.multiplications[k] == Decimal(mflops) * 10**6
        assert (profile.outputs[k], profile.memory[k]) == (int(output), int(memory))


SOURCE = "model,layer_index,layer_name,mflops,output_bytes,param_bytes\na,0,input,0,7,0\n"


def test_the_script_writes_a_table(write: Callable[[str], Path], tmp_path: Path) -> None:
    raw, output = write(SOURCE + "a,1,conv,2.5,3,4\n"), tmp_path / "out.csv"
    assert main([str(raw), "-o", str(output)]) == 0
    profiles = read_profiles(output)
    assert list(profiles) == ["a", "cnn5", "hourglass"]
    assert profiles["a"].multiplications == (1_250_000,)
    assert str(tmp_path) not in output.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        SOURCE + "a,1,conv,1,1\n",
        SOURCE + "a,2,conv,1,1,1\n",
        SOURCE + "a,1,conv,x,1,1\n",
        SOURCE + "a,1,conv,0.0000005,1,1\n",
        SOURCE + "a,1,conv,0.000001,1,1\n",
    ],
)
def test_the_script_refuses_bad_input_without_writing(
    write: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    output = tmp_path / "out.csv"
    assert main([str(write(text)), "-o", str(output)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert not output.exists()
