"""How the command ends when something is wrong: a line, and a traceback only where one is wanted."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from unittest.mock import patch

import pytest

from windvane.cli import crd, main
from windvane.cli.command_error import crash_file


@pytest.fixture(autouse=True)
def defect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`windvane crd` has one."""

    def fails(options: object) -> int:
        del options
        raise ZeroDivisionError("as no\ncommand should")

    monkeypatch.setattr(crd, "_print", fails)
    monkeypatch.setenv("WINDVANE_HOME", str(tmp_path / "home"))


@contextmanager
def standard_error(*, terminal: bool = True) -> Iterator[io.StringIO]:
    """What is written there; a person looks at a terminal."""
    shown = io.StringIO()
    with patch.object(shown, "isatty", lambda: terminal), redirect_stderr(shown):
        yield shown


def test_a_defect_is_told_in_a_line_and_kept_for_a_bug_report() -> None:
    with standard_error() as shown:
        assert main(["crd", "website"]) == 1
    assert shown.getvalue() == (
        "windvane: ZeroDivisionError: as no command should "
        "(this is a defect: -v shows where, windvane bug-report collects what is needed)\n"
    )
    assert "in fails\n" in crash_file(os.environ).read_text()


@pytest.mark.parametrize("arguments", [["-v", "crd", "website"], ["crd", "-v", "website"]])
def test_its_traceback_is_shown_on_demand(arguments: list[str]) -> None:
    with standard_error() as shown:
        assert main(arguments) == 1
    assert shown.getvalue().count("in fails") == 1


def test_its_traceback_is_in_a_log() -> None:
    with standard_error(terminal=False) as log:
        assert main(["crd", "website"]) == 1
    assert log.getvalue().count("in fails") == 1


def test_its_traceback_is_shown_if_it_can_not_be_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WINDVANE_HOME", str(tmp_path / "file"))
    with standard_error() as shown:
        assert main(["crd", "website"]) == 1
    assert shown.getvalue().count("in fails") == 1


def test_a_reader_that_goes_away_is_no_error() -> None:
    windvane = f"{sys.executable} -m windvane.cli"
    said = subprocess.run(
        ["bash", "-c", f"set -o pipefail; for _ in 1 2 3; do {windvane} completion bash; done | head -1 >/dev/null"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (said.returncode in (0, 141), said.stderr) == (True, "")


def test_what_an_author_did_is_a_line_and_its_traceback_is_shown_on_demand_and_in_a_pod(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "complaint_site.py").write_text("\nimport complaint_nothing\n")
    line = "complaint_site can't be imported: ModuleNotFoundError: No module named 'complaint_nothing'"
    line = f"windvane: {line} (complaint_site.py, line 2)"
    for arguments, in_pod in (([], False), (["-v"], False), ([], True)):
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "") if in_pod else None
        with standard_error() as shown:
            assert main(["crd", "complaint_site", *arguments]) == 1
        *before, last = shown.getvalue().splitlines()
        if arguments or in_pod:
            assert (last, before[0]) == (line, "Traceback (most recent call last):")
        else:
            assert (last, before) == (f"{line}; -v shows the traceback", [])
