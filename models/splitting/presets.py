"""The settings of generated splitting instances (splitting.md, "Settings"); ours where marked."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BOARDS", "LINK_RATE", "LOWEST_SHARE", "MODELS", "RADIUS", "SIDE", "Board", "board_of"]

MEBIBYTE = 2**20
SIDE = 30.0  # m, of the square that the nodes lie in
RADIUS = 7.5  # m: nodes that are closer have a link (ours: the paper's link law is unknown)
LINK_RATE = 72.2e6 / 8  # bytes/s, of a link of full rate at gamma = 1
LOWEST_SHARE = 0.1  # a link has U(0.1, 1) of the full rate (ours)
MODELS = ("cnn5", "alexnet", "resnet50")  # each as likely (ours)


@dataclass(frozen=True)
class Board:
    """A kind of node.

    Attributes
    ----------
    name : str
    rate : float
        Multiplications per second.
    memory : float
        Bytes for parameters, half of the board's RAM.
    share : float
        Of all nodes.
    """

    name: str
    rate: float
    memory: float
    share: float


BOARDS = (
    Board("OPZ", 480e6, 128.0 * MEBIBYTE, 0.45),
    Board("BAI", 300e6, 512.0 * MEBIBYTE, 0.45),
    Board("RP3", 560e6, 512.0 * MEBIBYTE, 0.10),
)


def board_of(rate: float | None) -> str | None:
    """Name of the board with this rate [operations/s], for pictures; None if there is none."""
    return next((board.name for board in BOARDS if board.rate == rate), None)
