"""What a project says of itself in its pyproject.toml, and what a command says if that can't be meant."""

import sys
from pathlib import Path

import pytest

from windvane.cli import main
from windvane.cli.load import NoOperator
from windvane.cli.project import Project, operator_named, read_project

NAMED = '[tool.windvane]\noperator = "project_site:operator"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for each in ("samples", "config/samples", "deploy", "rights"):
        (tmp_path / each).mkdir(parents=True)
    (tmp_path / "samples" / "a.yaml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.parametrize(
    ("said", "samples", "deploy"),
    [
        ("", ["samples"], "deploy"),
        ('samples = "samples/a.yaml"\ndeploy = "rights"', ["samples/a.yaml"], "rights"),
        ('samples = ["config/samples", "samples/a.yaml"]', ["config/samples", "samples/a.yaml"], "deploy"),
        ("samples = []", [], "deploy"),
    ],
)
def test_a_project_says_where_things_are(here: Path, said: str, samples: list[str], deploy: str) -> None:
    (here / "pyproject.toml").write_text(NAMED + said)
    assert read_project(here) == Project(
        directory=here,
        operator="project_site:operator",
        samples=[here / each for each in samples],
        deploy=here / deploy,
    )


def test_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    assert read_project(tmp_path) == Project(directory=tmp_path, samples=[])
    (tmp_path / "config/samples").mkdir(parents=True)
    assert read_project(tmp_path).samples == [tmp_path / "config/samples"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no pyproject.toml in {here}: run this in the directory of a project, or name the operator"),
        (
            "[project]",
            '{here}/pyproject.toml names no operator: write operator = "MODULE:operator" under [tool.windvane], or',
        ),
        ("[tool.windvane]\noperator = 1", '{here}/pyproject.toml: tool.windvane.operator must be text: "MODULE:op'),
        ("[tool.windvane]\noperater = 'a'", "{here}/pyproject.toml: [tool.windvane] has 'operater', which means noth"),
        ("[tool]\nwindvane = 'a'", "{here}/pyproject.toml: [tool.windvane] must be a table, with: operator, samples"),
        ("tool = 4", "{here}/pyproject.toml: [tool.windvane] must be a table, with: operator, samples"),
        ("[tool.windvane", "{here}/pyproject.toml can't be read: Expected ']' at the end of a table declaration"),
        (NAMED + "samples = 'no'", "{here}/pyproject.toml: tool.windvane.samples names no, which is not there"),
        (NAMED + "samples = {}", "{here}/pyproject.toml: tool.windvane.samples must be a path, or a list of paths"),
        (NAMED + "deploy = 'no'", "{here}/pyproject.toml: tool.windvane.deploy must be a directory that is there"),
    ],
)
def test_what_can_not_be_meant_is_told_in_a_line(here: Path, content: str | None, said: str) -> None:
    if content is not None:
        (here / "pyproject.toml").write_text(content)
    with pytest.raises(NoOperator) as refused:
        operator_named(None, here)
    assert str(refused.value).startswith(said.format(here=here))
    assert "\n" not in str(refused.value)


def test_the_command_line_wins(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.windvane]\noperator = 1")
    assert operator_named("site:operator", here) == "site:operator"


def test_commands_use_it_also_before_the_project_is_installed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pyproject.toml").write_text(NAMED)
    (here / "src").mkdir()
    (here / "src" / "project_site.py").write_text("from windvane import Operator\n\none = Operator('a')\ntwo = one\n")
    wanted = f"project_site ({here}/src/project_site.py) has no 'operator'; write project_site:one or project_site:two"
    for command in ("run", "doctor"):
        assert main([command]) == 2
        assert wanted in capsys.readouterr().err
    (here / "pyproject.toml").unlink()
    for command in ("run", "crd"):
        assert main([command]) == 2
        assert "there is no pyproject.toml" in capsys.readouterr().err
