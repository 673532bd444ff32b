"""Patches of three sorts: JSON patches, merge patches and, for built-in kinds, strategic merge patches."""

from conformance.objects import config_map
from conformance.requests import Raw, Refused


async def test_a_patch_with_the_current_version_is_conditional(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    change = {"data": {"k": "v"}, "metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}}
    assert (await raw.ok("PATCH configmaps/a", change, patch="merge"))["data"] == {"k": "v"}
    assert (await raw("PATCH configmaps/a", {**change, "data": {"k": "w"}}, patch="merge")).code == 409


async def test_more_than_ten_thousand_operations(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    operation = {"op": "test", "path": "/data/k", "value": "1"}
    await raw.ok("PATCH configmaps/a", [operation] * 10_000, patch="json")
    problem = "The allowed maximum operations in a JSON patch is 10000, got 10001"
    answer = await raw("PATCH configmaps/a", [operation] * 10_001, patch="json")
    assert answer.refusal == Refused(413, "RequestEntityTooLarge", f"Request entity too large: {problem}")
