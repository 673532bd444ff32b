"""Leader election: of several replicas one leads, by a Lease that it must renew.

    candidate ──(the lease is free, or silent for 15 s)──▶ leader ──(no renewal for 10 s)──▶ candidate
                                                              │
                                                              └──(stops: gives the lease back)

No candidate trusts another's clock. It takes over when it has itself seen no renewal for the length of the lease,
and a leader counts from the moment that it *sent* its last renewal. It stops writing five seconds before any candidate
may begin: see `Fence`. The numbers are Kubernetes' own.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.time import MicroTime
from windvane.client.client import Client
from windvane.client.errors import AlreadyExists, ClientError, Conflict, Forbidden, NotFound
from windvane.client.transport import Request, Response, Transport, WebSocket
from windvane.k8s.coordination import Lease, LeaseSpec

log = logging.getLogger(__name__)

DURATION = 15.0
"""A lease that is silent for so long may be taken."""
DEADLINE = 10.0
"""A leader that could not renew for so long leads no more."""
RETRY = 2.0
"""How often a leader renews, and a candidate looks."""
TRY_OUT = 60.0
"""How often a candidate that stands by makes sure that it could lead: its rights may have changed since."""
MOMENT = 0.01
"""The shortest pause between two renewals: what is left until a deadline may be too little for the clock to move."""


class LeadershipLost(ClientError):
    """A write was not sent, because another replica may lead by now."""


@dataclass(frozen=True)
class _Observation:
    """A lease as we saw it change, and when that was by our own clock."""

    version: str
    at: float


class Election:
    """One candidate for one lease."""

    def __init__(self, client: Client, name: str, *, namespace: str = "", identity: str) -> None:
        self._client = client
        self._name = name
        self._namespace = namespace or client.namespace
        self.identity = identity
        """How this replica is told apart from all others, also from its own predecessor."""
        self._renewed = -DURATION  # when the last renewal that succeeded was sent
        self._lease: Lease | None = None  # as we last wrote it
        self._observation: _Observation | None = None
        self._holder = ""  # the holder of the lease when we last looked
        self._tried_out = -TRY_OUT
        self._problem = f"waiting for a first look at lease {self._namespace}/{name}"

    @property
    def problem(self) -> str:
        """Why this replica could not lead if it had to; empty if it leads, or stands by for another that does."""
        return "" if self.leading else self._problem

    @property
    def leading(self) -> bool:
        """Whether this replica may write now. It may not be asked in advance: a paused process wakes up later."""
        return ambient.monotonic() < self._renewed + DEADLINE

    @property
    def lack(self) -> str:
        """See `WritePermit.lack`."""
        return "this replica does not lead"

    @property
    def alone(self) -> float:
        """For how many seconds no other replica can lead, whatever happens."""
        return self._renewed + DURATION - ambient.monotonic()

    async def acquire(self) -> None:
        """Wait until this replica leads."""
        said = ""  # what is the same at each look is said once
        while True:
            level, news = logging.INFO, ""
            try:
                if await self._try():
                    log.info("%s leads (lease %s/%s)", self.identity, self._namespace, self._name)
                    self._problem = ""
                    return
                if self._problem or ambient.monotonic() >= self._tried_out + TRY_OUT:
                    await self._try_out()
                self._problem = ""
                if self._holder:
                    news = f"{self.identity} stands by: {self._holder} has lease {self._namespace}/{self._name}"
            except ClientError as error:
                level = logging.WARNING
                self._problem = news = f"lease {self._namespace}/{self._name}: {self._explained(error)}"
            if news and news != said:
                log.log(level, "%s", news)
                said = news
            await ambient.sleep(ambient.jitter(RETRY))

    async def keep_renewing(self) -> None:
        """Renew for as long as it works; come back when this replica leads no more."""
        while self.leading:
            await ambient.sleep(max(MOMENT, min(RETRY, self._renewed + DEADLINE - ambient.monotonic())))
            if not self.leading:
                break
            try:
                async with asyncio.timeout(self._renewed + DEADLINE - ambient.monotonic()):
                    if not await self._renew():
                        log.warning("%s leads no more: another replica has lease %s", self.identity, self._name)
                        break
            except (ClientError, TimeoutError) as error:
                left = self._renewed + DEADLINE - ambient.monotonic()
                why = str(error) or "no answer"
                log.warning("lease %s/%s not renewed (%.0f s left): %s", self._namespace, self._name, left, why)
        self._renewed = -DURATION

    async def release(self) -> None:
        """Give the lease back, so that the next leader need not wait until it is silent for long."""
        lease = self._lease
        if not self.leading or lease is None:
            return
        self._renewed = -DURATION
        lease.spec.holder_identity = ""
        lease.spec.lease_duration_seconds = 1
        try:
            await self._client.replace(lease)
        except ClientError as error:
            log.info("lease %s/%s not released: %s", self._namespace, self._name, error)

    async def _try(self) -> bool:
        sent = ambient.monotonic()
        try:
            lease = await self._client.get(Lease, self._name, namespace=self._namespace)
        except NotFound:
            return await self._write(self._claimed(Lease(metadata=self._metadata()), transitions=0), sent)
        if not self._may_take(lease, sent):
            return False
        # Sent when we write, not when we looked: the lease counts from what the server last heard from us.
        return await self._write(self._claimed(lease, (lease.spec.lease_transitions or 0) + 1), ambient.monotonic())

    async def _try_out(self) -> None:
        """Find out whether we could take the lease; else nothing shows that we can't before its holder is gone."""
        try:
            lease = await self._client.get(Lease, self._name, namespace=self._namespace)
            await self._client.replace(lease, dry_run=True)
        except (Conflict, NotFound):
            pass  # it was renewed or deleted meanwhile, and nothing is said against our writing it
        self._tried_out = ambient.monotonic()

    def _explained(self, error: ClientError) -> str:
        match error:
            case Forbidden(namespace_terminating=True):
                return f"{error}. Make the namespace anew, or name another for the lease"
            case Forbidden():
                return (
                    f"{error}. Grant the verbs get, create and update on leases.coordination.k8s.io in namespace "
                    f"{self._namespace} to the operator"
                )
            case NotFound():
                return f"{error}. Make the namespace, or name another for the lease"
        return str(error)

    def _may_take(self, lease: Lease, now: float) -> bool:
        version = lease.metadata.resource_version
        self._holder = lease.spec.holder_identity or ""
        if self._observation is None or self._observation.version != version:
            self._observation = _Observation(version, now)
        if lease.spec.holder_identity in (None, "", self.identity):
            return True
        silent = lease.spec.lease_duration_seconds or DURATION
        return now >= self._observation.at + silent

    def _metadata(self) -> ObjectMeta:
        return ObjectMeta(name=self._name, namespace=self._namespace)

    def _claimed(self, lease: Lease, transitions: int) -> Lease:
        now = MicroTime.of(ambient.now())
        lease.spec = LeaseSpec(
            holder_identity=self.identity,
            lease_duration_seconds=int(DURATION),
            acquire_time=now,
            renew_time=now,
            lease_transitions=transitions,
        )
        return lease

    async def _renew(self) -> bool:
        """Tell the server that we are alive; False if it says that another replica leads."""
        sent = ambient.monotonic()
        lease = self._lease
        if lease is None:  # how the last attempt ended is unknown: look
            try:
                lease = await self._client.get(Lease, self._name, namespace=self._namespace)
            except NotFound:
                return await self._write(self._claimed(Lease(metadata=self._metadata()), transitions=0), sent)
            if lease.spec.holder_identity != self.identity:
                return False
        lease.spec.renew_time = MicroTime.of(ambient.now())
        self._lease = None
        await self._write(lease, sent)
        return True

    async def _write(self, lease: Lease, sent: float) -> bool:
        try:
            if lease.metadata.resource_version:
                self._lease = await self._client.replace(lease)
            else:
                self._lease = await self._client.create(lease)
        except (Conflict, AlreadyExists):
            return False  # another replica was faster
        except NotFound:
            if not lease.metadata.resource_version:
                raise  # there is not even the namespace
            return False
        self._renewed = sent
        return True


