"""Errors: which exception an answer becomes, and what it says when a proxy answered instead of the server."""

import json

import pytest

from unit.client.fakes import status
from windvane.api.status import APIStatus
from windvane.client import errors
from windvane.client.errors import APIError, Invalid, NotFound, error_from_answer, error_from_status

REASONS = [
    ("BadRequest", errors.BadRequest),
    ("Unauthorized", errors.Unauthorized),
    ("Forbidden", errors.Forbidden),
    ("NotFound", errors.NotFound),
    ("AlreadyExists", errors.AlreadyExists),
    ("Conflict", errors.Conflict),
    ("Gone", errors.Gone),
    ("Expired", errors.Gone),
    ("RequestEntityTooLarge", errors.TooLarge),
    ("Invalid", errors.Invalid),
    ("TooManyRequests", errors.TooManyRequests),
    ("InternalError", errors.InternalError),
    ("ServerTimeout", errors.ServerTimeout),
    ("ServiceUnavailable", errors.Unavailable),
    ("Timeout", errors.ServerTimeout),
    ("MethodNotAllowed", APIError),
    ("NotAcceptable", APIError),
    ("UnsupportedMediaType", APIError),
]
CODES = [
    (302, APIError),
    (400, errors.BadRequest),
    (401, errors.Unauthorized),
    (403, errors.Forbidden),
    (404, errors.NotFound),
    (405, APIError),
    (409, errors.Conflict),
    (410, errors.Gone),
    (413, errors.TooLarge),
    (422, errors.Invalid),
    (429, errors.TooManyRequests),
    (500, errors.InternalError),
    (502, errors.Unavailable),
    (503, errors.Unavailable),
    (504, errors.ServerTimeout),
    (599, APIError),
]


def answered(code: int, body: bytes | dict[str, object], request: str = "GET /api/v1/pods") -> APIError:
    return error_from_answer(code, body if isinstance(body, bytes) else json.dumps(body).encode(), request)


@pytest.mark.parametrize(("reason", "expected"), REASONS)
def test_a_reason_decides_the_exception_whatever_the_code(reason: str, expected: type[APIError]) -> None:
    assert type(answered(599, status(599, reason))) is expected


@pytest.mark.parametrize(("code", "expected"), CODES)
def test_without_a_reason_the_code_decides(code: int, expected: type[APIError]) -> None:
    assert type(answered(code, status(code))) is expected


@pytest.mark.parametrize(("code", "expected"), CODES)
def test_an_answer_that_is_not_from_an_api_server_is_known_by_its_code(code: int, expected: type[APIError]) -> None:
    error = answered(code, b"oops")
    assert type(error) is expected
    assert error.code == code


def test_an_error_speaks_the_servers_own_words() -> None:
    error = answered(404, status(404, "NotFound", 'pods "web" not found'))
    assert str(error) == 'pods "web" not found'
    assert (error.code, error.reason, error.causes) == (404, "NotFound", [])


def test_invalid_has_a_cause_for_each_field() -> None:
    causes = [
        {"reason": "FieldValueInvalid", "message": "must be positive", "field": "spec.size"},
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.image"},
    ]
    error = answered(422, {**status(422, "Invalid"), "details": {"name": "web", "causes": causes}})
    assert isinstance(error, Invalid)
    assert [(cause.field, cause.message) for cause in error.causes] == [
        ("spec.size", "must be positive"),
        ("spec.image", "Required value"),
    ]


def test_details_that_go_writes_as_null_are_no_hindrance() -> None:
    error = answered(422, {**status(422, "Invalid"), "details": {"name": "web", "causes": None}})
    assert isinstance(error, Invalid)
    assert error.causes == []


def test_the_code_of_the_answer_stands_in_for_one_that_the_status_lacks() -> None:
    body = {**status(0), "code": None}
    error = answered(404, body)
    assert isinstance(error, NotFound)
    assert error.code == 404


def test_a_status_without_a_message_still_says_what_was_asked_and_keeps_its_causes() -> None:
    body = {**status(422, "Invalid", ""), "details": {"causes": [{"field": "spec.size"}]}}
    error = answered(422, body)
    assert "GET /api/v1/pods was answered with 422" in str(error)
    assert [cause.field for cause in error.causes] == ["spec.size"]


@pytest.mark.parametrize(
    ("body", "excerpt"),
    [
        (b"<html>\r\n  <h1>502 Bad Gateway</h1>\n</html>", "<html> <h1>502 Bad Gateway</h1> </html>"),
        (b"upstream connect error", "upstream connect error"),
        (b"", "(no body)"),
        (b" \n", "(no body)"),
        (b'{"kind": "Status", "message": "half', '{"kind": "Status", "message": "half'),
        (b'["a", "list"]', '["a", "list"]'),
        (b"null", "null"),
        (b'{"message": "Missing Token"}', '{"message": "Missing Token"}'),
        (b'{"kind": "Pod", "message": "?"}', '{"kind": "Pod", "message": "?"}'),
        (b'{"kind": "Status", "message": 7}', '{"kind": "Status", "message": 7}'),
    ],
)
def test_what_is_no_status_is_shown_with_what_was_asked(body: bytes, excerpt: str) -> None:
    assert str(answered(502, body)) == f"GET /api/v1/pods was answered with 502 Bad Gateway: {excerpt}"


def test_a_binary_body_is_shown_without_what_could_play_tricks_on_a_terminal() -> None:
    message = str(answered(500, b"\x1b[2Jgone\x00\xff\x07"))
    assert "gone" in message
    assert message.isprintable()


def test_a_huge_body_is_shown_in_part() -> None:
    message = str(answered(500, b"x" * 10_000_000))
    assert "xxx" in message
    assert len(message) < 400


def test_a_code_that_nobody_knows_is_shown_as_a_number() -> None:
    assert str(answered(599, b"?")) == "GET /api/v1/pods was answered with 599: ?"


def test_a_status_with_nothing_in_it_is_still_an_error_with_words() -> None:
    assert str(error_from_status(APIStatus(code=418, reason="Teapot"))) == "418 Teapot"


def test_a_person_catches_every_failure_with_one_class() -> None:
    family: list[type[Exception]] = [errors.Unreachable, errors.Interrupted, errors.FateUnknown, errors.Unreadable]
    for member in [*family, errors.APIError]:
        assert issubclass(member, errors.ClientError)
