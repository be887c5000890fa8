"""``python -m experiments.cli`` is ``schedlab``."""

import sys

from experiments.cli.start import start

sys.exit(start())
