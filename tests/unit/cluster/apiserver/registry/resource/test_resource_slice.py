from datetime import UTC, datetime

from builtin_cases import Case, but, made
from resource_cases import DEVICE, SLICE
from windvane import ambient


class Noon(ambient.Reality):
    def now(self) -> datetime:
        return datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=UTC)


def test_a_taint_was_added_when_it_is_first_seen() -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    with ambient.use(Noon()):
        slice_ = made(Case("", but(SLICE, {"spec.devices": [{**DEVICE, "taints": [taint]}]})))
    assert slice_["spec"]["devices"][0]["taints"] == [{**taint, "timeAdded": "2026-01-02T12:00:00Z"}]


def test_what_is_behind_a_feature_gate_is_dropped() -> None:
    device = {"name": "gpu", "attributes": {"a": {"string": "b", "strings": ["c"]}}}
    device["nodeAllocatableResourceMappings"] = {"cpu": {"capacityKey": "a"}}
    slice_ = made(Case("", but(SLICE, {"spec.devices": [device]})))
    assert slice_["spec"]["devices"] == [{"name": "gpu", "attributes": {"a": {"string": "b"}}}]
