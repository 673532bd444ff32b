"""Which object is meant: kinds named as kubectl takes them."""

import pytest

from unit.cli.why.notes import KINDS
from windvane.api.kind import Kind
from windvane.cli.why.reference import WrongReference, find_kind, split_reference

OTHER = Kind(group="other.io", version="v1beta1", name="Deployment", plural="deployments")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("website", "websites.demo.dev"),
        ("Website", "websites.demo.dev"),
        ("ws", "websites.demo.dev"),
        ("websites.demo", "websites.demo.dev"),
        ("websites.v1.demo.dev", "websites.demo.dev"),
        ("deploy", "deployments.apps"),
        ("deployments.other.io", "deployments.other.io"),
        ("deployment.v1beta1.other.io", "deployments.other.io"),
        ("po", "pods"),
        ("pods", "pods"),
    ],
)
def test_kinds_are_named_in_many_ways(words: str, found: str) -> None:
    assert find_kind(words, [*KINDS.values(), OTHER]).resource == found


@pytest.mark.parametrize(
    ("words", "says"),
    [("websit", "did you mean website"), ("deploymnet", "did you mean deployment"), ("zzz", "kubectl api-resources")],
)
def test_one_that_is_not_there_is_told_with_what_is_close(words: str, says: str) -> None:
    with pytest.raises(WrongReference, match=says):
        find_kind(words, KINDS.values())


@pytest.mark.parametrize("words", [["pod/a"], ["pod", "a"]])
def test_kind_and_name_are_one_word_or_two(words: list[str]) -> None:
    assert split_reference(words) == ("pod", "a")


@pytest.mark.parametrize("words", [["pod"], ["pod/"], ["/a"], ["pod/a/b"], ["pod/a", "b"], ["pod", "a", "b"]])
def test_anything_else_is_told_what_to_write(words: list[str]) -> None:
    with pytest.raises(WrongReference, match="KIND/NAME"):
        split_reference(words)
