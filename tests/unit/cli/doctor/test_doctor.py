"""`windvane doctor`, as far as it needs no cluster."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from windvane.cli import main
from windvane.cli.doctor.finding import fail, ok, show, warn
from windvane.cli.doctor.machine_checks import check_machine

Kubectl = Callable[[str], None]


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    """Puts a kubectl on PATH that prints something, and nothing else."""

    def put(prints: str) -> None:
        program = tmp_path / "kubectl"
        program.write_text(f"#!/bin/sh\necho '{prints}'\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")

    return put


@pytest.mark.parametrize(
    ("prints", "level"),
    [
        ('{"clientVersion": {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}}', "ok"),
        ('{"clientVersion": {"major": "1", "minor": "30+", "gitVersion": "v1.30.1-eks"}}', "warn"),
        ("nonsense", "warn"),
        ("{}", "warn"),
    ],
)
def test_which_kubectl_it_is(kubectl: Kubectl, prints: str, level: str) -> None:
    kubectl(prints)
    (found,) = [each for each in check_machine() if each.what == "kubectl"]
    assert found.level == level


def test_a_machine_without_kubectl_is_told_where_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = [each for each in check_machine() if each.what == "kubectl"]
    assert (found.level, found.words) == ("warn", "not on PATH")
    assert found.remedy


def test_findings_are_lines_with_their_remedies_below() -> None:
    to = io.StringIO()
    assert show([ok("Python", "3.13"), warn("kubectl", "not on PATH", "install it")], to)
    assert not show([fail("cluster", "no answer\nnone at all", "start it")], to)
    assert to.getvalue().splitlines() == [
        "ok   Python         3.13",
        "warn kubectl        not on PATH",
        "                    → install it",
        "fail cluster        no answer",
        "                    none at all",
        "                    → start it",
    ]


def test_without_a_cluster_it_fails_and_says_how_to_have_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["doctor"]) == 1
    assert "→ to have one on this machine: windvane cluster start --detach" in capsys.readouterr().out


def test_an_operator_that_is_not_there_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "no_such_module:operator"]) == 2
    printed = capsys.readouterr()
    assert "there is no module 'no_such_module'" in printed.err
    assert printed.out == ""
