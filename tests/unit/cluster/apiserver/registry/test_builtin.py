"""What strategies make of objects on their way into the store: what may come which way, and what is judged."""

from typing import Any

import pytest

from windvane.api.kind import Kind
from windvane.cluster.apiserver.registry.apps.deployment import DeploymentStrategy
from windvane.cluster.apiserver.registry.core.config_map import ConfigMapStrategy
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.discovery.endpoint_slice import EndpointSliceStrategy

Wire = dict[str, Any]


def made(name: str, **rest: Any) -> Wire:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-of-{name}", **rest.pop("metadata", {})}
    return {"metadata": metadata, **rest}


async def test_all_that_is_wrong_is_told_at_once() -> None:
    causes, _ = await ConfigMapStrategy().validate_create(made("BAD", data={"b c": "d"}))
    assert {cause.field for cause in causes} == {"metadata.name", "data[b c]"}


def test_a_status_leaves_the_spec_alone() -> None:
    current = made("web", spec={"replicas": 1}, status={"replicas": 1})
    wire = made("web", spec={"replicas": 5}, status={"replicas": 2})
    allowed = DeploymentStrategy().reset(wire, current, "status")
    assert (allowed["spec"], allowed["status"]) == ({"replicas": 1}, {"replicas": 2})


def test_a_spec_leaves_the_status_alone() -> None:
    current = made("web", spec={"replicas": 1}, status={"replicas": 1})
    wire = made("web", spec={"replicas": 5}, status={"replicas": 2})
    allowed = DeploymentStrategy().reset(wire, current, "")
    assert (allowed["spec"], allowed["status"]) == ({"replicas": 5}, {"replicas": 1})


def test_a_status_may_come_with_annotations_but_a_deployments_labels_stay() -> None:
    current = made("web", metadata={"labels": {"a": "1"}})
    wire = made("web", metadata={"labels": {"a": "2"}, "annotations": {"b": "2"}})
    metadata = DeploymentStrategy().reset(wire, current, "status")["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"a": "1"}, {"b": "2"})


def test_a_name_that_is_no_label_is_warned_about() -> None:
    wire = made("a.b", spec={"template": {}})
    assert DeploymentStrategy().warnings(wire, None)
    assert not DeploymentStrategy().warnings(wire, wire)


def test_only_new_finalizers_of_custom_objects_are_warned_about() -> None:
    kind = Kind(group="demo.dev", version="v1", name="Site", plural="sites")
    custom = CustomStrategy(kind, {"type": "object"}, {"name": "v1"})
    before, after = (made("g", metadata={"finalizers": each}) for each in (["x"], ["x", "y"]))
    (warning,) = custom.warnings(after, before)
    assert '"y"' in warning


async def problems(strategy: EndpointSliceStrategy, address: str) -> str:
    wire = made("s", addressType="IPv4", endpoints=[{"addresses": [address]}])
    strategy.decode(wire)
    return " ".join(cause.message for cause in (await strategy.validate_create(wire)).causes)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.64.0.7"])
async def test_where_pods_are_on_other_machines_no_endpoint_is_on_the_loopback_interface(address: str) -> None:
    assert "may not be in the loopback range" in await problems(EndpointSliceStrategy(), address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.64.0.7"])
async def test_where_pods_are_on_this_machine_endpoints_may_be_on_the_loopback_interface(address: str) -> None:
    strategy = EndpointSliceStrategy(loopback_endpoints=True)
    assert await problems(strategy, address) == ""
    assert "link-local" in await problems(strategy, "169.254.0.1")
