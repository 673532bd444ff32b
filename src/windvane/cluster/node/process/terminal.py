"""A terminal for a program: one end is its stdin, stdout and stderr; at the other, ours, one types and reads."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from typing import Self

PIECE = 64 * 1024
VARIABLES = {"TERM": "xterm"}
"""What a program is told of its terminal."""


class Terminal:
    """Both ends. As a block, it lets go of the program's end after that was passed on, and of ours if that failed."""

    def __init__(self, uid: int | None) -> None:
        self._ours, self.theirs = pty.openpty()
        os.set_blocking(self._ours, False)
        if uid is not None:
            os.fchown(self.theirs, uid, -1)
        self._closed = False
        self._typing = asyncio.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        os.close(self.theirs)
        if kind is not None:
            self.close()

    async def write(self, data: bytes) -> None:
        """Type; what is not read any more is dropped."""
        async with self._typing:  # several may have attached to it
            while data and not self._closed:
                try:
                    data = data[os.write(self._ours, data) :]
                except BlockingIOError:
                    await self._ready(writing=True)
                except OSError:
                    return  # no process has the other end open any more

    def resize(self, width: int, height: int) -> None:
        """Change its size."""
        if not self._closed and 0 < width < 65536 and 0 < height < 65536:
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    async def read(self) -> bytes:
        """What comes to be on the screen; nothing when the program has gone."""
        while not self._closed:
            try:
                return os.read(self._ours, PIECE)
            except BlockingIOError:
                await self._ready(writing=False)
            except OSError:
                break  # how Linux says that the other end is closed
        return b""

    def close(self) -> None:
        """Let go of our end, at which a process that still has the other one open gets SIGHUP."""
        if not self._closed:
            self._closed = True
            os.close(self._ours)

    async def _ready(self, *, writing: bool) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        add, remove = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
        add(self._ours, ready.set)
        try:
            await ready.wait()
        finally:
            remove(self._ours)
