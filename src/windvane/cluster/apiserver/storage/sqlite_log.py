"""The store's log in a SQLite file, so that a killed process loses nothing that it has confirmed.

The file has one row per record that is still needed. Reading the rows in order restores everything: the objects, the
history, and the next number.

What survives what: SQLite appends a transaction to its write-ahead log (WAL) with ordinary writes, and COMMIT returns
when the operating system has them. It keeps them if the process dies, at whatever moment; when the file is opened
again, SQLite takes up the transactions whose final frame is there and whose checksums match, and drops the rest. So no
fsync is needed against kill -9. `synchronous=NORMAL` is one more than that needs: it syncs whenever the WAL is copied
back into the file (every thousand pages), so that a power cut can take the last transactions but not the file. With
`fsync=True` every COMMIT syncs, and a power cut takes nothing, at the price of the disk's time for each batch.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from windvane.cluster.apiserver.storage.record import Key, Record

APPLICATION = 0x77_76_6E_65  # "wvne", in the header of every file of ours
FORMAT = 1

SCHEMA = """
CREATE TABLE record (
    revision INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    deleted INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE TABLE compaction (floor INTEGER NOT NULL);
INSERT INTO compaction VALUES (0);
"""


class UnusableFile(Exception):
    """The store's file can't be opened; the message says why, and what to do."""


class WriteFailed(Exception):
    """A change could not be written, and was not made."""


class LogFile:
    """The open file. No other process can open it until it is closed, or its process has gone."""

    def __init__(self, path: Path, connection: sqlite3.Connection, floor: int) -> None:
        self.path = path
        self.floor = floor
        self._connection = connection

    @classmethod
    def open(cls, path: Path, *, fsync: bool) -> "LogFile":
        """Open the file, or make it."""
        try:
            path.touch(mode=0o600)  # there are Secrets in it; SQLite gives its other files the same mode
        except OSError as error:
            raise UnusableFile(
                f"can't open the store {path}: {error.strerror}. Is the data directory right?"
            ) from error
        with _explained(path), ExitStack() as undo:
            # timeout=0: another process holds the file as long as it runs, so there is no use in waiting.
            connection = sqlite3.connect(path, timeout=0, isolation_level=None)
            undo.callback(connection.close)
            _configure(connection, fsync=fsync)
            file = cls(path, connection, _prepare(connection, path))
            undo.pop_all()
        return file

    def read(self) -> Iterator[Record]:
        """All records in order, those up to the floor without what was there before."""
        there: dict[Key, Record] = {}
        newest = self.floor
        with _explained(self.path), closing(self._connection.cursor()) as rows:
            rows.execute("SELECT revision, collection, namespace, name, value, deleted FROM record ORDER BY revision")
            for revision, collection, namespace, name, value, deleted in rows:
                key = Key(collection, namespace, name)
                before = there.pop(key, None)
                if revision > self.floor:
                    newest += 1
                    if revision != newest:
                        raise UnusableFile(_damaged(self.path, f"record {newest} is missing"))
                record = Record(
                    revision,
                    key,
                    value,
                    bool(deleted),
                    before.value if before else None,
                    before.revision if before else 0,
                )
                if not deleted:
                    there[key] = record
                yield record

    def write(self, records: Iterable[Record], forgotten: Sequence[Record]) -> None:
        """Append `records`, and raise the floor above `forgotten`: both, or neither."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT INTO record (revision, collection, namespace, name, deleted, value) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (each.revision, each.key.collection, each.key.namespace, each.key.name, each.deleted, each.value)
                    for each in records
                ],
            )
            if forgotten:
                rows = [(revision,) for revision in _superseded(forgotten)]
                self._connection.executemany("DELETE FROM record WHERE revision = ?", rows)
                self._connection.execute("UPDATE compaction SET floor = ?", (forgotten[-1].revision,))
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:  # SQLite has rolled back some failures by itself
                self._connection.execute("ROLLBACK")
            raise WriteFailed(
                f"nothing was changed, because the store {self.path} can't be written: {error}"
            ) from error

    def close(self) -> None:
        """Copy the write-ahead log into the file, and unlock it."""
        self._connection.close()


def _superseded(forgotten: Iterable[Record]) -> Iterator[int]:
    """The rows that are not needed once these records are below the floor."""
    for record in forgotten:
        if record.previous_revision:
            yield record.previous_revision
        if record.deleted:
            yield record.revision


def _configure(connection: sqlite3.Connection, *, fsync: bool) -> None:
    # Exclusive: the lock is SQLite's own, it holds from the first write on, and the system drops it when we die.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
    connection.execute(f"PRAGMA fullfsync = {int(fsync)}")  # on macOS an fsync alone stops at the drive's own memory


def _prepare(connection: sqlite3.Connection, path: Path) -> int:
    """Check that the file is ours, or make it so; its floor."""
    connection.execute("BEGIN IMMEDIATE")
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    if application == 0 and _number(connection, "SELECT count(*) FROM sqlite_master") == 0:
        for statement in SCHEMA.strip().split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    elif application != APPLICATION:
        raise UnusableFile(f"{path} is a database of another program: give the cluster another data directory")
    elif version > FORMAT:
        raise UnusableFile(
            f"the store {path} was written by a newer windvane: it has format {version}, and this windvane reads "
            f"formats up to {FORMAT}. Upgrade windvane, or start with another data directory"
        )
    connection.execute("COMMIT")
    return _number(connection, "SELECT floor FROM compaction")


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Translate SQLite's errors for users who start a cluster."""
    try:
        yield
    except sqlite3.Error as error:
        match getattr(error, "sqlite_errorcode", None):
            case sqlite3.SQLITE_BUSY:
                problem = (
                    f"the store {path} is in use by another process: stop the cluster that runs there "
                    "(`windvane cluster stop`), or give this one another data directory"
                )
            case sqlite3.SQLITE_NOTADB:
                problem = f"{path} is not a store: give the cluster another data directory, or move the file away"
            case sqlite3.SQLITE_CORRUPT:
                problem = _damaged(path, str(error))
            case _:
                problem = f"can't open the store {path}: {error}. Is the disk full, or the data directory read-only?"
        raise UnusableFile(problem) from error


def _damaged(path: Path, how: str) -> str:
    return f"the store {path} is damaged: {how}. Put back a copy, or start with another data directory"
