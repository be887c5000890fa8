"""Where the console command begins; light, so that Ctrl-C counts while the rest is loaded."""

from __future__ import annotations

__all__ = ["start"]


def start() -> int:
    """Run ``schedlab`` with the process's arguments and return its exit code."""
    try:
        from experiments.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130
