"""The tutorial, followed literally in a fresh environment with the wheel; and what follows it is strict."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.distributions import Distributions, Environment
from integration.tutorial import Change, Command, Prose, Seen, Terminal, apply, follow, missing, steps
from reference.controlplane import Programs

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[list[Terminal]]:
    """Two terminals of somebody who has Python and kubectl, and whose package index has windvane."""
    distributions = Distributions.built(tmp_path / "dist")
    # This wheel, and no release of another version.
    (tmp_path / "constraints.txt").write_text(f"windvane=={distributions.version}\n")
    variables = Environment(tmp_path / "none", tmp_path / "home").variables(Programs.find().directory)
    variables |= {
        "PIP_CONSTRAINT": str(tmp_path / "constraints.txt"),
        "PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {distributions.wheel.parent}",
        "PIP_QUIET": "1",
        "WINDVANE_METRICS_PORT": "0",  # other tests may have the port 8080
    }
    (tmp_path / "home").mkdir()
    terminals = [Terminal(tmp_path / name, tmp_path / "home", variables) for name in ("first", "second")]
    try:
        yield terminals
    finally:
        for terminal in terminals:
            terminal.close()
        # Nothing runs after a test that failed half-way.
        terminals[1].type(Command("windvane cluster stop --name dev-website-operator || true", []))


@pytest.mark.reference
def test_the_tutorial_works_word_for_word(terminals: list[Terminal]) -> None:
    follow(PAGE.read_text(), terminals)
    terminals[1].type(Command("pytest --quiet", ["9 passed in 1.00s"]))


def test_a_page_is_read_as_steps() -> None:
    console = "```console\n$ a\nb 1\n\n$ c\n```\n\n```console\nd\n```\n"
    page = f"Do\n\n{console}\nthen\n\n```diff\n--- f.py\n a\n-b\n+c\n```\n\n```python\nx\n```\n"
    assert [step for step in steps(page) if not isinstance(step, Prose)] == [
        Command("a", ["b 1"]),
        Command("c", []),
        Seen(["d"]),
        Change("f.py", "a\nb\n", "a\nc\n"),
    ]


@pytest.mark.parametrize(
    ("shown", "said", "lacks"),
    [
        (["NAME   AGE", "a-1  5s"], "NAME    AGE\na-20    17s\n", []),
        (["a", "b"], "b\na\n", ["b"]),
        (["...", "2 failed, 7 passed in 1.93s"], "x\n1 failed, 8 passed\n", ["2 failed, 7 passed in 1.93s"]),
        (["... INFO it is (well)"], "12:00 INFO it is (well)\n", []),
        (["9 passed"], "nine passed\n", ["9 passed"]),
    ],
)
def test_what_a_page_shows_must_be_said(shown: list[str], said: str, lacks: list[str]) -> None:
    assert missing(shown, said) == lacks


def test_a_change_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    apply(Change("f", "b\n", "c\n"), tmp_path)
    assert (tmp_path / "f").read_text() == "a\nc\n"
    with pytest.raises(AssertionError, match="0 times"):
        apply(Change("f", "b\n", "c\n"), tmp_path)


def test_a_terminal_keeps_its_directory_and_variables_and_notices_what_fails(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "terminal", tmp_path, {"PATH": "/usr/bin:/bin"})
    terminal.type(Command("mkdir d && cd d && export X=1", []))
    terminal.type(Command('echo "$X $(basename $PWD)"', ["1 d"]))
    with pytest.raises(AssertionError, match="false"):
        terminal.type(Command("false", []))
    with pytest.raises(AssertionError, match="echo a"):
        terminal.type(Command("echo a", ["b"]))