class WritePermit(Protocol):
    """Something that only one replica has at a time: the leadership, or a shard."""

    @property
    def leading(self) -> bool:
        """Whether this replica has it now."""
        ...

    @property
    def alone(self) -> float:
        """For how many seconds no other replica can have it, whatever happens."""
        ...

    @property
    def lack(self) -> str:
        """What to say of a replica that hasn't."""
        ...


class Fence:
    """A transport that lets a replica write only while it has the right to.

    Workers are cancelled when it is lost, but a process that was paused, or a machine that slept, wakes up in the
    middle of whatever it did. So the question is asked for each write, and again at the moment its body is sent.
    """

    def __init__(self, transport: Transport, permit: WritePermit) -> None:
        self._transport = transport
        self._permit = permit
        self._writing = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        if request.method == "GET":
            async with self._transport.open(request) as response:
                yield response
            return
        self._check(request)
        # What is still on its way by the time another replica may begin must not arrive after that.
        alone = self._permit.alone
        guard = partial(self._check, request)
        request = replace(request, timeout=min(request.timeout or alone, alone), guard=guard)
        self._writing += 1
        self._quiet.clear()
        try:
            async with self._transport.open(request) as response:
                yield response
        finally:
            self._writing -= 1
            if not self._writing:
                self._quiet.set()

    async def quiet(self) -> None:
        """Wait until no write is under way: so long, a right that is to be given away must be kept."""
        await self._quiet.wait()

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """See `Transport.websocket`."""
        self._check(request)
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()

    def _check(self, request: Request) -> None:
        if not self._permit.leading:
            raise LeadershipLost(f"{request} was not sent: {self._permit.lack}, and another may")
