"""The rights that the manual names are enough: an operator that has no others serves its webhooks."""

import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import yaml

from conformance.servers import Server
from integration.webhook.declared import convert, fill_in, guard
from integration.webhook.world import World
from windvane import Client, Forbidden, NotFound, Object, ObjectMeta, Operator, crd
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.client.config import load_config
from windvane.client.http import HTTPTransport
from windvane.k8s.admissionregistration import ValidatingWebhookConfiguration
from windvane.k8s.core import Secret
from windvane.k8s.rbac import ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject
from windvane.webhook.lifecycle import serve_webhooks

MANUAL = Path(__file__).parents[3] / "docs" / "webhooks.md"
GROUP = "rbac.authorization.k8s.io"


def rules(world: World) -> dict[str, list[PolicyRule]]:
    """By the kind of role: what the manual says, for the operator of this world."""
    text = re.search(r"```yaml\n(kind: Role .*?)```", MANUAL.read_text(), re.DOTALL)
    assert text is not None
    told = text[1].replace("websites.demo.windvane.dev", world.crd_name)
    told = re.sub(r"\bNAME\b", world.operator.name, told)
    return {each["kind"]: msgspec.convert(each["rules"], list[PolicyRule]) for each in yaml.safe_load_all(told)}


@pytest.fixture
async def limited(api_server: Server, world: World) -> AsyncIterator[Client]:
    """A client that may do what the manual says, and nothing else."""
    user = f"{world.operator.name}-user"
    subject = Subject(kind="User", name=user, api_group=GROUP)
    here, everywhere = ObjectMeta(name=user, namespace=world.client.namespace), ObjectMeta(name=user)
    role, cluster_role = (RoleRef(api_group=GROUP, kind=kind, name=user) for kind in ("Role", "ClusterRole"))
    told = rules(world)
    await world.client.create(Role(metadata=here, rules=told["Role"]))
    await world.client.create(RoleBinding(metadata=here, role_ref=role, subjects=[subject]))
    await world.client.create(ClusterRole(metadata=everywhere, rules=told["ClusterRole"]))
    await world.client.create(ClusterRoleBinding(metadata=everywhere, role_ref=cluster_role, subjects=[subject]))
    config = replace(load_config(kubeconfig=api_server.kubeconfig), impersonate_user=user)
    async with Client(HTTPTransport(config), namespace=world.client.namespace) as client:

        async def has_them() -> bool:
            """A real server takes a moment to notice bindings, each by itself."""
            secret = f"{world.operator.name}-webhook-server-cert"
            allowed: list[tuple[type[Object], str]] = [(Secret, secret), (CustomResourceDefinition, world.crd_name)]
            for what, name in allowed:
                try:
                    await client.get(what, name)
                except NotFound:
                    pass
                except Forbidden:
                    return False
            return True

        await world.until(has_them)
        yield client


async def test_the_rights_of_the_manual_are_enough(
    world: World, limited: Client, caplog: pytest.LogCaptureFixture
) -> None:
    guard(world)
    fill_in(world)
    convert(world)
    await world.client.apply(crd(world.site, world.old_site), field_manager="helm")
    with caplog.at_level(logging.WARNING):
        async with serve_webhooks(world.operator, limited) as webhooks:
            await webhooks.wait_right()
            await world.client.delete(ValidatingWebhookConfiguration, world.operator.name)
            await world.until(world.validating)
            assert (await world.definition())["spec"]["conversion"]["strategy"] == "Webhook"
        world.operator = Operator(world.operator.name)
        guard(world)
        async with serve_webhooks(world.operator, limited) as webhooks:
            await webhooks.wait_right()
            assert await world.mutating() is None
    assert caplog.messages == []
