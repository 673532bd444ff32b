"""A wrong type in a built-in kind is refused in the words of Go's decoder."""

import pytest

from builtin_cases import CREATES, KINDS, Case, answers
from windvane.api.kind import Kind
from windvane.cluster.apiserver.schema.go_decoder import examine
from windvane.cluster.apiserver.schema.scheme import class_for

ANSWERS = answers()


def problem(kind: Kind, manifest: object) -> str:
    return examine(class_for(kind.group, kind.api_version, kind.name), manifest, kind.version).problem


REFUSED = [case for case in CREATES if isinstance(ANSWERS[case.name], str)]
OTHERS = [case for case in CREATES if not isinstance(ANSWERS[case.name], str)]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name[:100])
def test_a_wrong_type_is_told_as_the_real_server_tells_it(case: Case) -> None:
    kind = case.kind
    start = f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}: '
    assert start + problem(kind, case.manifest) == ANSWERS[case.name]


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name[:100])
def test_no_other_manifest_is_refused_for_its_types(case: Case) -> None:
    assert problem(case.kind, case.manifest) == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("?", 0),
        ("MQ", 0),
        ("MQ=", 3),
        ("MTIz?A==", 4),
        ("MQ==x", 4),
        ("MQ=x", 2),
        ("M", 0),
        ("MQ==\n", None),
        ("MT\nIz", None),
    ],
)
def test_bytes_that_are_no_base64_are_refused_where_they_stop_making_sense(text: str, place: int | None) -> None:
    secret = KINDS["v1", "Secret"]
    message = "" if place is None else f"illegal base64 data at input byte {place}"
    assert problem(secret, {"data": {"a": text}}) == message
