"""Where webhooks are tried: an API server, an operator of the test's own, and kinds that nobody else has."""

import asyncio
import socket
import socketserver
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from threading import Lock, Thread
from typing import Any

from windvane import (
    Client,
    ClientError,
    InternalError,
    NotFound,
    ObjectMeta,
    Operator,
    Resource,
    Spec,
    Status,
    ambient,
)
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.api.resource import Dynamic
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.k8s.core import ConfigMap, Secret
from windvane.k8s.scheduling import PriorityClass
from windvane.runtime.crds import install_crds
from windvane.webhook.lifecycle import Webhooks, serve_webhooks
from windvane.webhook.paths import webhook_name

PATIENCE = 120.0


class SiteSpec(Spec):
    """What a site should be."""

    region: str = ""
    hosts: list[str] = []


class OldSiteSpec(Spec):
    """The same, as it was."""

    region: str = ""
    host: str = ""
    weight: int = 5


Site = Resource[SiteSpec, Status]
OldSite = Resource[OldSiteSpec, Status]


class World:
    """An API server and one test's corner of it."""

    def __init__(self, client: Client, operator: str, group: str) -> None:
        self.client = client
        self.group = group
        self.operator = Operator(operator)

        class NewSite(Resource[SiteSpec, Status], group=group, version="v1", kind="Site"):
            """A site."""

        class FormerSite(Resource[OldSiteSpec, Status], group=group, version="v1beta1", kind="Site", stored=False):
            """A site, as it was."""

        self.site: type[Site] = NewSite
        self.old_site: type[OldSite] = FormerSite

    @property
    def crd_name(self) -> str:
        return f"sites.{self.group}"

    @asynccontextmanager
    async def serving(self, operator: Operator | None = None, **how: Any) -> AsyncIterator[Webhooks]:
        """The operator's webhooks, with its CRD, once API servers ask them."""
        operator = operator or self.operator
        async with serve_webhooks(operator, self.client, **how) as webhooks:
            await self.settle(webhooks, operator)
            yield webhooks

    async def settle(self, webhooks: Webhooks, operator: Operator) -> None:
        """Install the CRD, and wait until the API server asks these."""
        await install_crds(self._as(operator), operator.kinds, conversion=webhooks.conversion)
        await webhooks.wait_right()
        declared = [("default", operator.defaulting), ("validate", operator.validating)]
        hooks = [(verb, hook) for verb, each in declared for hook in each.values() if "create" in hook.operations]
        names = {webhook_name(verb, hook.kind) for verb, hook in hooks if hook.kind.group == self.group}
        await self.until(lambda: self._are_asked(webhooks, names))

    async def _are_asked(self, webhooks: Webhooks, names: set[str]) -> bool:
        """An API server takes a moment to notice a configuration, and another one for the next."""
        assert webhooks.listening is not None
        with suppress(ClientError):
            await self.client.create(self.new("is-it-there-yet"), dry_run=True)
            metadata = ObjectMeta(name="is-it-there-yet", namespace=self.client.namespace)
            await self.client.create(self.old_site(metadata=metadata), dry_run=True)
        asked = {webhook for webhook, _, _ in webhooks.listening.metrics.answers}
        return bool(asked) and names <= asked

    def _as(self, operator: Operator) -> Client:
        return Client(self.client.calls.transport, namespace=self.client.namespace, field_manager=operator.name)

    def new(self, name: str, **spec: Any) -> Site:
        return self.site(metadata=ObjectMeta(name=name, namespace=self.client.namespace), spec=SiteSpec(**spec))

    async def create(self, name: str, *, dry_run: bool = False, **spec: Any) -> Site:
        return await self.client.create(self.new(name, **spec), dry_run=dry_run)

    async def until(self, condition: Callable[[], Awaitable[Any]]) -> Any:
        """Wait until something is so, and return it."""
        deadline = ambient.monotonic() + PATIENCE
        while not (found := await condition()):
            if ambient.monotonic() > deadline:
                raise AssertionError(f"not so within {PATIENCE:g} s")
            await ambient.sleep(0.05)
        return found

    async def mutating(self) -> MutatingWebhookConfiguration | None:
        with suppress(NotFound):
            return await self.client.get(MutatingWebhookConfiguration, self.operator.name)
        return None

    async def validating(self) -> ValidatingWebhookConfiguration | None:
        with suppress(NotFound):
            return await self.client.get(ValidatingWebhookConfiguration, self.operator.name)
        return None

    async def definition(self) -> Dynamic:
        return await self.client.get(CustomResourceDefinition, self.crd_name)

    async def clean_up(self) -> None:
        """Nothing of this test is in the way of another."""
        for what in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration):
            with suppress(NotFound):
                await self.client.delete(what, self.operator.name)
        with suppress(NotFound):
            await self.client.delete(CustomResourceDefinition, self.crd_name)
        await self.until(self._is_nobody_asked)

    async def _is_nobody_asked(self) -> bool:
        """An API server takes a moment to notice that a configuration is gone, too.

        Until then it may refuse what the next test or its operator writes, as there is nobody any more to ask.
        """
        name = f"{self.operator.name}-end"
        elsewhere = ObjectMeta(name=name, namespace="default")  # for it may have been spared at home
        priority = PriorityClass(metadata=ObjectMeta(name=name), value=1)
        for thing in (ConfigMap(metadata=elsewhere), Secret(metadata=elsewhere), priority):
            try:
                await self.client.create(thing, dry_run=True)
            except InternalError:
                return False
        return True


