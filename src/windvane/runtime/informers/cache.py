"""What a controller sees: the objects of one kind as bytes, found by name, by label and by index.

The cache keeps what the server sent, and makes a typed object whenever one is asked for; so what a caller changes is
seen by no other, and memory stays close to the size on the wire.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from windvane.api.envelope import Item
from windvane.api.resource import Object
from windvane.api.selector import Selector

ObjectT = TypeVar("ObjectT", bound=Object)
Key = tuple[str, str]
"""Namespace and name."""


class IndexEntry(NamedTuple):
    """What an index says about an object."""

    values: Iterable[str]
    """What it is found by."""
    kept: Any = None
    """What is kept of it, to be shown instead of the object."""


IndexFunction = Callable[[Item[ObjectT]], IndexEntry]


class Found(NamedTuple, Generic[ObjectT]):
    """An object that an index has found, and what the index keeps of it."""

    item: Item[ObjectT]
    kept: Any


class Change(NamedTuple, Generic[ObjectT]):
    """What happened to one object."""

    item: Item[ObjectT]
    """The object as it is; if it is gone, as it last was."""
    before: Item[ObjectT] | None = None
    """As it was; None if it is new."""
    gone: bool = False
    initial: bool = False
    """Whether it was there before we began to look."""
    merged: bool = False
    """Whether it may be several changes: it was found when everything was read anew."""


class Cache(Generic[ObjectT]):
    """The objects of one kind."""

    def __init__(self) -> None:
        self._items: dict[Key, Item[ObjectT]] = {}
        self._namespaces: dict[str, set[Key]] = {}
        self._indexes: dict[Hashable, _Index[ObjectT]] = {}

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Key) -> Item[ObjectT] | None:
        """The object of that namespace and name."""
        return self._items.get(key)

    def items(self, namespace: str = "", selector: Selector | None = None) -> list[Item[ObjectT]]:
        """The objects of one namespace, or of all, whose labels match; in the order of their keys."""
        keys = self._namespaces.get(namespace, ()) if namespace else self._items
        found = (self._items[key] for key in sorted(keys))
        return [item for item in found if selector is None or selector.matches(item.meta.labels or {})]

    def by(self, index: Hashable, entry: IndexFunction[ObjectT], value: str) -> list[Found[ObjectT]]:
        """The objects of which `entry` says `value`, in the order of their keys.

        The first time that `index` is named, all objects are looked at; from then on, those that change.
        """
        if index not in self._indexes:
            self._indexes[index] = made = _Index(entry)
            for item in self._items.values():
                made.move(None, item)
        known = self._indexes[index]
        return [Found(self._items[key], known.entries[key].kept) for key in sorted(known.keys.get(value, ()))]

    def keys(self, namespace: str = "") -> set[Key]:
        """Where there are objects."""
        return set(self._namespaces.get(namespace, ()) if namespace else self._items)

    def put(self, item: Item[ObjectT]) -> Change[ObjectT] | None:
        """Take in an object as it is now; None if that is how it was."""
        key = item.key  # one for all that keep it
        before = self._items.get(key)
        if before is not None and before.meta.resource_version == item.meta.resource_version:
            return None
        for index in self._indexes.values():
            index.move(before, item)
        self._items[key] = item
        self._namespaces.setdefault(key[0], set()).add(key)
        return Change(item, before)

    def remove(self, key: Key) -> Change[ObjectT] | None:
        """Forget an object that is gone; None if it was not there."""
        before = self._items.pop(key, None)
        if before is None:
            return None
        for index in self._indexes.values():
            index.move(before, None)
        there = self._namespaces[key[0]]
        there.discard(key)
        if not there:
            del self._namespaces[key[0]]
        return Change(before, before, gone=True)

    def swap(self, items: Mapping[Key, Item[ObjectT]], namespace: str = "") -> list[Change[ObjectT]]:
        """Have exactly these in that namespace, or everywhere, from now on: all at once, so that no reader sees half.

        What is not among them was deleted while we did not watch, and that, too, is a change.
        """
        gone = [self.remove(key) for key in sorted(self.keys(namespace) - items.keys())]
        come = [self.put(item) for item in items.values()]
        return [change for change in (*gone, *come) if change is not None]


class _Index(Generic[ObjectT]):
    """Keys by what a function says about their objects."""

    def __init__(self, entry: IndexFunction[ObjectT]) -> None:
        self._entry = entry
        self.entries: dict[Key, IndexEntry] = {}  # kept, not computed again: the function need not be a pure one
        self.keys: dict[str, set[Key]] = {}

    def move(self, before: Item[ObjectT] | None, after: Item[ObjectT] | None) -> None:
        """Put an object where it belongs now."""
        if before is not None:
            for value in self.entries.pop(before.key).values:
                self.keys[value].discard(before.key)
                if not self.keys[value]:
                    del self.keys[value]
        if after is not None:
            values, kept = self._entry(after)
            entry = self.entries[after.key] = IndexEntry(frozenset(values), kept)
            for value in entry.values:
                self.keys.setdefault(value, set()).add(after.key)


def owners(item: Item[ObjectT]) -> IndexEntry:
    """Index function: the uids of the object's owners."""
    return IndexEntry([owner.uid for owner in item.meta.owner_references or ()])
