"""What is no JSON to Python is none to us, and what Go would say about it is said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.encoding.go_json import TRUNCATED, go_json_problem

DOCUMENT = b'{"a": [1, -2.5e+3, {"b": null, "c": true}], "d": "x\\u12ab\\n", "e": {}, "f": []}'
PIECES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"0", b"-", b".", b"e", b"n", b"\\", b" ", b"x", b"\n", b""]


@pytest.mark.parametrize("length", range(len(DOCUMENT)))
def test_a_document_that_ends_early_is_truncated(length: int) -> None:
    assert go_json_problem(DOCUMENT[:length]) == TRUNCATED


@given(st.lists(st.tuples(st.integers(0, len(DOCUMENT) - 1), st.sampled_from(PIECES)), max_size=3))
def test_there_is_a_problem_with_all_that_is_no_json(changes: list[tuple[int, bytes]]) -> None:
    document = DOCUMENT
    for place, piece in changes:
        document = document[:place] + piece + document[place + 1 :]
    try:
        json.loads(document)
    except ValueError:
        assert go_json_problem(document)
    else:
        assert not go_json_problem(document)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"'", "invalid character '\\'' looking for beginning of value"),
        (b'{"a" "b"}', "invalid character '\"' after object key"),
        (b'"a\tb"', "invalid character '\\t' in string literal"),
        (b"falsy", "invalid character 'y' in literal false (expecting 'e')"),
        (b"[1]]", "invalid character ']' after top-level value"),
    ],
)
def test_a_character_is_shown_as_go_shows_it(body: bytes, problem: str) -> None:
    assert go_json_problem(body) == problem
