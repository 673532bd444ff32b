"""`windvane image`: saying which program stands for an image."""

from pathlib import Path

import pytest

from windvane.cli import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WINDVANE_HOME", str(tmp_path))
    return tmp_path


def test_a_program_is_named_shown_and_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "add", "web:1", "--", "python", "-m", "http.server", "--bind", "$(WINDVANE_POD_IP)"]) == 0
    assert "web:1 is python -m http.server --bind '$(WINDVANE_POD_IP)'" in capsys.readouterr().out
    assert main(["image", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["IMAGE", "FROM", "PROGRAM"]
    assert lines[1].split()[:3] == ["web:1", "you", "python"]
    assert any(line.startswith("python:* ") for line in lines)
    assert main(["image", "remove", "web:1"]) == 0
    assert main(["image", "list"]) == 0
    assert "web:1" not in capsys.readouterr().out.replace("web:1 is forgotten", "")


def test_a_directory_of_programs_is_named_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "db").touch(mode=0o755)
    assert main(["image", "add", "db:1", "--programs", str(tmp_path)]) == 0
    assert main(["image", "add", "db:2", "--programs", str(tmp_path), "--", "db", "--programs", "x"]) == 0
    assert main(["image", "add", "--programs", str(tmp_path), "db:3", "--", "db"]) == 0
    expected = [
        f"db:1 is db in {tmp_path}",
        f"db:2 is db --programs x (db in {tmp_path})",
        f"db:3 is db (db in {tmp_path})",
    ]
    assert capsys.readouterr().out.splitlines() == expected
    assert main(["image", "list"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split(maxsplit=2) == ["db:1", "you", f"db in {tmp_path}"]


def test_a_directory_that_is_none_is_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "add", "db:1", "--programs", str(tmp_path / "no")]) == 1
    assert "must be a directory with programs: No such file" in capsys.readouterr().err


def test_something_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "add", "db:1"]) == 2
    assert "-- PROGRAM, or --programs DIRECTORY" in capsys.readouterr().err


def test_what_was_not_said_can_not_be_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "remove", "web:1"]) == 1
    assert "windvane image list" in capsys.readouterr().err


def test_a_broken_file_is_pointed_out(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "images.json").write_text("{")
    assert main(["image", "list"]) == 1
    assert "images.json" in capsys.readouterr().err
