"""`python -m windvane.cli` is `windvane`."""

import sys

from windvane.cli import main

sys.exit(main())
