"""Make the table ``data/dnn_profiles.csv`` from a table of layer sizes.

``python -m experiments.splitting.make_dnn_profiles PROFILES.csv -o data/dnn_profiles.csv``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from models.files import InputError, read_text, write_atomic
from models.splitting.profiles import Profile, profile_table

__all__ = ["cnn5", "converted", "hourglass", "main", "profiles_text"]

SOURCE_COLUMNS = "model,layer_index,layer_name,mflops,output_bytes,param_bytes"
# Printed numbers of the reference's five-layer network: 10^6 multiplications and KB of 1000 bytes.
CNN5_LAYERS = ("conv1+pool1", "conv2+pool2", "fc1", "fc2", "fc3")
CNN5_MULTIPLICATIONS = ("3.81", "20.08", "1.20", "0.07", "0.002")
CNN5_MEMORY = ("19.2", "409.6", "4816.9", "294.9", "7.7")
CNN5_INPUT = "9.41"
CNN5_OUTPUTS = ("50.18", "12.54", "1.54", "0.77", "0.04")

FLOAT = 4  # bytes of a number
KERNEL = 3
# Side and channels of the feature maps of our U-shaped network, from the image to the middle.
HOURGLASS = ((256, 3), (128, 8), (64, 16), (32, 32), (16, 64))
MIDDLE_CHANNELS = 8


def converted(path: Path) -> list[Profile]:
    """Read the table of layer sizes, in which a multiply-add counts as two operations.

    Raises
    ------
    InputError
        Naming file, line and rule.
    """
    models: dict[str, list[tuple[str, int, int, int]]] = {}
    lines = read_text(path).splitlines()
    if not lines or lines[0] != SOURCE_COLUMNS:
        raise InputError(f"line 1: the columns must be {SOURCE_COLUMNS}", source=str(path))
    for number, line in enumerate(lines[1:], start=2):
        try:
            model, index, name, mflops, output, memory = line.split(",")
            multiplications = _exact(mflops, "1e6") // 2
            if multiplications * 2 != _exact(mflops, "1e6"):
                raise ValueError("an odd number of operations")
            layer = int(index)
            row = (name, multiplications, int(output), int(memory))
        except (ValueError, InvalidOperation) as error:
            raise InputError(f"line {number}: {error}", source=str(path), value=line) from None
        rows = models.setdefault(model, [])
        if layer != len(rows):
            raise InputError(f"line {number}: layers must ascend", source=str(path), value=line)
        rows.append(row)
    return [_profile(model, rows) for model, rows in models.items()]


def cnn5() -> Profile:
    """The five-layer network, as printed (rounded)."""
    rows = [("input", 0, _exact(CNN5_INPUT, "1e3"), 0)]
    rows += [
        (name, _exact(multiplications, "1e6"), _exact(output, "1e3"), _exact(memory, "1e3"))
        for name, multiplications, output, memory in zip(
            CNN5_LAYERS, CNN5_MULTIPLICATIONS, CNN5_OUTPUTS, CNN5_MEMORY, strict=True
        )
    ]
    return _profile("cnn5", rows)


def hourglass() -> Profile:
    """Our network with U-shaped data sizes: an image becomes small and then an image again.

    An encoder halves the side four times, a middle layer keeps few channels, a decoder doubles
    the side four times; 3 x 3 convolutions throughout, without connections that skip layers. A
    stride of two or an upsampling by two costs nothing.
    """
    side, channels = HOURGLASS[0]
    rows = [("input", 0, FLOAT * side * side * channels, 0)]
    maps = [
        *((f"down{k}", *size) for k, size in enumerate(HOURGLASS[1:], start=1)),
        ("middle", HOURGLASS[-1][0], MIDDLE_CHANNELS),
        *((f"up{k}", *size) for k, size in enumerate(reversed(HOURGLASS[:-1]), start=1)),
    ]
    for name, side, wide in maps:
        weights = KERNEL * KERNEL * channels * wide
        multiplications = weights * side * side
        memory = FLOAT * (weights + wide)
        rows.append((name, multiplications, FLOAT * side * side * wide, memory))
        channels = wide
    return _profile("hourglass", rows)


def _profile(name: str, rows: Sequence[tuple[str, int, int, int]]) -> Profile:
    names, multiplications, outputs, memory = zip(*rows[1:], strict=True)
    return Profile(name, rows[0][2], names, multiplications, outputs, memory)


def _exact(text: str, unit: str) -> int:
    """A decimal number of some unit, which must be a whole number of ones."""
    number = Decimal(text) * Decimal(unit)
    if number != number.to_integral_value():
        raise ValueError(f"{text} times {unit} is not a whole number")
    return int(number)


def profiles_text(path: Path) -> str:
    """Return the table's text: the same input gives the same bytes."""
    comments = [
        "Deep networks as chains of layers; layer 0 is the input.",
        "multiplications: a multiply-add counts as one; bytes: numbers of four bytes.",
        f"From {path.name}, where a multiply-add counts as two: all but cnn5 and hourglass.",
        "cnn5: printed, rounded numbers, 1 KB = 1000 bytes (Disabato, Roveri, Alippi, 2021).",
        "hourglass: ours, an image encoder and decoder; its data sizes fall and rise again.",
        "made by: python -m experiments.splitting.make_dnn_profiles FILE -o FILE",
    ]
    return profile_table([*converted(path), cnn5(), hourglass()], comments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; returns the exit code (2 for bad input)."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.splitting.make_dnn_profiles",
        description="Make the table of deep networks.",
    )
    parser.add_argument("table", type=Path, metavar="TABLE", help="layer sizes (CSV)")
    parser.add_argument("-o", "--output", required=True, type=Path, help="table to write")
    options = parser.parse_args(arguments)
    try:
        write_atomic(options.output, profiles_text(options.table))
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
