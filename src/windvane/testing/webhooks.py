"""Webhooks of an operator in a test: the API server calls the functions without a socket or a certificate."""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

from windvane.client.client import Client
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, ClientConfig, Reply
from windvane.cluster.apiserver.store.store import Store
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.runtime.conversion import GroupKind
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.reach import ByURL
from windvane.webhook.review import BadReview
from windvane.webhook.server import Webhook, webhooks_of

NAMESPACE = "windvane-test-operators"
"""Where the operators of a test would have their pods. Nobody else is there, so no guard spares what a test writes."""
JSON = "application/json"


class Webhooks(Caller):
    """Calls the webhooks of the operators that run in a test, and others as ever."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._there: dict[str, Mapping[str, Webhook]] = {}  # by host

    async def post(self, config: ClientConfig, body: bytes, seconds: float) -> Reply:
        """See `Caller.post`."""
        url = urlsplit(config.url)
        webhooks = self._there.get(url.hostname or "")
        if webhooks is None:
            return await super().post(config, body, seconds)
        try:
            async with asyncio.timeout(seconds):
                answer = await webhooks[url.path].ask(body)
        except TimeoutError:
            raise CallFailed(f"Post {config.url}: context deadline exceeded") from None
        except BadReview as error:
            raise CallFailed(str(error), 400) from error
        return Reply(200, JSON, answer.body)

    async def serve(self, operator: Operator, client: Client) -> None:
        """Have the API server ask this operator."""
        host, reach = _host(operator)
        self._there[host] = webhooks_of(operator)
        for stated in (
            configurations.mutating(operator, reach, b"", NAMESPACE),
            configurations.validating(operator, reach, b"", NAMESPACE),
        ):
            if stated is not None:
                await client.apply(stated, force=True)

    async def leave(self, operator: Operator, client: Client) -> None:
        """Have the API server ask it no more."""
        if operator.defaulting:
            await client.delete(MutatingWebhookConfiguration, operator.name)
        if operator.validating:
            await client.delete(ValidatingWebhookConfiguration, operator.name)
        self._there.pop(_host(operator)[0], None)


def conversion(operator: Operator) -> Mapping[GroupKind, Mapping[str, object]]:
    """What the CRDs say of how versions are converted."""
    return configurations.conversions(operator, _host(operator)[1], b"")


def _host(operator: Operator) -> tuple[str, ByURL]:
    host = f"{operator.name}.operators.invalid"
    return host, ByURL(f"https://{host}")
