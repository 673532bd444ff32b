"""kr8s, a client that reads like kubectl."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import kr8s
import pytest
from kr8s.asyncio.objects import ConfigMap, CustomResourceDefinition, new_class

SECONDS = 60.0  # what takes longer hangs


@pytest.fixture
async def api(kubeconfig: Path) -> Any:
    return await kr8s.asyncio.api(kubeconfig=str(kubeconfig))


@pytest.fixture
async def boats(api: Any, boat: dict[str, Any]) -> AsyncIterator[None]:
    """While there are Boats."""
    definition = await CustomResourceDefinition(boat, api=api)
    await definition.create()
    await definition.wait("condition=Established", timeout=SECONDS)
    yield
    await definition.delete()


def config_map(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"by": "kr8s"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def test_create_get_patch_label_and_delete(api: Any) -> None:
    thing = await ConfigMap(config_map("k", color="red"), api=api)
    await thing.create()
    assert dict((await ConfigMap.get("k", namespace="default", api=api)).data) == {"color": "red"}
    await thing.patch({"data": {"size": "1"}})
    assert dict(thing.data) == {"color": "red", "size": "1"}
    await thing.patch([{"op": "remove", "path": "/data/color"}], type="json")
    assert dict(thing.data) == {"size": "1"}
    await thing.label({"more": "yes"})
    await thing.annotate({"note": "n"})
    await thing.refresh()
    assert (thing.labels["more"], thing.annotations["note"]) == ("yes", "n")
    await thing.delete()
    assert not await thing.exists()
    with pytest.raises(kr8s.NotFoundError):
        await ConfigMap.get("k", namespace="default", api=api)


async def test_lists_by_selectors(api: Any) -> None:
    for name in ("k-a", "k-b"):
        await (await ConfigMap(config_map(name), api=api)).create()
    by_label = [each async for each in api.get("configmaps", namespace="default", label_selector={"by": "kr8s"})]
    assert [each.name for each in by_label] == ["k-a", "k-b"]
    by_field = [each async for each in api.get("cm", namespace=kr8s.ALL, field_selector={"metadata.name": "k-b"})]
    assert [each.name for each in by_field] == ["k-b"]
    for each in by_label:
        await each.delete()


async def test_a_watch_sees_every_change_once(api: Any) -> None:
    seen = []
    thing = await ConfigMap(config_map("kw", n="1"), api=api)
    await thing.create()
    async with asyncio.timeout(SECONDS):
        async for kind, changed in api.watch("configmaps", namespace="default", field_selector="metadata.name=kw"):
            seen.append((kind, changed.data["n"]))
            if kind == "ADDED":
                await thing.patch({"data": {"n": "2"}})
            elif kind == "MODIFIED":
                await thing.delete()
            else:
                break
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


async def test_custom_objects(api: Any, boats: None) -> None:
    boat_class = new_class("Boat", "clients.windvane.dev/v1", asyncio=True)
    wire = {
        "apiVersion": "clients.windvane.dev/v1",
        "kind": "Boat",
        "metadata": {"name": "kb", "namespace": "default"},
        "spec": {"sails": 1},
    }
    thing = await boat_class(wire, api=api)
    await thing.create()
    await thing.patch({"spec": {"name": "Argo"}})
    assert dict(thing.spec) == {"sails": 1, "name": "Argo"}
    with pytest.raises(kr8s.ServerError, match="should be greater than or equal to 1"):
        await thing.patch({"spec": {"sails": 0}})
    found = [each async for each in api.get("boats.clients.windvane.dev", namespace="default")]
    assert [each.name for each in found] == ["kb"]
    await thing.delete()
    await thing.wait("delete", timeout=SECONDS)


async def test_who_and_what_the_server_is(api: Any) -> None:
    assert (await api.version())["major"] == "1"
    assert "deployments" in {each["name"] for each in await api.api_resources()}
