"""What a run that was killed has left of an operator that has no webhooks any more, or does without them.

Its configurations lead to a process that is gone, so all objects that it should be asked about are refused, and nothing
would see why: the operator itself has nothing to do with webhooks. While it has some, `KeptConfiguration` sees to this.
"""

import logging
from contextlib import suppress

from windvane.api.resource import kind_of
from windvane.client.client import Client
from windvane.client.errors import ClientError, Conflict, NotFound
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.k8s.authorization import ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec
from windvane.webhook.configurations import OWNER, Configuration
from windvane.webhook.endpoint import URLEndpoint, endpoint_of
from windvane.webhook.probe import NotReached, probe

log = logging.getLogger(__name__)


async def remove_stale_registrations(client: Client, name: str, *, namespace: str) -> None:
    """Remove configurations of an operator's name that were made outside of the cluster and lead nowhere now."""
    for what in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration):
        try:
            if await may("get", client, what, name):
                await _remove(client, what, name, namespace)
        except ClientError as error:
            log.warning("whether a former run has left webhook configurations can't be seen: %s", error)


async def may(verb: str, client: Client, what: type[Configuration], name: str) -> bool:
    """Asked before, for an operator without webhooks needs no such right, and its use should not look like a fault."""
    kind = kind_of(what)
    attributes = ResourceAttributes(verb=verb, group=kind.group, resource=kind.plural, name=name)
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    return (await client.create(review)).status.allowed


async def _remove(client: Client, what: type[Configuration], name: str, namespace: str) -> None:
    try:
        there = await client.get(what, name)
    except NotFound:
        return
    owner = (there.metadata.annotations or {}).get(OWNER)
    place = endpoint_of(there.webhooks[0].client_config) if there.webhooks else None
    if not owner or not isinstance(place, URLEndpoint):
        return
    words = f"{kind_of(what).name} {name}, which a former run of the operator {owner} has left, leads to {place}"
    try:
        unknown = await probe(
            client, name, place, there.webhooks[0].client_config.ca_bundle or b"", namespace=namespace
        )
    except NotReached as error:
        with suppress(NotFound, Conflict):
            version = there.metadata.resource_version
            await client.delete(what, name, uid=there.metadata.uid, resource_version=version)
            log.warning("%s, and is removed, for the API server does not reach that any more: %s", words, error)
    else:
        if unknown:
            log.warning("%s; whether anybody answers there can't be tried out: %s", words, unknown)
