"""lightkube, a small client with typed models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ConfigMap, Namespace
from lightkube.types import PatchType

Boat = create_namespaced_resource("clients.windvane.dev", "v1", "Boat", "boats")


@pytest.fixture
def client(kubeconfig: Path) -> Client:
    return Client(config=KubeConfig.from_file(kubeconfig), namespace="default")


@pytest.fixture
def boats(client: Client, boat: dict[str, Any]) -> Iterator[None]:
    """While there are Boats."""
    name = boat["metadata"]["name"]
    client.create(CustomResourceDefinition.from_dict(boat))
    client.wait(CustomResourceDefinition, name, for_conditions=["Established"])
    yield
    client.delete(CustomResourceDefinition, name)


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"by": "lightkube"}), data=data)


def test_create_get_patch_replace_and_delete(client: Client) -> None:
    made = client.create(config_map("l", color="red"))
    assert client.get(ConfigMap, "l").data == {"color": "red"}
    for kind in (PatchType.STRATEGIC, PatchType.MERGE):
        assert client.patch(ConfigMap, "l", {"data": {"size": kind.name}}, patch_type=kind).data == {
            "color": "red",
            "size": kind.name,
        }
    steps = [{"op": "remove", "path": "/data/size"}]
    patched = client.patch(ConfigMap, "l", steps, patch_type=PatchType.JSON)
    assert patched.data == {"color": "red"}
    with pytest.raises(ApiError, match="the object has been modified"):
        client.replace(made)
    patched.data = {"color": "green"}
    assert client.replace(patched).data == {"color": "green"}
    client.delete(ConfigMap, "l")
    with pytest.raises(ApiError) as missing:
        client.get(ConfigMap, "l")
    assert missing.value.status.code == 404


def test_lists_in_pages_and_by_selectors(client: Client) -> None:
    for name in ("l-a", "l-b", "l-c"):
        client.create(config_map(name))
    found = client.list(ConfigMap, labels={"by": "lightkube"}, chunk_size=1)
    assert [each.metadata.name for each in found] == ["l-a", "l-b", "l-c"]
    assert [each.metadata.name for each in client.list(ConfigMap, fields={"metadata.name": "l-b"})] == ["l-b"]
    assert "default" in [each.metadata.name for each in client.list(Namespace)]
    for name in ("l-a", "l-b", "l-c"):
        client.delete(ConfigMap, name)


def test_a_watch_sees_every_change_once(client: Client) -> None:
    listed = client.list(ConfigMap)
    list(listed)
    since = listed.resourceVersion
    client.create(config_map("lw", n="1"))
    client.patch(ConfigMap, "lw", {"data": {"n": "2"}})
    client.delete(ConfigMap, "lw")
    seen = []
    for kind, changed in client.watch(ConfigMap, resource_version=since):
        seen.append((kind, changed.data["n"]))
        if kind == "DELETED":
            break
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_custom_objects(client: Client, boats: None) -> None:
    made = client.create(Boat(metadata=ObjectMeta(name="lb"), spec={"sails": 1}))
    assert made.spec == {"sails": 1}
    patched = client.patch(Boat, "lb", {"spec": {"name": "Argo"}}, patch_type=PatchType.MERGE)
    assert patched.spec == {"sails": 1, "name": "Argo"}
    with pytest.raises(ApiError, match="should be greater than or equal to 1"):
        client.patch(Boat, "lb", {"spec": {"sails": 0}}, patch_type=PatchType.MERGE)
    assert [each.metadata.name for each in client.list(Boat)] == ["lb"]
    client.delete(Boat, "lb")
    assert not list(client.list(Boat))
