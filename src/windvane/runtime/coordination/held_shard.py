"""The time that one replica holds one shard: passes begin while it is open, and writes go out while it is held.

    open ──close──▶ closing (no pass begins; those under way may finish) ──end──▶ over
      │                                                                           ▲
      └──(its member lapses, or the Lease is not ours any more)───────────────────┘

A tenure that is over stays over. A shard that comes back is a new one: a pass that outlived the old one can't write.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from windvane.client.client import Client
from windvane.k8s.coordination import Lease
from windvane.runtime.coordination.leader_election import DEADLINE, Fence
from windvane.runtime.coordination.membership import Member
from windvane.runtime.coordination.partition import Elsewhere


class HeldShard:
    """One shard in the hands of this replica."""

    def __init__(self, shard: int, member: Member, lease: Lease, client: Client) -> None:
        self.shard = shard
        self.member = member
        self.lease = lease
        """The shard's Lease as it last was, with us as the holder."""
        self._fence = Fence(client.calls.transport, self)
        self._client = Client(self._fence, namespace=client.namespace, field_manager=client.field_manager)
        self._turns: set[asyncio.Timeout] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = self._over = False

    @property
    def leading(self) -> bool:
        """Whether this replica may write for this shard now."""
        return not self._over and self.member.alive

    @property
    def open(self) -> bool:
        """Whether a pass may begin."""
        return not self._closing and self.leading

    @property
    def alone(self) -> float:
        """See `WritePermit.alone`."""
        return self.member.alone

    @property
    def lack(self) -> str:
        """See `WritePermit.lack`."""
        return f"this replica does not hold shard {self.shard} any more"

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Client]:
        """One pass: gives what it may write with. `Elsewhere` if the tenure ends before the pass does."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._turns.add(limit)
                self._idle.clear()
                try:
                    yield self._client
                finally:
                    self._turns.discard(limit)
                    if not self._turns:
                        self._idle.set()
        except TimeoutError:
            if limit.expired():
                raise Elsewhere(f"shard {self.shard} was lost in the middle of a pass") from None
            raise

    async def close(self, within: float) -> None:
        """Begin no more passes, and let those under way finish within so many seconds; then it is over."""
        self._closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._idle.wait()
        self._over = True
        # A write that is cancelled may still arrive, and the next holder would have begun by then.
        with suppress(TimeoutError):
            async with asyncio.timeout(DEADLINE):
                await self._fence.quiet()
        self.end()

    def end(self) -> None:
        """It is over at once: whatever is under way is cancelled, and writes nothing more."""
        self._closing = self._over = True
        for turn in self._turns:
            if not turn.expired():
                turn.reschedule(0)  # that is: now
