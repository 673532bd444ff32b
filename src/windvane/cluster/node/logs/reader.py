"""Reading what a container said, from the files that `writer` writes: some of it, or on and on as more is said."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from windvane import ambient
from windvane.cluster.kubelet import LogOptions
from windvane.cluster.node.logs.writer import log_files

CHUNK = 256 * 1024
POLL = 0.1
"""How many seconds pass between two looks at a file that is followed."""


async def read_log(file: Path, options: LogOptions, is_over: Callable[[], bool]) -> AsyncGenerator[bytes]:
    """What the log in `file`, and in the parts that it was cut into, says; followed until `is_over`."""
    reading, following = LogReader(options), _Following(file)
    try:
        await asyncio.to_thread(following.begin, options.tail)
        while not reading.full:
            over = not options.follow or is_over()  # before we read: what was said until then is in the file
            chunk = await asyncio.to_thread(following.more)
            if said := reading.take(chunk):
                yield said
            if not chunk:
                if over:
                    return
                await ambient.sleep(POLL)
    finally:
        following.close()


class LogReader:
    """Turns what is in a log's file into what was asked for."""

    def __init__(self, options: LogOptions) -> None:
        self._options = options
        self._since = options.since.strftime("%Y-%m-%dT%H:%M:%S.%f000Z").encode() if options.since else b""
        self._streams = {each.encode() for each in options.streams}
        self._rest = b""
        self._within: set[bytes] = set()
        self._left = options.limit

    @property
    def full(self) -> bool:
        """Whether no more is wanted."""
        return self._left == 0

    def take(self, chunk: bytes) -> bytes:
        """What to show of a piece of the file. The end of it may be the beginning of a line."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        said = b"".join(self._shown(lines))
        if self._left is not None:
            said = said[: self._left]
            self._left -= len(said)
        return said

    def _shown(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            parts = line.split(b" ", 3)
            if len(parts) < 4:
                continue  # a line that was torn when the machine went down
            time, stream, tag, text = parts
            if stream not in self._streams or time < self._since:
                continue
            if self._options.timestamps and stream not in self._within:
                yield time + b" "
            yield text
            if tag == b"F":
                self._within.discard(stream)
                yield b"\n"
            else:
                self._within.add(stream)


class _Following:
    """The parts of a log, one after the other, also those that come to be while it is read.

    It is read in threads, which go on when the caller is cancelled: the last to go lets go of the file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open: BinaryIO | None = None
        self._reading = Lock()
        self._over = False

    def begin(self, tail: int | None) -> None:
        """From the beginning, or from so many lines before the end."""
        with self._turn():
            self._begin(tail)

    def more(self) -> bytes:
        """What comes next; nothing, if nothing does yet."""
        with self._turn():
            return self._more()

    def close(self) -> None:
        """Let go of the file, or have the thread do it that reads it, which is not waited for."""
        self._over = True
        self._let_go()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        try:
            with self._reading:
                yield
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._over and self._reading.acquire(blocking=False):  # else the thread that has it comes here afterwards
            try:
                self._next([])
            finally:
                self._reading.release()

    def _begin(self, tail: int | None) -> None:
        parts = log_files(self._file)
        if tail is None:
            self._next(parts[:1])
            return
        for number in range(len(parts) - 1, -1, -1):
            self._next(parts[number : number + 1])
            if self._open is not None:
                tail -= seek_tail(self._open, tail)
            if tail <= 0:
                break

    def _more(self) -> bytes:
        if self._open is None:
            self._next(log_files(self._file)[:1])
        while self._open is not None:
            # Where it is now comes before we read it: what was said before it was cut is then seen to its end.
            later = self._later()
            if (chunk := self._open.read(CHUNK)) or not later:
                return chunk
            self._next(later)
        return b""

    def _later(self) -> list[Path]:
        """The parts that come after the one that is read."""
        if self._open is None:
            return []
        mine = os.fstat(self._open.fileno())
        parts = log_files(self._file)
        for number, part in enumerate(parts):
            with suppress(FileNotFoundError):
                if os.path.samestat(part.stat(), mine):
                    return parts[number + 1 :]
        return parts  # ours is so old that it was removed

    def _next(self, parts: list[Path]) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
        for part in parts:
            with suppress(FileNotFoundError):
                self._open = part.open("rb")
                return


def seek_tail(file: BinaryIO, lines: int) -> int:
    """Go to where the last so many lines of a file begin; how many there are, which may be fewer."""
    position = file.seek(0, 2)
    found = 0
    while position > 0:
        start = max(position - CHUNK, 0)
        file.seek(start)
        block = file.read(position - start)
        at = len(block)
        while (at := block.rfind(b"\n", 0, at)) >= 0:
            if found == lines:
                file.seek(start + at + 1)
                return found
            found += 1
        position = start
    file.seek(0)
    return found
