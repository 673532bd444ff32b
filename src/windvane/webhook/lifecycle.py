"""The webhooks of an operator at work: what is needed is made ready in order, and kept so.

    certificate → server listening → (tried out) → webhook configurations and CRDs that lead to it

    async with serve_webhooks(operator, client) as webhooks: ...

An operator that declares none does nothing of this, and needs no rights for it.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from windvane import ambient
from windvane.client.client import Client
from windvane.client.errors import ClientError
from windvane.runtime.conversion import GroupKind
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.certificate_secret import SharedCertificates
from windvane.webhook.endpoint import URLEndpoint, WebhookEndpoint
from windvane.webhook.probe import probe
from windvane.webhook.registration_controller import RegistrationController
from windvane.webhook.server import Listening, listen
from windvane.webhook.tls import ServerTLS

if TYPE_CHECKING:
    from prometheus_client import Metric

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
WAITING = "waiting for the webhook server to listen"
TAKE_BACK_WITHIN = 5.0
"""Seconds: an API server that is gone must not keep a process from stopping."""
LEAVING = "the webhook server is about to stop"


def serve_webhooks(
    operator: Operator,
    client: Client,
    *,
    endpoint: WebhookEndpoint | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    namespace: str = "",
    client_ca: Path | None = None,
    leave_within: float = 0.0,
    try_out: bool = False,
    take_back: bool = False,
) -> "Webhooks":
    """Serve what an operator declares, and keep API servers told of it, for the length of an `async with` block.

    `endpoint` says how API servers come here; without it, they are on this machine. Port 0 is any free one. `namespace`
    is the operator's own, where its certificates are kept: that of the client, if none is named. With `client_ca`, a
    file of certificates in PEM form, which may change, only clients with a certificate that these vouch for are
    answered, except by conversions. At the end, questions are still answered for `leave_within` seconds: if there are
    other replicas, API servers take that long to turn to them. With `try_out`, nothing is told to API servers unless
    they come here: else the block begins with `NotReached`. With `take_back`, they are told at the end to ask no more:
    for a process that nothing starts again.
    """
    webhooks = Webhooks(
        operator, client, endpoint, (host, port), namespace or client.namespace, client_ca, leave_within, try_out
    )
    webhooks.takes_back = take_back
    return webhooks


class Webhooks:
    """What is served, and how far it has come."""

    def __init__(
        self,
        operator: Operator,
        client: Client,
        endpoint: WebhookEndpoint | None,
        where: tuple[str, int],
        namespace: str,
        client_ca: Path | None,
        leave_within: float,
        try_out: bool,
    ) -> None:
        self._operator = operator
        self._client = Client(client.calls.transport, namespace=client.namespace, field_manager=operator.name)
        self._endpoint = endpoint
        self._host, self._port = where
        self._tls = ServerTLS(client_ca)
        self._namespace = namespace
        self._leave_within = leave_within
        self._left_at: float | None = None
        self._try_out = try_out
        self.takes_back = False
        """Whether API servers are told at the end to ask no more."""
        self.left_behind = ""
        """Why they could not be told so; known at the end."""
        self._stack = AsyncExitStack()
        self.failure = ""
        """Why webhooks are not looked after any more, which should never be; the process had better begin anew."""
        self.failed = asyncio.Event()
        self.listening: Listening | None = None
        """The server, once it listens."""
        self.registrations: RegistrationController | None = None
        self.certificates = SharedCertificates(
            self._client,
            f"{operator.name}-webhook-server-cert",
            namespace=namespace,
            tls=self._tls,
            addresses=endpoint.addresses if endpoint else (LOOPBACK,),
            known=self._is_known,
        )

    @property
    def missing(self) -> str:
        """What API servers would still wait for; empty if nothing."""
        if not self._operator.serves_webhooks:
            return ""
        if self._left_at is not None:
            return LEAVING
        served = self.failure or self.certificates.missing or ("" if self.listening else WAITING)
        return served or (self.registrations.problem if self.registrations is not None else "")

    @property
    def endpoint(self) -> WebhookEndpoint:
        """How API servers come here."""
        if self._endpoint is not None:
            return self._endpoint
        if self.listening is None:
            raise RuntimeError("there is no port before the server listens: `async with serve_webhooks(...)`")
        return URLEndpoint(f"https://{LOOPBACK}:{self.listening.port}")

    @property
    def conversion(self) -> Mapping[GroupKind, Mapping[str, Any]]:
        """What spec.conversion of the operator's CRDs has to say: for `install_crds`."""
        if not self._operator.conversions:
            return {}
        return configurations.conversions(self._operator, self.endpoint, self.certificates.bundle)

    def collect(self) -> "Iterator[Metric]":
        """What /metrics shows; called by the registry of prometheus_client."""
        if self.listening is not None:
            yield from self.listening.metrics.collect()

    async def wait_right(self) -> None:
        """Wait until webhook configurations and CRDs say what they should."""
        if self.registrations is not None:
            await self.registrations.wait_right()

    async def __aenter__(self) -> Self:
        try:
            if self._operator.serves_webhooks:
                await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    def leave(self) -> None:
        """Have API servers turn to other replicas: this one is about to stop."""
        if self.listening is not None and self._left_at is None:
            self._left_at = ambient.monotonic()
            self.listening.leave()

    async def __aexit__(self, *_: object) -> None:
        try:
            self.leave()
            if self._left_at is not None:
                await ambient.sleep(max(self._left_at + self._leave_within - ambient.monotonic(), 0))
        finally:
            await self._stack.aclose()
            self.listening = None

    async def _start(self) -> None:
        held = asyncio.Event()
        self.certificates.subscribe(held.set)
        issuing = self._run(self.certificates.run())
        waiting = asyncio.get_running_loop().create_task(held.wait())
        try:
            await asyncio.wait([waiting, issuing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if issuing.done():
            issuing.result()  # which raises: it never ends by itself
        server = listen(self._operator, self._tls, host=self._host, port=self._port)
        self.listening = await self._stack.enter_async_context(server)
        log.info("webhooks are served at port %d, and API servers are told %s", self.listening.port, self.endpoint)
        if self._try_out:
            # Before anything depends on it: a configuration that leads nowhere would have all objects refused.
            bundle = self.certificates.bundle
            name, namespace = self._operator.name, self._namespace
            if unknown := await probe(self._client, name, self.endpoint, bundle, namespace=namespace):
                log.warning("whether the API server reaches the webhooks can't be tried out: %s", unknown)
            else:
                log.info("the API server reaches the webhooks at %s", self.endpoint)
        self.registrations = RegistrationController(
            self._client, self._operator, self.endpoint, self.certificates, namespace=self._namespace
        )
        # After the end of what would put it right again, and before that of the server: no API server asks in vain.
        self._stack.push_async_callback(self._take_back)
        self._run(self.registrations.run())

    async def _take_back(self) -> None:
        if not self.takes_back or self.registrations is None:
            return
        try:
            async with asyncio.timeout(TAKE_BACK_WITHIN):
                for kind in await self.registrations.take_back():
                    words = "%s %s is gone until the operator runs again: API servers would ask in vain"
                    log.info(words, kind, self._operator.name)
        except (ClientError, TimeoutError) as error:
            self.left_behind = str(error) or "no answer"

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have something run until the block ends."""
        task = asyncio.get_running_loop().create_task(work)

        async def end() -> None:
            task.cancel()
            await asyncio.wait([task])

        task.add_done_callback(self._task_ended)
        self._stack.push_async_callback(end)
        return task

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failure = f"webhooks are not looked after any more: {error!r}"
            self.failed.set()
            log.critical("%s", self.failure, exc_info=error)

    def _is_known(self, bundle: bytes) -> bool:
        return self.registrations is not None and self.registrations.is_known(bundle)
