"""Times in objects of built-in kinds: whatever they are written like, they are kept in UTC and in whole seconds."""

import pytest

from conformance.requests import Raw


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-11-16T02:37:09Z", "2026-11-16T02:37:09Z"),
        ("2026-11-16T02:37:09.881473Z", "2026-11-16T02:37:09Z"),
        ("2026-11-16T02:37:09.999999999Z", "2026-11-16T02:37:09Z"),
        ("2026-11-16T04:37:09+02:00", "2026-11-16T02:37:09Z"),
        ("2026-11-15T23:07:09.5-03:30", "2026-11-16T02:37:09Z"),
    ],
)
async def test_a_time_is_kept_in_whole_seconds_of_utc(raw: Raw, written: str, kept: str) -> None:
    await raw.ok("POST pods", {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "c"}]}})
    answer = await raw.ok("PATCH pods/p/status", {"status": {"startTime": written}}, patch="merge")
    assert answer["status"]["startTime"] == kept
    assert (await raw.ok("GET pods/p"))["status"]["startTime"] == kept
