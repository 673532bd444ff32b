"""What the store keeps: objects as bytes, each under a key, and one record for every change.

All three are small and frozen, so that the same record can stand in the history and in a hundred watches at once.
"""

from functools import total_ordering

from msgspec import Struct


@total_ordering
class Key(Struct, frozen=True, gc=False):
    """Where an object is kept. `namespace` is empty for objects that have none."""

    collection: str
    namespace: str
    name: str

    @property
    def path(self) -> tuple[str, str, str]:
        """What keys are ordered by.

        A cluster's own store orders by the text `namespace/name`, where `team-a/...` comes before `team/...`; lists
        come in that order, so ours do too.
        """
        return self.collection, f"{self.namespace}/", self.name

    def __lt__(self, other: "Key") -> bool:
        return self.path < other.path

    def __str__(self) -> str:
        return "/".join(part for part in (self.collection, self.namespace, self.name) if part)


class Entry(Struct, frozen=True, gc=False):
    """An object that is there, as JSON with its resourceVersion in it."""

    key: Key
    revision: int
    value: bytes


class Record(Struct, frozen=True, gc=False):
    """One change: number `revision` of the store's log."""

    revision: int
    key: Key
    value: bytes
    """The object after the change; for a deletion its last state, as the DELETED event shows it."""
    deleted: bool
    previous: bytes | None
    """The object before the change; None if there was none."""
    previous_revision: int
    """The record that wrote `previous`; 0 if there was none."""
