"""A transport that counts: how many requests of which kind were answered how."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from windvane.client.errors import APIError, ClientError
from windvane.client.transport import Request, Response, Transport, WebSocket


class MeasuredTransport:
    """Carries requests over another transport, and counts them by method and code."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.counts: Counter[tuple[str, str]] = Counter()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        try:
            async with self._transport.open(request) as response:
                self.counts[request.method, str(response.code)] += 1
                yield response
        except APIError:
            raise
        except ClientError as error:
            self.counts[request.method, f"<{type(error).__name__}>"] += 1
            raise

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """See `Transport.websocket`."""
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()
