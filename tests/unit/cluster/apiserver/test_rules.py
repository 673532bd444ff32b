"""The rules of objects on their way into a store in memory: what is filled in, in which order it is judged."""

from typing import Any

import pytest

from windvane.cluster.apiserver.builtin.types import builtin_types
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.storage.store import Store

Wire = dict[str, Any]
CATALOG = Catalog()
CATALOG.add(builtin_types())


def builtin(plural: str, group: str = "") -> ResourceType:
    return CATALOG.types[group, "v1", plural]


def made(name: str, **rest: Any) -> Wire:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-of-{name}", **rest.pop("metadata", {})}
    return {"metadata": metadata, **rest}


def pod(**spec: Any) -> Wire:
    return made("p", spec={"containers": [{"name": "main", "image": "nginx"}], **spec})


async def create(rules: Rules, type_: ResourceType, wire: Wire) -> None:
    """What becomes of a new object, in place."""
    rules.decode(type_, wire)
    await rules.prepare_create(type_, wire)


async def test_all_that_is_wrong_is_told_at_once() -> None:
    wire = made("BAD", data={"b c": "d"})
    with pytest.raises(Failure) as refused:
        await Rules(Store.open()).prepare_create(builtin("configmaps"), wire)
    details = refused.value.status.details
    assert details is not None
    assert {cause.field for cause in details.causes} == {"metadata.name", "data[b c]"}


def test_a_status_leaves_the_spec_alone() -> None:
    rules, type_ = Rules(Store.open()), builtin("deployments", "apps")
    current = made("web", spec={"replicas": 1}, status={"replicas": 1})
    wire = made("web", spec={"replicas": 5}, status={"replicas": 2})
    allowed = rules.restrict(type_, wire, current, "status")
    assert (allowed["spec"], allowed["status"]) == ({"replicas": 1}, {"replicas": 2})


def test_a_spec_leaves_the_status_alone() -> None:
    rules, type_ = Rules(Store.open()), builtin("deployments", "apps")
    current = made("web", spec={"replicas": 1}, status={"replicas": 1})
    wire = made("web", spec={"replicas": 5}, status={"replicas": 2})
    allowed = rules.restrict(type_, wire, current, "")
    assert (allowed["spec"], allowed["status"]) == ({"replicas": 5}, {"replicas": 1})


def test_a_status_may_come_with_annotations_but_a_deployments_labels_stay() -> None:
    rules, type_ = Rules(Store.open()), builtin("deployments", "apps")
    current = made("web", metadata={"labels": {"a": "1"}})
    wire = made("web", metadata={"labels": {"a": "2"}, "annotations": {"b": "2"}})
    metadata = rules.restrict(type_, wire, current, "status")["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"a": "1"}, {"b": "2"})


def test_what_is_written_to_a_status_is_not_warned_about() -> None:
    rules, type_ = Rules(Store.open()), builtin("deployments", "apps")
    wire = made("a.b", spec={"template": {}})
    assert rules.warnings(type_, wire, None)
    assert not rules.warnings(type_, wire, wire, "status")


def test_only_new_finalizers_of_custom_objects_are_warned_about() -> None:
    kind = builtin("configmaps").kind
    custom = ResourceType(kind=kind, schema={"type": "object"}, definition={"name": "v1"})
    before, after = (made("g", metadata={"finalizers": each}) for each in (["x"], ["x", "y"]))
    (warning,) = Rules(Store.open()).warnings(custom, after, before)
    assert '"y"' in warning


def endpoint_slice(address: str) -> Wire:
    return made("s", addressType="IPv4", endpoints=[{"addresses": [address]}])


@pytest.mark.parametrize("address", ["127.0.0.1", "127.64.0.7"])
async def test_where_pods_are_on_other_machines_no_endpoint_is_on_the_loopback_interface(address: str) -> None:
    with pytest.raises(Failure, match="may not be in the loopback range"):
        await create(Rules(Store.open()), builtin("endpointslices", "discovery.k8s.io"), endpoint_slice(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.64.0.7"])
async def test_where_pods_are_on_this_machine_endpoints_may_be_on_the_loopback_interface(address: str) -> None:
    rules = Rules(Store.open(), pods_are_here=True)
    await create(rules, builtin("endpointslices", "discovery.k8s.io"), endpoint_slice(address))
    with pytest.raises(Failure, match="link-local"):
        await create(rules, builtin("endpointslices", "discovery.k8s.io"), endpoint_slice("169.254.0.1"))