class Load:
    """Requests one after the other, in several lanes; whatever is refused is remembered."""

    def __init__(self, ask: Callable[[], Awaitable[Any]], lanes: int = 4) -> None:
        self.answered = 0
        self.failures: list[Exception] = []
        self._ask = ask
        self._lanes = lanes

    async def _lane(self) -> None:
        while True:
            try:
                await self._ask()
                self.answered += 1
            except ClientError as error:
                self.failures.append(error)

    async def more(self, count: int = 50) -> None:
        """Wait for so many more answers."""
        until = self.answered + count
        while self.answered < until and not self.failures:
            await ambient.sleep(0.02)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Load"]:
        lanes = [asyncio.get_running_loop().create_task(self._lane()) for _ in range(self._lanes)]
        try:
            yield self
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)


class Balancer(socketserver.ThreadingTCPServer):
    """What a Service does: passes connections on to one of several servers that listens.

    In threads, not in tasks of an event loop: the test's own loop is busy, and one that ends leaves the connections
    open that it took in its last moment. Here whoever was let in is seen off.
    """

    daemon_threads = False  # so that all are waited for in the end
    request_queue_size = 128  # of those who come at once, all but five would have to try again a second later

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _PassedOn)
        self.ports: list[int] = []
        self.port: int = self.server_address[1]
        self._next = 0
        self._open: list[socket.socket] = []
        self._changing = Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Balancer"]:
        listening = asyncio.get_running_loop().run_in_executor(None, self.serve_forever, 0.05)
        try:
            yield self
        finally:
            await asyncio.to_thread(self._stop)
            await listening

    def pass_on(self, connection: socket.socket) -> socket.socket | None:
        """A connection to who is next, for this one; none if nobody listens."""
        with self._changing:
            for _ in range(len(self.ports)):
                self._next += 1
                with suppress(OSError):
                    there = socket.create_connection(("127.0.0.1", self.ports[self._next % len(self.ports)]))
                    self._open += [connection, there]
                    return there
        return None

    def _stop(self) -> None:
        self.shutdown()
        with self._changing:
            self.ports.clear()
            for each in self._open:
                with suppress(OSError):  # long since closed
                    each.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _PassedOn(socketserver.BaseRequestHandler):
    """One connection, and the one that it is passed on to, until both ends have said all they had to say."""

    server: Balancer

    def handle(self) -> None:
        if there := self.server.pass_on(self.request):
            with there:
                back = Thread(target=_copy, args=(there, self.request))
                back.start()
                _copy(self.request, there)
                back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
