"""The Secret in which the replicas of an operator share the certificates of their webhook servers.

The first replica makes it, all watch it, and the first to notice that something is due or damaged puts it right:
the others find that out when their own write comes too late, and read. A Secret that was deleted is written anew as it
was, by those that still have it in memory, so that what API servers trust does not change.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import suppress

from windvane import ambient
from windvane.api.envelope import Item
from windvane.api.meta import ObjectMeta
from windvane.backoff import Backoff
from windvane.client.client import Client
from windvane.client.errors import AlreadyExists, ClientError, Conflict, Forbidden, NotFound
from windvane.k8s.core import Secret
from windvane.runtime.informers.informer import Informer
from windvane.webhook import certificates
from windvane.webhook.certificates import Certificates, Damaged
from windvane.webhook.tls import ServerTLS

log = logging.getLogger(__name__)

LONGEST_WAIT = 3600.0
"""Seconds after which all is looked at again, whatever the clock said before: it may have been set."""
RETRY = Backoff(first=1.0, most=30.0)


class SharedCertificates:
    """Keeps the certificates in the Secret good, and what the server shows in step with them."""

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        namespace: str,
        tls: ServerTLS,
        addresses: Collection[str],
        known: Callable[[bytes], bool],
    ) -> None:
        """`tls` is what the server listens with, and `addresses` where it is reached.

        `known` says whether all API servers have a bundle by now.
        """
        self.name = name
        self.namespace = namespace
        self.held: Certificates | None = None
        self._problem = ""
        self._client = client
        self._tls = tls
        self._addresses = addresses
        self._known = known
        self._again = asyncio.Event()
        self._subscribers: list[Callable[[], None]] = []
        self._informer = Informer(
            client,
            Secret,
            namespaces=[namespace],
            fields={"metadata.name": name},
            keep=Item.bare,
        )
        self._informer.subscribe(lambda _: self.look_again())

    @property
    def bundle(self) -> bytes:
        """The authorities that API servers have to trust; empty while there are none."""
        return self.held.bundle if self.held else b""

    @property
    def missing(self) -> str:
        """Why there is no certificate to serve with; empty if there is one, whether it can be renewed now or not."""
        if self.held is not None and ambient.now() < self.held.certificate.expires:
            return ""
        return self._problem or "waiting for the certificate of the webhook server"

    def subscribe(self, subscriber: Callable[[], None]) -> None:
        """Call `subscriber` whenever the certificates have changed."""
        self._subscribers.append(subscriber)

    def look_again(self) -> None:
        """Have `run` look whether something is due."""
        self._again.set()

    async def run(self) -> None:
        """Keep everything good until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informer.run())
            group.create_task(self._renew_when_due())

    async def refresh(self) -> None:
        """Take in what is in the Secret; make or renew it if that is due."""
        while not await self._try():
            pass  # another replica was faster: what it wrote is to be read

    async def _renew_when_due(self) -> None:
        failures = 0
        while True:
            self._again.clear()
            try:
                await self.refresh()
                failures, self._problem = 0, ""
            except ClientError as error:
                failures += 1
                self._set_problem(self._explained(error))
            wait = LONGEST_WAIT
            if failures:
                wait = RETRY.delay(failures - 1)
            elif self.held is not None:
                wait = min(max(certificates.seconds_to_renewal(self.held), 0) + RETRY.first, LONGEST_WAIT)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._again.wait()

    async def _try(self) -> bool:
        """Whether the Secret and we are in step; False if another replica changed it meanwhile."""
        secret = await self._read()
        there = self._good(secret)
        base = there or self.held
        if base is None or not certificates.is_trusted(base):
            wanted: Certificates | None = certificates.new(self._addresses)
        else:
            wanted = certificates.successor(base, self._addresses, known=self._known(base.bundle))
        if wanted is None and there is None:
            wanted = self.held
        if wanted is None:
            self._take(base)
            return True
        try:
            await self._write(secret, wanted)
        except (AlreadyExists, Conflict):
            return False
        except NotFound:
            if secret is None:
                raise  # there is not even the namespace
            return False
        self._take(wanted)
        return True

    async def _read(self) -> Secret | None:
        try:
            return await self._client.get(Secret, self.name, namespace=self.namespace)
        except NotFound:
            return None

    def _good(self, secret: Secret | None) -> Certificates | None:
        if secret is None:
            return None
        try:
            return certificates.from_secret(secret.data)
        except Damaged as error:
            log.warning("Secret %s/%s is made anew: %s", self.namespace, self.name, error)
            return None

    async def _write(self, secret: Secret | None, wanted: Certificates) -> None:
        data = certificates.to_secret(wanted)
        if secret is None:
            metadata = ObjectMeta(name=self.name, namespace=self.namespace)
            await self._client.create(Secret(metadata=metadata, type="kubernetes.io/tls", data=data))
        else:
            secret.data = data
            await self._client.replace(secret)
        if secret is None and self.held is not None:
            log.info("Secret %s/%s was deleted, and is written again", self.namespace, self.name)
        log.info("Secret %s/%s has certificates until %s", self.namespace, self.name, wanted.certificate.expires)

    def _take(self, held: Certificates | None) -> None:
        if held is None or (self.held is not None and held.server == self.held.server and held.bundle == self.bundle):
            return
        if self.held is None or held.server != self.held.server:
            self._tls.show(held.server)
        self.held = held
        for subscriber in self._subscribers:
            subscriber()

    def _explained(self, error: ClientError) -> str:
        doing = f"certificates can't be kept in Secret {self.namespace}/{self.name}: {error}"
        if isinstance(error, NotFound) or (isinstance(error, Forbidden) and error.namespace_terminating):
            doing += f". Make the namespace {self.namespace} anew, or choose another one with --lease-namespace"
        elif isinstance(error, Forbidden):
            verbs = "get, list, watch, create and update"
            doing += f". Grant the verbs {verbs} on secrets in {self.namespace} to the operator"
        return doing

    def _set_problem(self, problem: str) -> None:
        if problem != self._problem:
            log.warning("%s", problem)
        self._problem = problem
