"""What failed is run once more, alone: on a suite of its own, by a pytest of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "second_run.py"

SUITE = """
import os
from pathlib import Path

import pytest


def test_well():
    assert os.environ["MOOD"] == "good"


@pytest.mark.parametrize("number", range({unlucky}))
def test_fails_at_first(number):
    been_here = Path(f"been-here-{{number}}")
    first = not been_here.exists()
    been_here.touch()
    assert not first
    assert "PYTEST_XDIST_WORKER" not in os.environ, "it is not alone"
"""
ALWAYS = "\n\ndef test_always():\n    assert False\n"


class Suite:
    """A directory with tests."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "pytest.ini").write_text("[pytest]\n")

    def write(self, text: str, name: str = "test_suite.py") -> None:
        (self.directory / name).write_text(text)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, str(TOOL), sys.executable, "-m", "pytest", *words]
        environ = {"MOOD": "good", "PATH": "/usr/bin:/bin"}
        return subprocess.run(command, cwd=self.directory, env=environ, capture_output=True, text=True, check=False)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


@pytest.mark.parametrize("words", [(), ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")])
def test_what_fails_only_at_first_passes_and_is_named(suite: Suite, words: tuple[str, ...]) -> None:
    suite.write(SUITE.format(unlucky=3))
    done = suite.run(*words)
    assert done.returncode == 0, done.stdout
    assert "3 failed, 1 passed" in done.stdout, "pytest's own words stay"
    assert "3 passed" in done.stdout
    names = ", ".join(f"test_suite.py::test_fails_at_first[{number}]" for number in range(3))
    assert done.stdout.splitlines()[-1] == f"needed a second run: {names}"


def test_who_passes_is_run_once(suite: Suite) -> None:
    suite.write(SUITE.format(unlucky=0).replace('os.environ["MOOD"]', '"good"'))
    done = suite.run("-k", "well")
    assert (done.returncode, done.stdout.count("test session starts")) == (0, 1)
    assert "second run" not in done.stdout


ONCE = {
    "four that fail": (SUITE.format(unlucky=4), 1),
    "one that can't be collected": ("import nothing_of_that_name\n" + SUITE.format(unlucky=1), 2),
    "a run that is broken off": ("import pytest\ndef test_it():\n    pytest.exit('enough')\n", 2),
    "a killed one": ("import os, signal\ndef test_it():\n    os.kill(os.getpid(), signal.SIGKILL)\n", -9),
    "nothing to run": ("", 5),
}


@pytest.mark.parametrize("name", ONCE)
def test_not_repeated(suite: Suite, name: str) -> None:
    text, code = ONCE[name]
    suite.write(text)
    done = suite.run()
    assert done.returncode in (code, 256 + code)
    assert done.stdout.count("test session starts") == 1


def test_what_can_not_be_collected_by_several_workers_is_not_repeated(suite: Suite) -> None:
    suite.write("import nothing_of_that_name\n", "test_other.py")
    suite.write(SUITE.format(unlucky=1))
    done = suite.run("-n", "2")
    assert done.returncode != 0
    assert done.stdout.count("test session starts") == 1


def test_a_second_failure_counts(suite: Suite) -> None:
    suite.write(SUITE.format(unlucky=1) + ALWAYS)
    done = suite.run()
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "needed a second run" not in done.stdout


def test_what_failed_in_an_earlier_run_is_not_counted(suite: Suite) -> None:
    suite.write("\n".join(f"def test_{number}():\n    assert False\n" for number in range(4)), "test_earlier.py")
    assert suite.run().returncode == 1
    suite.write(SUITE.format(unlucky=1))
    assert suite.run("test_suite.py").returncode == 0
