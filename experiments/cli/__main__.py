"""``python -m experiments.cli`` is ``schedlab``."""

import sys

from experiments.cli.main import main

sys.exit(main())
