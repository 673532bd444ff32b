"""Shards: several replicas work at once, each on the keys of the shards that it holds, and never two on one key.

Each shard has a Lease, and the member that it names holds the shard. It is written only when a shard changes hands:
what must be renewed is one Lease for each replica, by which it says that it lives (see `membership`). All watch all of
them:

    a replica joins or leaves ──▶ all compute which should have what (see `shard_assignment`)
      one has too much: begins no pass, lets those under way finish, gives the shard's Lease back
      one has too little: takes what was given back, or belonged to a member that is dead

A member is dead that has been silent for 15 seconds by our own clock, and still is when we ask the server once more:
our own watch may lag, and we may not have listened. A member stops writing 10 seconds after its last renewal, so it has
stopped before any other calls it dead, and it never comes back. A Lease is taken by writing over the version that we
judged; of two members that try, one fails. A shard whose Lease is missing gets an empty one, which must be 15 seconds
old before it is taken: the Lease may have been deleted while its holder does not know yet.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, NamedTuple

import msgspec

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.api.time import MicroTime
from windvane.client.client import Client
from windvane.client.errors import AlreadyExists, ClientError, Conflict, NotFound
from windvane.k8s.coordination import Lease, LeaseSpec
from windvane.runtime.coordination.held_shard import HeldShard
from windvane.runtime.coordination.leader_election import DURATION, MOMENT, RETRY
from windvane.runtime.coordination.membership import Member, member_state, remedy
from windvane.runtime.coordination.partition import Elsewhere
from windvane.runtime.coordination.shard_assignment import (
    MemberState,
    ShardState,
    may_take,
    shard_of,
    shares,
    stands_by,
)
from windvane.runtime.informers.cache import Change, Key
from windvane.runtime.informers.informer import Informer

log = logging.getLogger(__name__)

FINISH_WITHIN = 10.0
"""How long, in seconds, the passes of a shard that is to change hands may take before they are cancelled."""
RELEASED = 1
"""How long a Lease lasts, in seconds, that its holder gave back; Kubernetes' own components write that, too."""


class _Observation(NamedTuple):
    """A Lease as we saw it change, and when that was by our own clock; without a version, it is not there."""

    version: str
    at: float


