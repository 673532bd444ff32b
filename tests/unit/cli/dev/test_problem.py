"""Where a traceback comes from."""

import traceback
from pathlib import Path

import pytest

from windvane.cli.dev.view.problem import read_problem


def traceback_of(file: Path, code: str) -> str:
    file.write_text(code)
    try:
        exec(compile(code, str(file), "exec"), {})
    except BaseException:  # noqa: BLE001 - an operator may raise anything
        return traceback.format_exc()
    raise AssertionError("it was to fail")


@pytest.mark.parametrize(
    ("code", "line", "source", "error"),
    [
        ("a = 1\nb = a +\n", 2, "b = a +", "SyntaxError: invalid syntax"),
        ("def f():\n    return spec\n\nf()\n", 2, "return spec", "NameError: name 'spec' is not defined"),
        ("import nowhere\n", 1, "import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("import json\njson.loads('{')\n", 2, "json.loads('{')", "json.decoder.JSONDecodeError: "),
        ("raise ValueError('one\\ntwo')\n", 1, "raise ValueError('one\\ntwo')", "ValueError: one"),
        ("raise SystemExit(3)\n", 1, "raise SystemExit(3)", "SystemExit: 3"),
        (
            "try:\n    1 / 0\nexcept Exception as e:\n    raise KeyError(1) from e\n",
            4,
            "raise KeyError(1) from e",
            "KeyError: 1",
        ),
    ],
)
def test_a_traceback_leads_to_the_authors_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, line: int, source: str, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = read_problem(traceback_of(tmp_path / "operator.py", code))
    assert found.place == f"operator.py:{line}"
    assert found.source == source
    assert found.error.startswith(error)


@pytest.mark.parametrize(
    ("words", "error"), [("", ""), ("it was killed\n", "it was killed"), ("one\nlast words\n\n", "last words")]
)
def test_other_last_words_are_told_as_they_are(words: str, error: str) -> None:
    found = read_problem(words)
    assert (found.error, found.place, found.source) == (error, "", "")
