"""Which member should work on which keys: keys belong to shards, and shards to members, computed the same everywhere.

    key ──(hash)──▶ shard ──(highest weight, none overloaded)──▶ member

When a member comes or goes, about its own part of the shards moves, and the rest stays where it is. Nothing here asks
whether a member may begin: that is for the Leases in `shards`.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from windvane.runtime.coordination.leader_election import DURATION
from windvane.runtime.informers.cache import Key


@dataclass(frozen=True)
class MemberState:
    """What a member says of itself."""

    identity: str
    """What its share is computed from; empty if it wants none, because it comes just now or leaves."""
    shards: int
    """How many shards it believes that there are."""
    joined: int | None
    """Its place in the order of all who ever joined; None if it has not said yet."""


@dataclass(frozen=True)
class ShardState:
    """A shard's Lease as we see it."""

    holder: str
    """The member that holds it; empty if none does."""
    released: bool
    """Whether its last holder gave it back. A Lease that is empty for another reason may have been emptied by hand."""
    age: float
    """For how many seconds we have seen it so."""


def shard_of(resource: str, key: Key, shards: int) -> int:
    """The shard of an object. Python's own `hash` would not do: each process has another one."""
    return int.from_bytes(_digest(resource, *key)) % shards


@lru_cache(maxsize=4)  # it is asked for with every renewal of any member, and hardly ever changes
def assignment(shards: int, members: frozenset[tuple[str, str]]) -> Mapping[int, str]:
    """Which member, of these names and identities, should have which shard.

    Each pair of a shard and an identity has a weight. The heaviest pairs come together first, and a member that has its
    part of the shards gets no more: plain highest-weight hashing would give one of three members half of sixteen
    shards.
    """
    if not members:
        return {}
    part = -(-shards // len(members))
    pairs = ((_digest(str(shard), identity), name, shard) for shard in range(shards) for name, identity in members)
    assigned: dict[int, str] = {}
    loads = {name: 0 for name, _ in members}
    for _, name, shard in sorted(pairs, reverse=True):
        if shard not in assigned and loads[name] < part:
            assigned[shard] = name
            loads[name] += 1
    return assigned


def shares(shards: int, members: Mapping[str, MemberState], dead: Collection[str]) -> Mapping[int, str]:
    """Which of the members that live, and count the shards as we do, should have which shard."""
    wanting = (
        (name, member.identity)
        for name, member in members.items()
        if member.identity and member.shards == shards and name not in dead
    )
    return assignment(shards, frozenset(wanting))


def stands_by(me: str, members: Mapping[str, MemberState], holders: Iterable[str], dead: Collection[str]) -> bool:
    """Whether `me` must not take any shard, because a member that counts them differently may hold some.

    With another number of shards the same key is in another shard, and its Lease would keep no other away. So those
    that came first go on, and one that comes with another number waits until all of them have gone.
    """
    mine = members.get(me)
    if mine is None or mine.joined is None:
        return True
    if any(holder and holder not in members and holder not in dead for holder in holders):
        return True  # its own Lease was deleted, and it may not know yet
    return any(
        other.shards != mine.shards and (other.joined is None or other.joined < mine.joined)
        for name, other in members.items()
        if name not in dead
    )


def may_take(shard: ShardState, me: str, dead: Collection[str]) -> bool:
    """Whether no other member can hold a shard that is, in its Lease's present version, as we see it.

    Each reason stays true for as long as the Lease has that version; so there is no hurry between this and the write,
    which is refused if the version has changed.
    """
    if shard.released or shard.holder in dead:
        return True
    # It is not known which client emptied it, or wrote our name there. The last holder has noticed by now, or is fenced
    # off.
    return shard.holder in ("", me) and shard.age >= DURATION


def _digest(*words: str) -> bytes:
    return hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
