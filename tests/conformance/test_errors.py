"""Methods, credentials and headers of requests, and of their answers."""

import pytest

from conformance.requests import Raw, Refused


async def test_a_method_that_http_does_not_know(raw: Raw) -> None:
    answer = await raw("BREW configmaps")
    assert answer.refusal == Refused(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""
    )


async def test_without_credentials_nothing_is_shown(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Authorization": ""})
    assert answer.code in (401, 403)


async def test_a_wrong_token_is_unauthorized(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Authorization": "Bearer nonsense"})
    assert answer.refusal == Refused(401, "Unauthorized", "Unauthorized")


async def test_an_answer_says_that_it_is_not_to_be_kept(raw: Raw) -> None:
    answer = await raw("GET configmaps")
    assert answer.headers["Cache-Control"] == "no-cache, private"
    assert answer.headers["Audit-Id"]
    assert answer.content_type == "application/json"


async def test_head_is_get_without_a_body(raw: Raw) -> None:
    answer = await raw("HEAD configmaps")
    assert (answer.code, answer.body) == (405, b"")


@pytest.mark.parametrize(("path", "code"), [("gadgets", 200), ("gadgets/nope", 404), ("/apis", 200), ("/api", 405)])
async def test_head_is_get_without_a_body_for_custom_kinds_and_some_documents(
    raw: Raw, crds: None, path: str, code: int
) -> None:
    answer = await raw(f"HEAD {path}")
    assert (answer.code, answer.body) == (code, b"")


async def test_a_request_may_have_been_given_an_audit_id(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Audit-ID": "mine"})
    assert answer.headers.getall("Audit-Id") == ["mine"]


async def test_a_refusal_has_an_audit_id_too(raw: Raw) -> None:
    assert (await raw("GET configmaps", headers={"Authorization": "Bearer nonsense"})).headers["Audit-Id"]
