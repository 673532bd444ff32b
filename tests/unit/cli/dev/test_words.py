"""How things are said in the live view."""

import pytest

from windvane.cli.dev.view.manifest import as_yaml
from windvane.cli.dev.view.wording import duration, in_short, plain


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (3599, "59m"), (3600, "1h"), (86399, "23h"), (86400, "1d")],
)
def test_ages_are_short(seconds: float, words: str) -> None:
    assert in_short(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0ms"), (0.0123, "12ms"), (0.0994, "99ms"), (0.0996, "0.1s"), (3.44, "3.4s"), (300, "5m")],
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_what_others_say_moves_no_cursor_and_changes_no_colour() -> None:
    assert plain("a\x1b[31mred\x1b[0m\x1b]0;title\x07 b\x07\r\n\tc\x9b") == "ared b   c"


def test_yaml_has_no_secret_and_no_books_of_field_managers() -> None:
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    meta = {"name": "a", "managedFields": [{"manager": "x"}], "annotations": {applied: "hunter2", "b": "c"}}
    told = as_yaml({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"word": "aHVudGVyMg=="}})
    assert told == (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  annotations:\n    b: c\ndata:\n  word: (hidden)\n"
    )
