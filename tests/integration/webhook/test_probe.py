"""Whether an API server reaches a webhook server: found out before anything depends on it, and never guessed."""

from contextlib import suppress

import pytest

from integration.webhook.declared import guard
from integration.webhook.world import World
from windvane import ClientError, NotFound, ObjectMeta, object_from_wire
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.k8s.coordination import Lease
from windvane.webhook.endpoint import URLEndpoint
from windvane.webhook.probe import NotReached, probe

NOWHERE = URLEndpoint("https://127.0.0.1:1")


async def nothing_is_left(world: World) -> bool:
    with suppress(NotFound):
        await world.client.get(ValidatingWebhookConfiguration, f"{world.operator.name}-probe")
        return False
    return True


async def test_who_is_there_is_reached(world: World) -> None:
    guard(world)
    name, namespace = world.operator.name, world.client.namespace
    async with world.serving() as webhooks:
        bundle = webhooks.certificates.bundle
        assert await probe(world.client, name, webhooks.endpoint, bundle, namespace=namespace) == ""
    assert await nothing_is_left(world)


async def test_who_is_not_there_is_not_reached(world: World) -> None:
    with pytest.raises(NotReached, match="connection refused"):
        await probe(world.client, world.operator.name, NOWHERE, b"", namespace=world.client.namespace)
    assert await nothing_is_left(world)


async def test_a_webhook_of_others_that_fails_says_nothing_about_ours(world: World) -> None:
    """Else what answers well would be taken over, or refused to start."""
    name, namespace = world.operator.name, world.client.namespace
    rule = {
        "apiGroups": ["coordination.k8s.io"],
        "apiVersions": ["v1"],
        "resources": ["leases"],
        "operations": ["CREATE"],
    }
    webhook = {
        "name": "broken.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    wire = {"metadata": {"name": name}, "webhooks": [webhook]}
    await world.client.create(object_from_wire(wire, MutatingWebhookConfiguration))

    async def is_asked() -> bool:
        try:
            await world.client.create(Lease(metadata=ObjectMeta(name=name, namespace=namespace)), dry_run=True)
        except ClientError as error:
            return "broken.example.com" in str(error)
        return False

    await world.until(is_asked)
    why = await probe(world.client, name, NOWHERE, b"", namespace=namespace)
    assert 'failed calling webhook "broken.example.com"' in why
