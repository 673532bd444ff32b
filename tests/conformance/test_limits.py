"""What is too much for a server, and what it says."""

import pytest

from conformance.objects import config_map
from conformance.requests import Raw, Refused

MIB = 1024 * 1024


async def test_a_body_that_is_too_large(raw: Raw) -> None:
    answer = await raw("POST configmaps", config_map("a", data={"k": "x" * (3 * MIB)}))
    assert answer.refusal == Refused(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")


async def test_a_json_patch_of_too_many_operations(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a", data={"k": "v"}))
    operation = {"op": "test", "path": "/data/k", "value": "v"}
    answer = await raw("PATCH configmaps/a", [operation] * 10_001, patch="json")
    why = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    assert answer.refusal == Refused(413, "RequestEntityTooLarge", why)
    assert (await raw("PATCH configmaps/a", [operation] * 10_000, patch="json")).code == 200


async def test_annotations_that_are_too_large(raw: Raw) -> None:
    answer = await raw("POST configmaps", config_map("a", metadata={"annotations": {"a": "x" * (256 * 1024)}}))
    why = "metadata.annotations: Too long: may not be more than 262144 bytes"
    assert answer.refusal == Refused(
        422,
        "Invalid",
        f'ConfigMap "a" is invalid: {why}',
        "ConfigMap a",
        ["FieldValueTooLong metadata.annotations"],
    )
    assert (await raw("POST configmaps", config_map("a", metadata={"annotations": {"a": "x" * 262143}}))).code == 201


async def test_a_config_map_that_is_too_large(raw: Raw) -> None:
    answer = await raw("POST configmaps", config_map("a", data={"k": "x" * (MIB + 1)}))
    assert answer.refusal.message == 'ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes'


@pytest.mark.parametrize("timeout", ["50s", "1m", "100h", "0s", "-1s", ""])
async def test_a_request_says_how_long_it_may_take(timeout: str, raw: Raw) -> None:
    assert (await raw(f"GET configmaps?timeout={timeout}")).code == 200


@pytest.mark.parametrize(
    ("timeout", "problem"),
    [
        ("abc", 'invalid duration "abc"'),
        ("5", 'missing unit in duration "5"'),
        ("5x", 'unknown unit "x" in duration "5x"'),
        ("-", 'invalid duration "-"'),
    ],
)
@pytest.mark.parametrize(
    "request_", ["GET configmaps", "GET configmaps/nope", "GET /version", "DELETE configmaps/nope"]
)
async def test_a_time_that_can_not_be_read(request_: str, timeout: str, problem: str, raw: Raw) -> None:
    answer = await raw(f"{request_}?timeout={timeout}")
    message = f"invalid timeout specified in the request URL - time: {problem}"
    assert answer.refusal == Refused(400, "BadRequest", message)


async def test_a_watch_has_another_word_for_it(raw: Raw) -> None:
    async with raw.watch("configmaps", timeout="abc", timeoutSeconds="1") as events:
        assert events.code == 200


async def test_there_are_at_most_a_hundred_complaints(raw: Raw) -> None:
    many = {f"x{number:03}": 1 for number in range(120)}
    warnings = (await raw("POST configmaps", config_map(**many))).warnings
    assert len(warnings) == 100
