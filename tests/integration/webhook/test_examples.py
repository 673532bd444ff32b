"""The webhooks in `examples/`, each served as it stands."""

import runpy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from integration.webhook.world import World
from windvane import Client, Forbidden, NotFound, ObjectMeta, Quantity
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.runtime.crds import definitions, install_crds
from windvane.webhook.lifecycle import serve_webhooks

EXAMPLES = Path(__file__).parents[3] / "examples"


@asynccontextmanager
async def served(world: World, name: str) -> AsyncIterator[SimpleNamespace]:
    """What is in an example, while API servers are told of its webhooks."""
    example = SimpleNamespace(**runpy.run_path(str(EXAMPLES / f"{name}.py")))
    operator = example.operator
    transport = world.client.calls.transport
    client = Client(transport, namespace=world.client.namespace, field_manager=operator.name)
    try:
        async with serve_webhooks(operator, client) as webhooks:
            await install_crds(client, operator.kinds, conversion=webhooks.conversion)
            await webhooks.wait_right()
            yield example
    finally:
        for what in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration):
            with suppress(NotFound):
                await client.delete(what, operator.name)
        for definition in definitions(operator.kinds):
            await client.delete(CustomResourceDefinition, definition.metadata.name)


def named(world: World, name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace=world.client.namespace)


async def test_a_locked_vault_stays(world: World) -> None:
    async with served(world, "deny_deletion") as example:
        client = world.client
        await client.create(example.Vault(metadata=named(world, "gold"), spec=example.VaultSpec(locked=True)))

        async def is_judged() -> bool:  # an API server takes a moment to notice a configuration
            with suppress(Forbidden):
                await client.delete(example.Vault, "gold", dry_run=True)
                return False
            return True

        await world.until(is_judged)
        with pytest.raises(Forbidden, match="gold is locked: unlock it first"):
            await client.delete(example.Vault, "gold")
        await client.patch(example.Vault, "gold", {"spec": {"locked": False}})
        await client.delete(example.Vault, "gold")


async def test_a_workspace_is_filled_in(world: World) -> None:
    async with served(world, "fill_in_defaults") as example:
        client = world.client
        workspace = example.Workspace(metadata=named(world, "attic"), spec=example.WorkspaceSpec(people=4))

        async def is_filled_in() -> bool:
            return (await client.create(workspace, dry_run=True)).spec.owner is not None

        await world.until(is_filled_in)
        made = await client.create(workspace)
        assert made.spec.owner
        assert made.spec.memory == Quantity("2Gi")


async def test_routes_can_be_had_in_either_version(world: World) -> None:
    async with served(world, "convert_versions") as example:
        client = world.client
        older = example.RouteV1Beta1Spec(host="blog.example.com")
        await client.create(example.RouteV1Beta1(metadata=named(world, "blog"), spec=older))
        newer = example.RouteSpec(hosts=["shop.example.com", "store.example.com"])
        await client.create(example.Route(metadata=named(world, "shop"), spec=newer))
        await client.patch(example.RouteV1Beta1, "shop", {"spec": {"host": "buy.example.com"}})
        assert {route.metadata.name: route.spec.hosts for route in await client.list(example.Route)} == {
            "blog": ["blog.example.com"],
            "shop": ["buy.example.com", "store.example.com"],
        }
        assert {route.metadata.name: route.spec.host for route in await client.list(example.RouteV1Beta1)} == {
            "blog": "blog.example.com",
            "shop": "buy.example.com",
        }


async def test_a_manifest_may_change_its_version_there_and_back(world: World) -> None:
    """Server-side apply has what the manifest stated before taken out of the object, and that converted."""
    async with served(world, "convert_versions") as example:
        client = world.client

        def older(host: str) -> Any:
            return example.RouteV1Beta1(metadata=named(world, "blog"), spec=example.RouteV1Beta1Spec(host=host))

        def newer(*hosts: str) -> Any:
            return example.Route(metadata=named(world, "blog"), spec=example.RouteSpec(hosts=list(hosts)))

        await client.apply(older("blog.example.com"))
        assert (await client.apply(newer("blog.example.com", "b"))).spec.hosts == ["blog.example.com", "b"]
        assert (await client.apply(older("other.example.com"))).spec.host == "other.example.com"
        assert (await client.apply(newer("c"))).spec.hosts == ["c"]
