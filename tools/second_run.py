"""Runs pytest, and what failed once more, alone: a busy machine must not stop a change, and a fault must.

    python3 tools/second_run.py .venv/bin/pytest -m "not long" -n 2

At most three failed tests are repeated, in one process. If all pass then, it passes, and prints their names: each
belongs into tests/flaky.md, with what it turned out to be. More failures, a second failure, tests that can't be
collected, and a run that was broken off or killed are not repeated.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

AT_MOST = 3
SOME_FAILED = 1
"""What pytest exits with if all tests were run, and some failed."""
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")
"""Where pytest writes what failed; it also keeps there what failed earlier and was not run again."""


def main(command: Sequence[str]) -> int:
    """Run the command, and again what failed; the exit code."""
    LAST_FAILED.unlink(missing_ok=True)
    code = subprocess.call(command)
    failed = sorted(json.loads(LAST_FAILED.read_text())) if code == SOME_FAILED and LAST_FAILED.is_file() else []
    collected = all("::" in each for each in failed)
    if not collected or not 0 < len(failed) <= AT_MOST:
        return code
    print(f"\nOnce more, alone: {', '.join(failed)}", flush=True)
    alone = ["-n", "0"] if "-n" in command else []  # not every environment has xdist
    code = subprocess.call([*command, *alone, "--last-failed", "--last-failed-no-failures", "none"])
    if code == 0:
        print(f"needed a second run: {', '.join(failed)}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
