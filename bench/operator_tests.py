"""What the tests of an operator cost: those that `windvane init` lays out, four times over, in one run of pytest.

Each test has a cluster of its own in virtual time. Beside them, the same number of tests that do nothing: what pytest
itself takes, with the plugin loaded.

    make bench-tests
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

COPIES = 4
ROUNDS = 3
NOTHING = "def test_nothing(number): ..."


def lay_out(directory: Path) -> Path:
    """A package that `windvane init` makes, with its tests multiplied."""
    program = [sys.executable, "-m", "windvane.cli", "init", "website", "--directory", str(directory)]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
    (suite,) = (directory / "tests").glob("test_*.py")
    for copy in range(1, COPIES):
        shutil.copy(suite, suite.with_name(f"{suite.stem}_{copy}.py"))
    return directory


def idle(directory: Path, count: int) -> Path:
    """As many tests that do nothing."""
    directory.mkdir()
    marked = f"import pytest\n@pytest.mark.parametrize('number', range({count}))\n{NOTHING}\n"
    (directory / "test_idle.py").write_text(marked)
    (directory / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    return directory


class Took(NamedTuple):
    passed: int
    seconds: float
    """From the start of pytest to its end."""
    cpu: float
    """Seconds of all its processes: other work on the machine changes that less."""


def run(directory: Path, *options: str) -> Took:
    """What one run of all tests takes."""
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = "src"  # where a package is before it is installed
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(program, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    passed = re.search(r"(\d+) passed", done.stdout)
    if done.returncode or passed is None:
        raise SystemExit(done.stdout + done.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(int(passed[1]), seconds, cpu)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as place:
        project = lay_out(Path(place, "website"))
        count = run(project).passed  # which also compiles what is run
        nothing = idle(Path(place, "idle"), count)
        print(f"{'':44} tests  seconds   CPU s   a test")
        for words, directory, options in (
            ("tests of an operator, each with its cluster", project, ()),
            ("the same by two processes (pytest -n 2)", project, ("-n", "2")),
            ("tests that do nothing", nothing, ()),
        ):
            best = min((run(directory, *options) for _ in range(ROUNDS)), key=lambda each: each.seconds)
            print(f"{words:44} {best.passed:5}  {best.seconds:7.1f}  {best.cpu:6.1f}   {best.cpu / count:6.2f}")


if __name__ == "__main__":
    main()
