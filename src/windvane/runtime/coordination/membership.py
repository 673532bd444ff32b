"""A member of a group of replicas: it says that it lives by a Lease of its own, and knows when none thinks it dead.

    joins ──(sees its own Lease)──▶ announced ──(leaves, or sees no renewal of its own for 10 s)──▶ over, for good

A renewal counts only once the member has *seen* it, through the same watch by which it sees all other Leases. So a
living member has seen every change that was made before its last renewal that counts; if a shard's Lease was deleted,
say, it knows after ten seconds at the latest, or lives no more. Others wait for fifteen.

A member that is over never comes back. Its process joins again as another member, under another name; so whatever
still arrives from the old one, late, says nothing about the new one, and dead means dead.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.time import MicroTime
from windvane.client.client import Client
from windvane.client.errors import ClientError, Forbidden, NotFound
from windvane.k8s.coordination import Lease, LeaseSpec
from windvane.runtime.coordination.leader_election import DEADLINE, DURATION, MOMENT, RETRY
from windvane.runtime.coordination.shard_assignment import MemberState
from windvane.runtime.informers.informer import Informer

log = logging.getLogger(__name__)

SHARDS = "windvane.dev/shards"
"""The annotation that says how many shards a member believes that there are."""
JOINED = "windvane.dev/joined"
"""The annotation that says which resourceVersion a member's Lease was made with."""


class Member:
    """This process as a member, from joining until it leaves or lapses."""

    def __init__(self, client: Client, leases: Informer[Lease], name: str, identity: str, shards: int) -> None:
        self._client = client
        self._leases = leases
        self.name = name
        """Its Lease's name, which no other member ever has."""
        self._identity = identity
        self._shards = shards
        self._uid = ""
        self._joined = ""
        self._renewed = -DURATION  # when the last renewal that we have seen was sent
        self._unseen: list[tuple[str, float]] = []  # versions that we wrote and have not seen yet, and when
        self._announced = self._leaving = self._over = False
        self._hurry = asyncio.Event()
        self.problem = ""
        """Why it can't join; empty if it can."""

    @property
    def alive(self) -> bool:
        """Whether no other member may believe it dead. Not to be asked in advance: a paused process wakes up later."""
        return self._announced and not self._over and ambient.monotonic() < self._renewed + DEADLINE

    @property
    def alone(self) -> float:
        """For how many seconds no other member can believe it dead, whatever happens."""
        return self._renewed + DURATION - ambient.monotonic()

    @property
    def unheard(self) -> float:
        """For how many seconds a renewal that the server has taken has not come back to us."""
        return ambient.monotonic() - self._unseen[0][1] if self._unseen else 0.0

    async def join(self) -> None:
        """Make its Lease. It asks for no shards before it has seen that its view of the Leases is a fresh one."""
        while not self._uid:
            sent = ambient.monotonic()
            metadata = ObjectMeta(
                name=self.name, namespace=self._client.namespace, annotations={SHARDS: str(self._shards)}
            )
            spec = LeaseSpec(holder_identity="", lease_duration_seconds=int(DURATION), renew_time=_now())
            try:
                lease = await self._client.create(Lease(metadata=metadata, spec=spec))
            except ClientError as error:
                # It may have been made all the same: then it is one that is never renewed, and is cleared away.
                self._set_problem(f"the lease of a member was not made: {error}{remedy(error, self._client.namespace)}")
                self.name = f"{self.name.rpartition('-')[0]}-{ambient.token(10)}"
                await ambient.sleep(ambient.jitter(RETRY))
                continue
            self.problem = ""
            self._uid, self._joined = lease.metadata.uid, lease.metadata.resource_version
            self._renewed = sent
            self._unseen.append((self._joined, sent))
            self.look()

    async def keep_renewing(self) -> None:
        """Renew; comes back when the member is over."""
        while not self._over and (left := self._renewed + DEADLINE - ambient.monotonic()) > 0:
            self._hurry.clear()
            try:
                async with asyncio.timeout(left):
                    if not await self._renew():
                        # Made again under the same name, it could be deleted again without the others noticing that it
                        # was there, and they would count from the first time.
                        log.warning("somebody deleted lease %s: joining as another member", self.name)
                        break
            except (ClientError, TimeoutError) as error:
                left = self._renewed + DEADLINE - ambient.monotonic()
                log.warning("lease %s not renewed (%.0f s left): %s", self.name, left, str(error) or "no answer")
            pause = max(MOMENT, min(RETRY, self._renewed + DEADLINE - ambient.monotonic()))
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._hurry.wait()
        self._over = True

    def look(self) -> None:
        """See whether renewals have come back to us; called after every change of a Lease."""
        key = (self._client.namespace, self.name)
        while self._unseen and self._leases.has_seen(key, self._unseen[0][0]):
            _, sent = self._unseen.pop(0)
            if ambient.monotonic() < self._renewed + DEADLINE:  # or it is too late: others may believe us dead
                self._renewed = sent
                if not self._announced:
                    self._announced = True
                    self._hurry.set()

    def leave(self) -> None:
        """Ask for no more shards, from now on."""
        self._leaving = True
        self._hurry.set()

    async def delete(self) -> None:
        """Take the Lease away; only a member that holds nothing any more may do that."""
        self._over = True
        if self._uid:
            try:
                async with asyncio.timeout(RETRY):
                    await self._client.delete(Lease, self.name, uid=self._uid)
            except (ClientError, TimeoutError) as error:
                log.info("lease %s not deleted: %s", self.name, str(error) or "no answer")

    def _set_problem(self, problem: str) -> None:
        if problem != self.problem:  # what is the same at each try is said once
            log.warning("%s", problem)
        self.problem = problem

    async def _renew(self) -> bool:
        """Tell the server that we live; False if our Lease is gone."""
        sent = ambient.monotonic()
        identity = self._identity if self._announced and not self._leaving else ""
        patch: dict[str, Any] = {
            "metadata": {"annotations": {JOINED: self._joined}},
            "spec": {"holderIdentity": identity, "renewTime": _now().to_wire()},
        }
        try:
            lease = await self._client.patch(Lease, self.name, patch)
        except NotFound:
            return False
        if lease.metadata.uid != self._uid:
            return False
        self._unseen.append((lease.metadata.resource_version, sent))
        self.look()
        return True


def remedy(error: ClientError, namespace: str) -> str:
    """What to do about a Lease that can't be written, to be said after the error; empty if that is not known."""
    match error:
        case Forbidden(namespace_terminating=True):
            return f". Make the namespace {namespace} anew, or name another for the leases"
        case Forbidden():
            verbs = "get, list, watch, create, update, patch and delete"
            return f". Grant the verbs {verbs} on leases.coordination.k8s.io in namespace {namespace} to the operator"
        case NotFound():
            return f". Make the namespace {namespace}, or name another for the leases"
    return ""


def member_state(lease: Lease) -> MemberState:
    """What a member's Lease says."""
    said = lease.metadata.annotations
    joined, shards = said.get(JOINED, ""), said.get(SHARDS, "")
    return MemberState(
        identity=lease.spec.holder_identity or "",
        shards=int(shards) if shards.isdecimal() else 0,
        joined=int(joined) if joined.isdecimal() else None,
    )


def _now() -> MicroTime:
    return MicroTime.of(ambient.now())
