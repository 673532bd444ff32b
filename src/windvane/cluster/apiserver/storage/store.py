"""The store of the API server: one log of changes, whose record numbers are the resourceVersions.

    commit ──▶ batch ──(end of the loop's turn: one transaction)──▶ file ──▶ memory ──▶ watches, then the writers

No change is visible before it is in the file. Everything after COMMIT happens in one go on the loop's thread, so a
reader never sees half a batch, and a watch that begins between two batches misses nothing and repeats nothing.

Three numbers divide the log:

    1 ............ floor ............ revision ............ next
      forgotten          history              the batch that is being gathered
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from windvane import ambient
from windvane.cluster.apiserver.storage.record import Entry, Key, Record
from windvane.cluster.apiserver.storage.sqlite_log import LogFile, UnusableFile, WriteFailed
from windvane.cluster.apiserver.storage.state import History, Objects, rewind

__all__ = [
    "Entry",
    "Expired",
    "Key",
    "Record",
    "Slow",
    "Stale",
    "Store",
    "UnusableFile",
    "Watch",
    "Write",
    "WriteFailed",
]

HISTORY = 10_000  # records
HISTORY_BYTES = 64 * 1024 * 1024
BUFFER = 10_000  # records; they are shared with the history and among watches
BUFFER_BYTES = 64 * 1024 * 1024
SNAPSHOTS = 8  # paged lists that can be under way before one has to be rebuilt for its next page


class Stale(Exception):
    """The object is not at the revision that the writer expected."""

    def __init__(self, key: Key, expected: int, entry: Entry | None) -> None:
        there = f"at revision {entry.revision}" if entry else "not there"
        wanted = f"at revision {expected}" if expected else "not there"
        super().__init__(f"{key} was expected to be {wanted}, but it is {there}")
        self.entry = entry
        """The current object: committed, or in the batch."""


class Expired(Exception):
    """The revision asked for is before the floor."""

    def __init__(self, revision: int, floor: int) -> None:
        super().__init__(f"revision {revision} is forgotten: the oldest one known is {floor}. List again")
        self.floor = floor


class Slow(Exception):
    """A watch was cut off, because its reader did not keep up with the changes."""


class Write(NamedTuple):
    """A change of one object; see `Store.commit`."""

    key: Key
    expected: int
    make: Callable[[int], bytes]
    delete: bool = False


class Store:
    """All objects of one API server. Belongs to one event loop."""

    def __init__(self, file: LogFile | None, history: History) -> None:
        self._file = file
        self._objects = Objects()
        self._history = history
        self._batch: list[tuple[Record, asyncio.Future[Record]]] = []
        self._ahead: dict[Key, Record] = {}  # the last record in the batch for each key in it
        self._watches: dict[str, dict[Watch, None]] = {}  # by collection; an ordered set, so that runs can be repeated
        self._snapshots: dict[tuple[str, str, int], list[Entry]] = {}  # least recently used first
        self._closed = False

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        history: int = HISTORY,
        history_bytes: int = HISTORY_BYTES,
        fsync: bool = False,
    ) -> "Store":
        """The store in that file, which is made if it is not there; with no path, a store in memory only.

        About the last `history` records stay known, fewer if the states that they replaced take more than
        `history_bytes`. What is committed survives the death of the process; with `fsync` also a power cut.
        """
        file = LogFile.open(path, fsync=fsync) if path else None
        store = cls(file, History(file.floor if file else 0, limit=history, limit_bytes=history_bytes))
        if file:
            try:
                for record in file.read():
                    store._objects.apply(record)
                    if record.revision > file.floor:
                        store._history.add(record)
            except UnusableFile:
                file.close()
                raise
        return store

    @property
    def revision(self) -> int:
        """The number of the last committed record; 0 before the first."""
        return self._history.revision

    @property
    def floor(self) -> int:
        """The oldest revision that a watch may start after, and that `entries_at` can show."""
        return self._history.floor

    @property
    def closed(self) -> bool:
        """Whether nothing can be written or watched any more."""
        return self._closed

    def get(self, key: Key) -> Entry | None:
        """The object under that key, as it is committed."""
        return self._objects.get(key)

    def entries(self, collection: str, namespace: str = "") -> list[Entry]:
        """The objects of a collection, in one namespace or in all, ordered as their keys are."""
        return self._objects.entries(collection, namespace)

    def entries_ahead(self, collection: str) -> list[Entry]:
        """The objects of a collection as they will be when what is being written is committed."""
        if not any(key.collection == collection for key in self._ahead):
            return self.entries(collection)
        there = {entry.key: entry for entry in self.entries(collection)}
        for key, record in self._ahead.items():
            if key.collection == collection:
                there.pop(key, None)
                if not record.deleted:
                    there[key] = Entry(key, record.revision, record.value)
        return list(there.values())

    def entries_at(self, collection: str, namespace: str, revision: int) -> list[Entry]:
        """What `entries` gave when the store was at `revision`. Raises Expired if that is before the floor.

        The next page of a list asks for the same again, so the last few answers are kept.
        """
        if revision < self.floor:
            raise Expired(revision, self.floor)
        if revision > self.revision:
            raise ValueError(f"revision {revision} is not there yet: the store is at {self.revision}")
        snapshot = self._snapshots.pop((collection, namespace, revision), None)
        if snapshot is None:
            snapshot = self._objects.entries(collection, namespace)
            since = self._history.after(collection, revision)
            if undone := [record for record in since if namespace in ("", record.key.namespace)]:
                snapshot = rewind(snapshot, undone)
        self._snapshots[collection, namespace, revision] = snapshot
        if len(self._snapshots) > SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]
        return snapshot.copy()

    def count(self, collection: str, namespace: str = "") -> int:
        """How many objects `entries` has."""
        return self._objects.count(collection, namespace)

    def collections(self) -> set[str]:
        """The collections that have objects."""
        return self._objects.collections()

    def changed(self, collection: str) -> int:
        """The number of the last record of a collection: what was made of its objects is good until that moves."""
        return self._objects.changed(collection)

    async def commit(self, key: Key, expected: int, make: Callable[[int], bytes], *, delete: bool = False) -> Record:
        """Write what `make(revision)` returns under `key`; come back when it can't be lost any more.

        `expected` is the revision that the writer saw, 0 if the object must not be there; otherwise Stale is raised
        and `make` is not called. It also counts what other writers have put into the same batch. For a deletion,
        `make` gives the last state. Raises WriteFailed if the batch can't be written; then none of it has happened.

        A writer that is cancelled while it waits does not take its change back.
        """
        return await self._enter(self._record(Write(key, expected, make, delete), 0))

    async def commit_together(self, writes: Sequence["Write"]) -> list[Record]:
        """Commit several changes, of different objects, as `commit` does one: all of them, or none."""
        records = [self._record(write, place) for place, write in enumerate(writes)]
        return await asyncio.gather(*[self._enter(record) for record in records])

    def watch(self, collection: str, after: int, *, buffer: int = BUFFER) -> "Watch":
        """Every record of the collection that is newer than `after`, first known ones, then new ones as they come.

        Raises Expired if `after` is before the floor. When more than `buffer` new records wait for the reader, it
        gets Slow instead of them: a reader never holds up the writers, nor fills the memory.
        """
        if after < self.floor:
            raise Expired(after, self.floor)
        if self._closed:
            raise ValueError(f"{collection} can't be watched, because the store is closed")
        watch = Watch(self, collection, after, self._history.after(collection, after), buffer)
        self._watches.setdefault(collection, {})[watch] = None
        return watch

    async def compact(self, before: int) -> None:
        """Forget the history before revision `before`, which becomes the floor, in steps that let others work."""
        while (oldest := self._history.up_to(before)) and not self._closed:
            self._write([], oldest)
            await ambient.sleep(0)

    async def close(self) -> None:
        """Write what is in the batch, end all watches, and let go of the file."""
        if self._closed:
            return
        self._flush()
        self._closed = True
        for watch in [watch for watches in self._watches.values() for watch in watches]:
            watch.close()
        if self._file:
            self._file.close()

    def end_watches(self, collection: str) -> None:
        """End the watches of a collection, each after what it still has to tell."""
        for watch in list(self._watches.get(collection, ())):
            watch.end()

    def _record(self, write: "Write", place: int) -> Record:
        """A change as it will be if `place` others come into the batch before it; Stale if it can't be."""
        key = write.key
        if self._closed:
            raise WriteFailed(f"{key} was not written, because the store is closed")
        str(key).encode()  # an invalid name must fail here, and not the whole batch
        there = self._about_to_be(key)
        if (there.revision if there else 0) != write.expected:
            raise Stale(key, write.expected, there)
        if write.delete and not there:
            raise ValueError(f"{key} can't be deleted, because it is not there: expect the revision that is to go")
        revision = self.revision + len(self._batch) + 1 + place
        previous, previous_revision = (there.value, there.revision) if there else (None, 0)
        return Record(revision, key, write.make(revision), write.delete, previous, previous_revision)

    def _enter(self, record: Record) -> asyncio.Future[Record]:
        """Put a change into the batch."""
        loop = asyncio.get_running_loop()
        if not self._batch:
            loop.call_soon(self._flush)
        committed: asyncio.Future[Record] = loop.create_future()
        self._batch.append((record, committed))
        self._ahead[record.key] = record
        return committed

    def _about_to_be(self, key: Key) -> Entry | None:
        """The object as it will be when the batch is committed."""
        if record := self._ahead.get(key):
            return None if record.deleted else Entry(key, record.revision, record.value)
        return self._objects.get(key)

    def _flush(self) -> None:
        """Commit the batch: the file first, then memory, then watches and writers."""
        batch, self._batch, self._ahead = self._batch, [], {}
        if not batch:  # `close` was faster
            return
        records = [record for record, _ in batch]
        try:
            self._write(records, self._history.surplus(records))
        except WriteFailed as error:
            for _, committed in batch:
                if not committed.done():
                    committed.set_exception(WriteFailed(str(error)))
            return
        for record in records:
            for watch in list(self._watches.get(record.key.collection, ())):
                watch._offer(record)
        for record, committed in batch:
            if not committed.done():  # it is, if the writer was cancelled
                committed.set_result(record)

    def _write(self, records: Sequence[Record], forgotten: Sequence[Record]) -> None:
        if self._file:
            self._file.write(records, forgotten)
        self._history.forget(forgotten)
        for record in records:
            self._objects.apply(record)
            self._history.add(record)
        if forgotten:  # a snapshot below the floor would only hold old states in memory
            self._snapshots = {at: kept for at, kept in self._snapshots.items() if at[2] >= self.floor}

    def _end(self, watch: "Watch") -> None:
        watches = self._watches.get(watch.collection, {})
        watches.pop(watch, None)
        if not watches:
            self._watches.pop(watch.collection, None)


