"""The store's memory: all objects as they are now, and the latest changes, which lead back to how they were.

Nothing here waits, writes files or knows of watches.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile

from windvane.cluster.apiserver.storage.record import Entry, Key, Record

STEP = 256
"""How many old records are dropped at once, at most, beyond the number that is added: about a millisecond of work."""


class Objects:
    """The objects that are there, by collection, namespace and name."""

    def __init__(self) -> None:
        self._by_namespace: dict[
            str, dict[str, _NamespaceObjects]
        ] = {}  # collection -> namespace -> its objects; no empty ones
        self._changed: dict[str, int] = {}  # collection -> the newest record of it

    def get(self, key: Key) -> Entry | None:
        """The object under that key."""
        objects = self._by_namespace.get(key.collection, {}).get(key.namespace)
        return objects.entries.get(key.name) if objects else None

    def entries(self, collection: str, namespace: str) -> list[Entry]:
        """The objects of one namespace, or of all if it is empty, in the order of their keys."""
        namespaces = self._by_namespace.get(collection, {})
        if namespace:
            return namespaces[namespace].in_order() if namespace in namespaces else []
        ordered = sorted(namespaces, key=lambda each: f"{each}/")  # see Key.path
        return [entry for each in ordered for entry in namespaces[each].in_order()]

    def count(self, collection: str, namespace: str) -> int:
        """How many `entries` there are, without making them."""
        namespaces = self._by_namespace.get(collection, {})
        return sum(len(objects.entries) for each, objects in namespaces.items() if namespace in ("", each))

    def collections(self) -> set[str]:
        """The collections that have objects."""
        return set(self._by_namespace)

    def changed(self, collection: str) -> int:
        """The newest record of a collection; 0 if there was none."""
        return self._changed.get(collection, 0)

    def apply(self, record: Record) -> None:
        """Make the change."""
        collection, namespace, name = record.key.collection, record.key.namespace, record.key.name
        self._changed[collection] = record.revision
        namespaces = self._by_namespace.setdefault(collection, {})
        objects = namespaces.setdefault(namespace, _NamespaceObjects())
        if not record.deleted:
            objects.put(Entry(record.key, record.revision, record.value))
            return
        objects.entries.pop(name, None)
        if not objects.entries:
            del namespaces[namespace]
        if not namespaces:
            del self._by_namespace[collection]


class _NamespaceObjects:
    """The objects of one collection in one namespace."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}  # name -> object
        self._ordered = True

    def put(self, entry: Entry) -> None:
        if entry.key.name not in self.entries:
            self._ordered = False
        self.entries[entry.key.name] = entry

    def in_order(self) -> list[Entry]:
        # Sorted by a list, not by each write: a thousand creates cost one sort. Updates and deletes keep a dict's
        # order, and sorting what is nearly sorted takes about as long as reading it.
        if not self._ordered:
            self.entries = dict(sorted(self.entries.items()))
            self._ordered = True
        return list(self.entries.values())


class History:
    """The latest records, without a gap from just above `floor` to the newest."""

    def __init__(self, floor: int, *, limit: int, limit_bytes: int) -> None:
        self.floor = floor
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._records: deque[Record] = deque()
        self._collections: dict[str, deque[Record]] = {}  # the same records again, by collection
        self._bytes = 0

    @property
    def revision(self) -> int:
        """The number of the newest record."""
        return self.floor + len(self._records)

    def add(self, record: Record) -> None:
        """Remember the next record."""
        self._records.append(record)
        self._collections.setdefault(record.key.collection, deque()).append(record)
        self._bytes += _bytes_held(record)

    def after(self, collection: str, revision: int) -> list[Record]:
        """The records of a collection that are newer than `revision`, oldest first."""
        newest_first = reversed(self._collections.get(collection, ()))
        found = list(takewhile(lambda record: record.revision > revision, newest_first))
        found.reverse()
        return found

    def up_to(self, revision: int) -> list[Record]:
        """The oldest records, no newer than `revision`, and no more than one step of them."""
        return list(islice(self._records, max(0, min(revision - self.floor, STEP))))

    def surplus(self, coming: Sequence[Record]) -> list[Record]:
        """The oldest records, as many as must go to make room for those that are `coming`.

        Some more than needed go at once, so that most batches have nothing to forget. Yet never many more than come:
        when there is far too much, say because the limit was lowered, it goes in steps, and no write waits long.
        """
        count = len(self._records) + len(coming) - self._limit
        size = self._bytes + sum(map(_bytes_held, coming)) - self._limit_bytes
        if count <= 0 and size <= 0:
            return []
        count += min(STEP, self._limit // 4)
        going: list[Record] = []
        for record in islice(self._records, len(coming) + STEP):
            if len(going) >= count and size <= 0:
                break
            going.append(record)
            size -= _bytes_held(record)
        return going

    def forget(self, oldest: Sequence[Record]) -> None:
        """Raise the floor above these, which are the oldest."""
        for record in oldest:
            self._records.popleft()
            of_collection = self._collections[record.key.collection]
            of_collection.popleft()
            if not of_collection:
                del self._collections[record.key.collection]
            self._bytes -= _bytes_held(record)
            self.floor = record.revision


def _bytes_held(record: Record) -> int:
    """The memory that is free again once this record is forgotten: states that are not there any more."""
    return len(record.previous or b"") + (len(record.value) if record.deleted else 0)


def rewind(entries: Iterable[Entry], records: Sequence[Record]) -> list[Entry]:
    """The entries as they were before `records`, in the order of their keys."""
    there = {entry.key: entry for entry in entries}
    for record in reversed(records):
        if record.previous is None:
            there.pop(record.key, None)
        else:
            there[record.key] = Entry(record.key, record.previous_revision, record.previous)
    return sorted(there.values(), key=lambda entry: entry.key.path)
