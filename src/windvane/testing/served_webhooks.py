"""Webhooks of an operator in a test's process, for an API server outside of it: over HTTPS, with a certificate."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from windvane.api.meta import LabelSelector
from windvane.certificates import Authority
from windvane.client.client import Client
from windvane.client.errors import NotFound
from windvane.runtime.conversion import GroupKind
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.configurations import NAMESPACE_NAME, Configuration
from windvane.webhook.endpoint import URLEndpoint
from windvane.webhook.server import Timeouts, listen
from windvane.webhook.tls import ServerTLS

LOOPBACK, ANYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104
AT_ONCE = Timeouts(shutdown=0.0)


class ServedWebhooks:
    """The webhooks of one operator, while it runs."""

    def __init__(self, operator: Operator, *, url: str = "", only: str = "") -> None:
        """`url` is where the API server comes here, if not from this machine; `only` the namespace that it asks for."""
        self._operator = operator
        self._url = url
        self._only = only
        self._stack = AsyncExitStack()
        self._stated: list[Configuration] = []
        self.conversion: Mapping[GroupKind, Mapping[str, Any]] = {}
        """What the CRDs say of how versions are converted."""

    async def serve(self, client: Client, namespace: str) -> None:
        """Answer, and have the API server ask. `namespace` is the operator's own."""
        if not self._operator.serves_webhooks:
            return
        authority, tls = Authority.new(), ServerTLS()
        endpoint = URLEndpoint(self._url or f"https://{LOOPBACK}")
        tls.show(authority.server("webhooks", endpoint.addresses))
        host, port = (ANYWHERE, _port(self._url)) if self._url else (LOOPBACK, 0)
        listening = await self._stack.enter_async_context(
            listen(self._operator, tls, host=host, port=port, timeouts=AT_ONCE)
        )
        if not self._url:
            endpoint = URLEndpoint(f"https://{LOOPBACK}:{listening.port}")
        bundle = authority.pair.public
        self.conversion = configurations.conversions(self._operator, endpoint, bundle)
        stated = (
            configurations.mutating(self._operator, endpoint, bundle, namespace),
            configurations.validating(self._operator, endpoint, bundle, namespace),
        )
        for each in stated:
            if each is not None:
                self._confine(each)
                await client.apply(each, force=True)
                self._stated.append(each)

    async def fall(self, operator: Operator) -> None:
        """Have nothing answer any more, as after a SIGKILL: the API server goes on to ask."""
        del operator
        await self._stack.aclose()

    async def leave(self, operator: Operator, client: Client) -> None:
        """Have the API server ask no more."""
        for each in self._stated:
            try:
                await client.delete(type(each), each.metadata.name)
            except NotFound:  # the test has deleted it
                continue
        self._stated = []
        await self.fall(operator)

    def _confine(self, stated: Configuration) -> None:
        """Have it be about the objects of one namespace, and not in the way of that of another test."""
        if not self._only:
            return
        stated.metadata.name = f"{stated.metadata.name}-{self._only}"
        for each in stated.webhooks:
            selector = each.namespace_selector or LabelSelector()
            selector.match_labels = {**selector.match_labels, NAMESPACE_NAME: self._only}
            each.namespace_selector = selector


def _port(url: str) -> int:
    from urllib.parse import urlsplit

    return urlsplit(url).port or 443
