"""Two ends of a WebSocket in one process: what is sent at one is received at the other."""

import asyncio
from collections.abc import AsyncIterator

WAITING = 16
"""How many messages may wait to be received; then the sender waits, too."""


class _Way:
    """One direction."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.room = asyncio.Semaphore(WAITING)


class MemoryWebSocket:
    """One end. A `windvane.client.transport.WebSocket`."""

    def __init__(self, protocol: str, heard: _Way, said: _Way) -> None:
        self.protocol = protocol
        self._heard = heard
        self._said = said

    async def send(self, message: bytes) -> None:
        """Send a message; waits while the other end is slow to listen."""
        await self._said.room.acquire()
        self._said.messages.put_nowait(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """What the other end sends, until it closes."""
        while (message := await self._heard.messages.get()) is not None:
            self._heard.room.release()
            yield message
        self._heard.messages.put_nowait(None)  # so that a second receiver also sees that it is closed

    def close(self) -> None:
        """Send nothing more; the other end receives what was sent, and then the end."""
        self._said.messages.put_nowait(None)


def paired(protocol: str) -> tuple[MemoryWebSocket, MemoryWebSocket]:
    """Both ends."""
    there, back = _Way(), _Way()
    return MemoryWebSocket(protocol, back, there), MemoryWebSocket(protocol, there, back)
