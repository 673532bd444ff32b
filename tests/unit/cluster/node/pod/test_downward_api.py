"""The downward API: what a container is told about its pod and its resources."""

import pytest

from unit.cluster.node.material import pod
from windvane.api.quantity import Quantity
from windvane.cluster.node.pod import downward_api
from windvane.k8s.core import (
    ObjectFieldSelector,
    ResourceFieldSelector,
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels['a']", "1"),
        ("metadata.labels", 'a="1"\nb="say \\"hi\\""'),
        ("spec.nodeName", "node-1"),
        ("status.podIP", "127.0.0.2"),
        ("status.hostIP", "127.0.0.1"),
    ],
)
def test_a_container_is_told_about_its_pod(path: str, value: str) -> None:
    assert downward_api.field(pod(), "127.0.0.2", "127.0.0.1", ObjectFieldSelector(field_path=path)) == value


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.memory", "1", "67108864"),
        ("limits.memory", "1Mi", "64"),
        ("limits.cpu", "1", "1"),
        ("limits.cpu", "1m", "500"),
        ("requests.cpu", "1m", "500"),
        ("requests.memory", "1Mi", "32"),
    ],
)
def test_a_container_is_told_about_its_resources(resource: str, divisor: str, value: str) -> None:
    made = pod(resources={"limits": {"memory": "64Mi", "cpu": "500m"}, "requests": {"memory": "32Mi"}})
    selector = ResourceFieldSelector(resource=resource, divisor=Quantity(divisor))
    assert downward_api.resource(made, made.spec.containers[0], selector, {}) == value


def test_without_a_limit_there_is_all_that_the_node_has() -> None:
    made = pod()
    selector = ResourceFieldSelector(resource="limits.cpu")
    assert downward_api.resource(made, made.spec.containers[0], selector, {"cpu": Quantity(4)}) == "4"