class Shards:
    """The shards of one operator, and which of them this replica holds. A `Share`."""

    def __init__(self, client: Client, operator: str, *, namespace: str = "", identity: str, count: int) -> None:
        self._working = client
        # Leases may be in another namespace than what is worked on.
        namespace = namespace or client.namespace
        self._client = Client(client.calls.transport, namespace=namespace, field_manager=client.field_manager)
        self._operator = operator
        self._identity = identity
        self.count = count
        self.gained: Callable[[int], None] = lambda _: None
        """Called with each shard that this replica begins to hold."""
        self.lost: Callable[[int], None] = lambda _: None
        """Called with each shard that it holds no more."""
        self.cleared: Callable[[int], Awaitable[None]] = _nothing
        """Called with each shard before it is given back: comes to its end when nothing is done about it any more."""
        self._informer = Informer(client, Lease, namespaces=(namespace,))
        self._shard_name = re.compile(re.escape(f"{operator}-shard-") + "([0-9]+)")
        self._member_name = re.compile(re.escape(f"{operator}-member-") + "[a-z0-9]+")
        self._members: dict[str, MemberState] = {}
        self._leases: dict[int, Lease] = {}
        self._observations: dict[str, _Observation] = {}
        self._dead: set[str] = set()  # members that have stopped for good
        self._member: Member | None = None
        self._held: dict[int, HeldShard] = {}
        self._tasks: dict[int | str, asyncio.Task[None]] = {}  # what is being done about a shard, or a member
        self._watching: asyncio.Task[None] | None = None
        self._watched = 0.0  # when that began
        self._wake = asyncio.Event()
        self._left = asyncio.Event()
        self._leaving = False
        self._refused: dict[int | str, str] = {}  # what could not be done about a shard or a member, and why

    # What controllers ask

    @property
    def held(self) -> set[int]:
        """The shards that this replica may write for now."""
        return {shard for shard, held in self._held.items() if held.leading}

    @property
    def problem(self) -> str:
        """Why this replica could not work if it had to; empty if it does, or has nothing to do."""
        if not self._informer.synced:
            return self._informer.problem or "waiting for the first list of leases"
        if self._member is not None and self._member.problem:
            return self._member.problem
        return next((why for about, why in self._refused.items() if isinstance(about, int)), "")

    def shard(self, kind: Kind, key: Key) -> int:
        """The shard that an object is in."""
        return shard_of(kind.resource, key, self.count)

    def has(self, kind: Kind, key: Key) -> bool:
        """See `Partition.has`."""
        held = self._held.get(self.shard(kind, key))
        return held is not None and held.open

    def turn(self, kind: Kind, key: Key) -> AbstractAsyncContextManager[Client]:
        """See `Partition.turn`."""
        held = self._held.get(shard := self.shard(kind, key))
        if held is None or not held.open:
            raise Elsewhere(f"shard {shard} is not ours")
        return held.turn()

    # Taking part

    async def run(self) -> None:
        """Take part until this replica leaves, or is cancelled."""
        self._watch()
        unsubscribe = self._informer.subscribe(self._saw)
        try:
            await self._informer.wait_synced()
            while not self._leaving:
                async with self._joined() as member:
                    await self._live(member)
        finally:
            unsubscribe()
            if self._watching is not None:
                await _cancelled(self._watching)

    async def leave(self) -> None:
        """Give all shards back, once the passes under way are finished, and go."""
        self._leaving = True
        self._wake.set()
        if self._member is not None:
            self._member.leave()
            if self._member.alive:
                await self._left.wait()

    @asynccontextmanager
    async def _joined(self) -> AsyncIterator[Member]:
        """For the length of the block, be a member; a new one each time."""
        name = f"{self._operator}-member-{ambient.token(10)}"
        member = self._member = Member(self._client, self._informer, name, self._identity, self.count)
        try:
            yield member
        finally:
            for held in list(self._held.values()):
                self._end(held)
            await _cancelled(*self._tasks.values())
            self._dead.add(member.name)  # it knows best
            self._member = None
            if self._leaving:
                await member.delete()
                self._left.set()

    async def _live(self, member: Member) -> None:
        """Hold what should be ours until the member is over, or has left."""
        await member.join()
        renewal = asyncio.get_running_loop().create_task(member.keep_renewing())
        renewal.add_done_callback(lambda _: self._wake.set())
        try:
            while not renewal.done():
                self._wake.clear()
                if member.unheard > RETRY and ambient.monotonic() > self._watched + RETRY:
                    self._watch()
                self._look(member)
                if self._leaving and not self._held and not self._tasks:
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._next_look()):
                        await self._wake.wait()
        finally:
            await _cancelled(renewal)

    # Seeing

    def _watch(self) -> None:
        """Watch the Leases, from the beginning.

        Also when the server takes renewals and none comes back: the connection may be dead without saying so, or the
        watch makes a pause after an outage that a member, which lives by seeing its renewals, can't afford.
        """
        if self._watching is not None:
            self._watching.cancel()
        self._watched = ambient.monotonic()
        self._watching = asyncio.get_running_loop().create_task(self._informer.run())

    def _saw(self, change: Change[Lease]) -> None:
        """Take in what happened to a Lease, before anything else does."""
        name = change.item.meta.name
        found = self._shard_name.fullmatch(name)
        if found is None and self._member_name.fullmatch(name) is None:
            return
        lease = None if change.gone else change.item.decode()
        if lease is not None:
            self._observations[name] = _Observation(lease.metadata.resource_version, ambient.monotonic())
        else:
            self._observations.pop(name, None)
        if found is not None:
            self._saw_shard(int(found[1]), lease)
        elif lease is not None:
            self._members[name] = member_state(lease)
        else:
            self._members.pop(name, None)
        if self._member is not None:
            self._member.look()
        self._wake.set()

    def _saw_shard(self, shard: int, lease: Lease | None) -> None:
        if lease is not None:
            self._leases[shard] = lease
        else:
            self._leases.pop(shard, None)
        if (held := self._held.get(shard)) is not None:
            self._check(held)

    def _check(self, held: HeldShard) -> None:
        """End the holding of a shard if its Lease is not ours any more: it was deleted, or names another."""
        mine = held.lease.metadata
        if not self._informer.has_seen((mine.namespace, mine.name), mine.resource_version):
            return  # what we see is older than what we wrote
        there = self._leases.get(held.shard)
        if there is None or (there.metadata.uid, _holder(there)) != (mine.uid, held.member.name):
            log.warning("lease %s is not ours any more, though we did not give it back", mine.name)
            self._end(held)
        else:
            held.lease = there

    # Acting

    def _look(self, member: Member) -> None:
        """Begin whatever should be done now."""
        holders = {_holder(lease) for lease in self._leases.values()} - {""}
        if not self._leaving:
            self._look_after_others(member, holders)
        assigned = shares(self.count, self._members, self._dead)
        ours = {shard for shard, name in assigned.items() if name == member.name and not self._leaving}
        concern: set[int | str] = {*ours, *self._held, *self._members}
        self._refused = {about: why for about, why in self._refused.items() if about in concern}
        for shard in self._held.keys() - ours:
            self._begin(shard, self._give_back, self._held[shard])
        if stands_by(member.name, self._members, holders, self._dead):
            return
        for shard in ours - self._held.keys():
            if (lease := self._leases.get(shard)) is None:
                self._begin(shard, self._make, shard)
            elif may_take(self._seen(lease), member.name, self._dead):
                self._begin(shard, self._take, member, shard, lease)
        for shard, lease in self._leases.items():
            # We took it without knowing, because the answer got lost, and it should be another's by now.
            unwanted = shard not in ours and shard not in self._held and _holder(lease) == member.name
            if unwanted and may_take(self._seen(lease), member.name, self._dead):
                self._begin(shard, self._release, lease)

    def _look_after_others(self, member: Member, holders: set[str]) -> None:
        """Find out which members are dead, and clear away what they left."""
        known = self._members.keys() | holders
        self._dead &= known
        for name in known - self._dead - {member.name}:
            seen = self._observations.setdefault(name, _Observation("", ambient.monotonic()))
            if self._age(name) >= DURATION:
                self._begin(name, self._ask_after, name, seen)
        for name in (self._dead & self._members.keys()) - holders:
            self._begin(name, self._clear_away, name)

    def _begin(self, about: int | str, work: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        """Do something about a shard or a member, unless something is being done about it."""
        if about in self._tasks:
            return

        def done(task: asyncio.Task[None]) -> None:
            # No look at once: what came of it shows in the Leases, and what came to nothing is tried again two seconds
            # later. While our watch lags, looking at once would do the same again and again.
            del self._tasks[about]
            self._record_outcome(about, None if task.cancelled() else task.exception())
            if self._leaving:
                self._wake.set()

        task = self._tasks[about] = asyncio.get_running_loop().create_task(work(*arguments))
        task.add_done_callback(done)

    def _record_outcome(self, about: int | str, error: BaseException | None) -> None:
        """Take in how something ended; what ends in the same way at each try is said once."""
        if error is None:
            self._refused.pop(about, None)
            return
        what = about if isinstance(about, str) else f"shard {about}"
        if isinstance(error, ClientError):
            why = f"{what}: {error}{remedy(error, self._client.namespace)}"
            if self._refused.get(about) != why:
                log.warning("%s", why)
            self._refused[about] = why
        else:
            log.warning("%s: %s", what, error, exc_info=error)

    async def _ask_after(self, name: str, seen: _Observation) -> None:
        """Ask the server about a member that seems silent. If it has said nothing since we last saw it, it is dead."""
        try:
            lease = await self._client.get(Lease, name)
        except NotFound:
            version = ""
        else:
            version = lease.metadata.resource_version
        if version == seen.version:
            log.info("member %s has been silent for %g s: it is dead", name, DURATION)
            self._dead.add(name)
            self._wake.set()
        elif self._observations.get(name) == seen:
            self._observations[name] = _Observation(version, ambient.monotonic())

    async def _clear_away(self, name: str) -> None:
        with suppress(NotFound):
            await self._client.delete(Lease, name)
        self._members.pop(name, None)

    async def _make(self, shard: int) -> None:
        """Make a shard's Lease, without a holder for now."""
        metadata = ObjectMeta(name=f"{self._operator}-shard-{shard}", namespace=self._client.namespace)
        with suppress(AlreadyExists):
            await self._client.create(Lease(metadata=metadata, spec=_spec("", DURATION, transitions=0)))

    async def _take(self, member: Member, shard: int, lease: Lease) -> None:
        transitions = (lease.spec.lease_transitions or 0) + 1
        claimed = msgspec.structs.replace(lease, spec=_spec(member.name, DURATION, transitions))
        try:
            written = await self._client.replace(claimed)
        except (Conflict, NotFound):
            return  # it has changed, and we will see how
        held = self._held[shard] = HeldShard(shard, member, written, self._working)
        self._check(held)
        if held.leading:
            log.info("%s holds shard %d", member.name, shard)
            self.gained(shard)

    async def _give_back(self, held: HeldShard) -> None:
        await held.close(FINISH_WITHIN)
        self._end(held)
        await self.cleared(held.shard)
        if held.member.alive:
            await self._release(held.lease)
            log.info("%s gave shard %d back", held.member.name, held.shard)

    async def _release(self, lease: Lease) -> None:
        with suppress(Conflict, NotFound):
            spec = _spec("", RELEASED, lease.spec.lease_transitions or 0)
            await self._client.replace(msgspec.structs.replace(lease, spec=spec))

    def _end(self, held: HeldShard) -> None:
        held.end()
        if self._held.get(held.shard) is held:
            del self._held[held.shard]
            self.lost(held.shard)

    # Looking

    def _seen(self, lease: Lease) -> ShardState:
        holder = _holder(lease)
        released = not holder and lease.spec.lease_duration_seconds == RELEASED
        return ShardState(holder, released, self._age(lease.metadata.name))

    def _age(self, name: str) -> float:
        return ambient.monotonic() - self._observations[name].at

    def _next_look(self) -> float:
        """In how many seconds something may be due even if nothing changes."""
        due = (DURATION - self._age(name) for name in self._observations)
        return min([RETRY, *(seconds + MOMENT for seconds in due if seconds > 0)])


def _spec(holder: str, seconds: float, transitions: int) -> LeaseSpec:
    now = MicroTime.of(ambient.now())
    return LeaseSpec(
        holder_identity=holder,
        lease_duration_seconds=int(seconds),
        acquire_time=now,
        renew_time=now,
        lease_transitions=transitions,
    )


def _holder(lease: Lease) -> str:
    return lease.spec.holder_identity or ""


async def _nothing(_shard: int) -> None:
    pass


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
