"""A WebSocket that a client has opened, as a stream of binary messages."""

from collections.abc import AsyncIterator

from aiohttp import WSMsgType, web

LARGEST_MESSAGE = 32 * 1024 * 1024
"""As a real server takes."""


class ServerWebSocket:
    """Our end of it. A `windvane.client.transport.WebSocket`."""

    def __init__(self, response: web.WebSocketResponse) -> None:
        self._response = response

    @property
    def protocol(self) -> str:
        return self._response.ws_protocol or ""

    async def send(self, message: bytes) -> None:
        """Send a message; waits while the client is slow to read, `ConnectionError` if it has gone."""
        await self._response.send_bytes(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """What the client sends, until it closes or is gone."""
        async for message in self._response:
            if message.type is WSMsgType.BINARY:
                yield message.data
            elif message.type is WSMsgType.TEXT:
                yield message.data.encode()