class Watch:
    """The records of one collection, one after the other: iterate with `async for`, in one task. `close` it after.

    A reader that is cancelled while it waits has lost nothing; it may iterate on.
    """

    def __init__(self, store: Store, collection: str, after: int, known: Sequence[Record], buffer: int) -> None:
        self.collection = collection
        self._store = store
        self._after = after
        self._waiting = deque(known)
        # What was known at the start is in the history anyway, and does not count as the reader's delay.
        self._room = len(known) + buffer
        self._room_bytes = sum(len(record.value) for record in known) + BUFFER_BYTES
        self._news = asyncio.Event()
        self._slow = False
        self._closed = False

    @property
    def progress(self) -> int:
        """The revision up to which the reader has been given everything, also if none of it was in its collection.

        This is what a bookmark may say, when the task that iterates sends it, after all that it got before.
        """
        if self._waiting:
            return self._waiting[0].revision - 1
        return max(self._store.revision, self._after)

    def __aiter__(self) -> "Watch":
        return self

    async def __anext__(self) -> Record:
        while not (taken := self.take(1)):
            if self._closed:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return taken[0]

    @property
    def closed(self) -> bool:
        """Whether it gets no more records, though some may be unread."""
        return self._closed

    @property
    def ended(self) -> bool:
        """Whether it is closed and all records are read."""
        return self._closed and not self._waiting and not self._slow

    def take(self, most: int) -> list[Record]:
        """The records that have arrived; never waits, so that one task can read many watches."""
        if not self._waiting and self._slow:
            self._slow = False
            raise Slow(f"a watch of {self.collection} was cut off, because its reader did not keep up")
        taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        self._room_bytes += sum(len(record.value) for record in taken)
        return taken

    async def wait(self, seconds: float) -> bool:
        """Whether there is something to take, or the end, within so many seconds."""
        if self._waiting or self._closed:
            return True
        self._news.clear()
        # Not `asyncio.timeout`, which takes longer than all the rest: every watch waits again after every change.
        alarm = asyncio.get_running_loop().call_later(seconds, self._news.set)
        try:
            await self._news.wait()
        finally:
            alarm.cancel()
        return bool(self._waiting) or self._closed

    def close(self) -> None:
        """Stop watching; iteration ends."""
        self._waiting.clear()
        self.end()

    def end(self) -> None:
        """Get no more records; iteration ends after those that have arrived."""
        self._closed = True
        self._store._end(self)
        self._news.set()

    def _offer(self, record: Record) -> None:
        """Take a record that was just committed; called by the store only."""
        if record.revision <= self._after:
            return
        self._waiting.append(record)
        self._room_bytes -= len(record.value)
        if len(self._waiting) > self._room or self._room_bytes < 0:
            self._slow = True
            self.close()
        else:
            self._news.set()
