"""Webhooks of an operator in a test: the API server calls the functions without a socket or a certificate."""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

from windvane.api.wording import quoted
from windvane.client.client import Client
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, ClientConfig, Reply
from windvane.cluster.apiserver.storage.store import Store
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.runtime.conversion import GroupKind
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.endpoint import URLEndpoint
from windvane.webhook.review import BadReview
from windvane.webhook.server import Webhook, webhooks_of

NAMESPACE = "windvane-test-operators"
"""Where the operators of a test would have their pods. Guards of built-in kinds spare it, and no test writes there."""
DOMAIN = ".operators.invalid"
"""Where they are, as the API server is told."""
JSON = "application/json"


class Webhooks(Caller):
    """Calls the webhooks of the operators that run in a test, and others as ever."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._there: dict[str, Mapping[str, Webhook]] = {}  # by host

    async def post(self, config: ClientConfig, body: bytes, seconds: float) -> Reply:
        """See `Caller.post`."""
        url = urlsplit(config.url)
        host = url.hostname or ""
        webhooks = self._there.get(host)
        if webhooks is None:
            if host.endswith(DOMAIN):
                raise CallFailed(f"Post {quoted(config.url)}: dial tcp: connect: connection refused")
            return await super().post(config, body, seconds)
        try:
            async with asyncio.timeout(seconds):
                answer = await webhooks[url.path].ask(body)
        except TimeoutError:
            raise CallFailed(f"Post {quoted(config.url)}: context deadline exceeded") from None
        except BadReview as error:
            raise CallFailed(str(error), 400) from error
        return Reply(200, JSON, answer.body)

    async def serve(self, operator: Operator, client: Client) -> None:
        """Have the API server ask this operator."""
        host, endpoint = _host(operator)
        self._there[host] = webhooks_of(operator)
        for stated in (
            configurations.mutating(operator, endpoint, b"", NAMESPACE),
            configurations.validating(operator, endpoint, b"", NAMESPACE),
        ):
            if stated is not None:
                await client.apply(stated, force=True)

    async def fall(self, operator: Operator) -> None:
        """Have nothing answer any more, as after a SIGKILL: the API server goes on to ask."""
        self._there.pop(_host(operator)[0], None)

    async def leave(self, operator: Operator, client: Client) -> None:
        """Have the API server ask it no more."""
        if operator.defaulting:
            await client.delete(MutatingWebhookConfiguration, operator.name)
        if operator.validating:
            await client.delete(ValidatingWebhookConfiguration, operator.name)
        await self.fall(operator)


def conversion(operator: Operator) -> Mapping[GroupKind, Mapping[str, object]]:
    """What the CRDs say of how versions are converted."""
    return configurations.conversions(operator, _host(operator)[1], b"")


def _host(operator: Operator) -> tuple[str, URLEndpoint]:
    host = f"{operator.name}{DOMAIN}"
    return host, URLEndpoint(f"https://{host}")
