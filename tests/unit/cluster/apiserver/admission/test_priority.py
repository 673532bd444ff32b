"""The admission plugin Priority, over PriorityClasses in a store in memory."""

from typing import Any

import pytest

from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.priority import Priority
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import key_of, pack
from windvane.cluster.apiserver.storage.store import Store

Wire = dict[str, Any]
CATALOG = Catalog()
CATALOG.add(builtin_types())


def builtin(plural: str, group: str = "") -> ResourceType:
    return CATALOG.types[group, "v1", plural]


def pod(**spec: Any) -> Wire:
    metadata = {"name": "p", "namespace": "ns", "uid": "uid-of-p"}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "nginx"}], **spec}}


async def with_class(name: str, **rest: Any) -> Chain:
    """The plugin in a cluster that has this PriorityClass."""
    store = Store.open()
    wire = {"metadata": {"name": name, "uid": name}, "preemptionPolicy": "PreemptLowerPriority", **rest}
    type_ = builtin("priorityclasses", "scheduling.k8s.io")
    await store.commit(key_of(type_, "", name), 0, lambda revision: pack(type_, wire, revision))
    return Chain([Priority(store)])


async def create(plugins: Chain, type_: ResourceType, wire: Wire) -> None:
    """What becomes of a new object, in place."""
    request = AdmissionRequest(operation="CREATE", type=type_, namespace="ns", object=wire, user=User("me"))
    await plugins.mutate(request)
    await plugins.validate(request)


async def test_a_pod_has_the_priority_of_its_class() -> None:
    plugins, wire = await with_class("high", value=7), pod(priorityClassName="high")
    await create(plugins, builtin("pods"), wire)
    assert wire["spec"]["priority"] == 7


async def test_a_pod_without_a_class_has_the_default_one() -> None:
    plugins, wire = await with_class("usual", value=3, globalDefault=True), pod()
    await create(plugins, builtin("pods"), wire)
    assert (wire["spec"]["priorityClassName"], wire["spec"]["priority"]) == ("usual", 3)


async def test_there_is_one_default_class() -> None:
    plugins = await with_class("usual", value=3, globalDefault=True)
    second = {"metadata": {"name": "other", "uid": "u"}, "value": 1, "globalDefault": True}
    with pytest.raises(Failure, match="PriorityClass usual is already marked as default"):
        await create(plugins, builtin("priorityclasses", "scheduling.k8s.io"), second)
    itself = {**second, "metadata": {"name": "usual", "uid": "u"}}
    await create(plugins, builtin("priorityclasses", "scheduling.k8s.io"), itself)
