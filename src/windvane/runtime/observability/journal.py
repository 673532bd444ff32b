"""The history of an operator in a file: each pass a line of JSON, so that it is still known after a restart.

`windvane why` and `windvane dev` read it. It is bounded: when the file is full, it becomes FILE.1, and what was that is
gone. Several replicas may write into one file, since each write is of whole lines.
"""

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncGenerator, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from windvane import ambient
from windvane.runtime.observability.history import Deletion, Pass

log = logging.getLogger(__name__)

MOST = 4 * 1024 * 1024
"""How large a file becomes, in bytes; there are two at most."""
CLOSED = -1
SOON = 0.05
"""Within so many seconds a line is written: what is noted in between is written with it."""
BATCH = 100
"""So many lines don't wait."""
POLL = 0.1
"""How long a reader that has read everything waits, in seconds, before it looks again."""


class JournalEntry(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """A line: a pass that has ended; what was deleted; or that the operator has begun or ended its work."""

    operator: str
    """Its name."""
    run: str
    """A word that this process of the operator has written into all its lines."""
    at: datetime
    started: bool = False
    stopped: bool = False
    """Missing if it was killed."""
    done: Pass | None = msgspec.field(default=None, name="pass")
    deletion: Deletion | None = None
    """What another client deleted, in the history of an embedded cluster."""


_decoder = msgspec.json.Decoder(JournalEntry)
_encoder = msgspec.json.Encoder()


class Journal:
    """Writes what an operator does, from when it is made until `close`."""

    def __init__(self, path: Path, operator: str, *, most: int = MOST) -> None:
        """OSError if nothing can be written there."""
        self._path = path
        self._operator = operator
        self._most = most
        self._run = ambient.token(8)
        self._failed = False
        self._pending: list[JournalEntry] = []
        self._timer: asyncio.TimerHandle | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(_lock(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_SH)  # the system lets go of it also if we are killed
        self._file = self._open()
        self._write(started=True)

    def write(self, done: Pass, *, operator: str = "") -> None:
        """Note a pass, of another operator if one is named. One that found all right at the start is no news."""
        at_start = all(each.initial for each in done.triggers)
        if not (at_start and done.result == "done" and not done.writes and done.again is None):
            self._write(done=done, operator=operator)

    def write_deletion(self, deletion: Deletion) -> None:
        """Note what a client deleted."""
        self._write(deletion=deletion)

    def close(self) -> None:
        """Note that the operator has stopped."""
        self._write(stopped=True)
        self.flush()
        os.close(self._file)
        os.close(self._lock)
        self._file = CLOSED

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def _write(
        self,
        *,
        started: bool = False,
        stopped: bool = False,
        done: Pass | None = None,
        deletion: Deletion | None = None,
        operator: str = "",
    ) -> None:
        if self._file == CLOSED:  # a pass that was cancelled, and ended later than all else
            return
        self._pending.append(
            JournalEntry(operator or self._operator, self._run, ambient.now(), started, stopped, done, deletion)
        )
        if self._timer is None and not (started or stopped) and (loop := _loop()) is not None:
            self._timer = loop.call_later(SOON, self.flush)
        if self._timer is None or len(self._pending) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write now what was noted lately. It is done together: by itself, each line costs several times as much."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending, self._pending = self._pending, []
        if not pending or self._file == CLOSED:
            return
        try:
            lines = _encoder.encode_lines(pending)
            size = os.fstat(self._file).st_size
            if size and size + len(lines) > self._most:
                self._turn_over()
            os.write(self._file, lines)
        except OSError as error:  # a disk that is full must not keep the operator from its work
            if not self._failed:
                log.warning("the history can't be written to %s: %s", self._path, error.strerror or error)
            self._failed = True
        else:
            self._failed = False

    def _turn_over(self) -> None:
        """Begin a new file, unless another replica has done so already."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            if _inode(self._path) == os.fstat(self._file).st_ino:
                self._path.rename(_older(self._path))
            new = self._open()
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        os.close(self._file)
        self._file = new


def read_journal(path: Path) -> list[JournalEntry]:
    """What is in a journal, oldest first; nothing if there is none. A line that can't be read is passed over."""
    return [entry for file in (_older(path), path) for entry in _entries(_content(file).splitlines())]


def is_written(path: Path) -> bool | None:
    """Whether a process has this journal open, to write into it: its operator runs. None: it was written elsewhere."""
    try:
        lock = os.open(_lock(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


async def follow_journal(path: Path) -> AsyncGenerator[JournalEntry, None]:
    """What is in a journal, oldest first, and then each entry as it is written; the journal may be yet to come."""
    for entry in _entries(_content(_older(path)).splitlines()):
        yield entry
    inode, position = 0, 0
    while True:
        found = _inode(path)
        if inode not in (0, found):  # it was turned over: the rest of what we were reading is in the older one now
            if _inode(_older(path)) == inode:
                for entry in _entries(_content(_older(path), position).splitlines()):
                    yield entry
            position = 0
        inode = found
        content = _content(path, position) if inode else b""
        whole = content.rfind(b"\n") + 1  # the line after that is still being written
        position += whole
        for entry in _entries(content[:whole].splitlines()):
            yield entry
        if not whole:
            await ambient.sleep(POLL)


def _entries(lines: list[bytes]) -> Iterator[JournalEntry]:
    for line in lines:
        try:
            yield _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):  # the last words of an operator that was killed
            continue


def _content(path: Path, position: int = 0) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(position)
            return file.read()
    except OSError:
        return b""


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _lock(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")
