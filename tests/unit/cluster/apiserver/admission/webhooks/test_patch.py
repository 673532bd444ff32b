"""What becomes of an object that a webhook changes; most of it has conformance tests."""

from typing import Any

from windvane.api.kind import Kind
from windvane.cluster.apiserver.admission.webhooks.patch import patched
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.resource_type import ResourceType

KIND = Kind(group="demo.dev", version="v1", name="PodExecOptions", plural="podexecoptions")


def test_a_custom_kind_may_be_called_like_the_options_of_a_connection() -> None:
    type_ = ResourceType(CustomStrategy(KIND, {}, {"name": "v1"}), "podexecoptions.demo.dev", "v1")
    made: dict[str, Any] = {"apiVersion": "demo.dev/v1", "kind": "PodExecOptions", "metadata": {"name": "a"}, "spec": 1}
    changed = patched(type_, made, [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}])
    assert changed == {**made, "metadata": {"name": "a", "labels": {"a": "b"}}}
