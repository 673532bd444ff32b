"""Finds out whether the API server really reaches the webhook server, before anything depends on it.

A ValidatingWebhookConfiguration is made that concerns one object alone, a Lease with a label that can't be guessed,
which is then created as a dry run. If the server is reached, it refuses that in words of its own; if not, the API
server says why. (A Lease, because no other webhook of the operator is asked about those in its namespace: one that an
earlier run has left, and that leads nowhere now, would answer for this one.)
"""

from contextlib import suppress

from windvane import ambient
from windvane.api.meta import LabelSelector, ObjectMeta
from windvane.client.client import Client
from windvane.client.errors import APIError, ClientError, Forbidden
from windvane.k8s.admissionregistration import (
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
)
from windvane.k8s.coordination import Lease
from windvane.webhook.configurations import NAMESPACE_NAME
from windvane.webhook.endpoint import WebhookEndpoint
from windvane.webhook.paths import PROBE_PATH
from windvane.webhook.review import REACHED

LABEL = "windvane.dev/probe"
NOTICED_WITHIN = 15.0
"""Seconds in which an API server begins to ask a webhook that is new to it."""
POLL = 0.2
FAILED = 'failed calling webhook "{webhook}"'
"""What an API server says when it does not reach one. It may say so of another, which proves nothing about ours."""


class NotReached(Exception):
    """The API server does not reach the webhook server; the message is its own."""

    def __init__(self, message: str, endpoint: WebhookEndpoint) -> None:
        super().__init__(message)
        self.endpoint = endpoint


async def probe(client: Client, name: str, endpoint: WebhookEndpoint, bundle: bytes, *, namespace: str) -> str:
    """Why there is no finding out; empty if the webhook server is reached. If it is not, raise `NotReached`."""
    label = {LABEL: ambient.token(16)}
    try:
        await client.apply(_configuration(name, endpoint, bundle, namespace, label), force=True)
    except Forbidden as error:
        return str(error)
    try:
        metadata = ObjectMeta(name=f"{name}-probe", namespace=namespace, labels=label)
        return await _try(client, Lease(metadata=metadata), endpoint, FAILED.format(webhook=_webhook(name)))
    finally:
        with suppress(ClientError):
            await client.delete(ValidatingWebhookConfiguration, f"{name}-probe")


async def _try(client: Client, thing: Lease, endpoint: WebhookEndpoint, failed: str) -> str:
    deadline = ambient.monotonic() + NOTICED_WITHIN
    while ambient.monotonic() < deadline:
        try:
            await client.create(thing, dry_run=True)
        except APIError as error:
            if REACHED in str(error):
                return ""
            if failed in str(error):
                raise NotReached(str(error), endpoint) from error
            return str(error)
        await ambient.sleep(POLL)
    return f"the API server asks no webhooks, or takes longer than {NOTICED_WITHIN:g} s to begin with it"


def _webhook(name: str) -> str:
    return f"probe.{name}.windvane.dev"


def _configuration(
    name: str, endpoint: WebhookEndpoint, bundle: bytes, namespace: str, label: dict[str, str]
) -> ValidatingWebhookConfiguration:
    rule = RuleWithOperations(
        api_groups=["coordination.k8s.io"],
        api_versions=["v1"],
        resources=["leases"],
        operations=["CREATE"],
        scope="Namespaced",
    )
    webhook = ValidatingWebhook(
        name=_webhook(name),
        client_config=endpoint.client_config(PROBE_PATH, bundle),
        rules=[rule],
        namespace_selector=LabelSelector(match_labels={NAMESPACE_NAME: namespace}),
        object_selector=LabelSelector(match_labels=label),
        failure_policy="Fail",
        side_effects="None",
        timeout_seconds=5,
        admission_review_versions=["v1"],
    )
    return ValidatingWebhookConfiguration(metadata=ObjectMeta(name=f"{name}-probe"), webhooks=[webhook])
