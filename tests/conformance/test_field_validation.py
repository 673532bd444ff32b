"""Fields that nobody knows and fields that come twice: dropped, warned about or refused, as the request says."""

from conformance.objects import config_map
from conformance.requests import Raw


async def test_there_are_at_most_a_hundred_complaints(raw: Raw) -> None:
    many = {f"x{number:03}": 1 for number in range(120)}
    warnings = (await raw("POST configmaps", config_map(**many))).warnings
    assert len(warnings) == 100
