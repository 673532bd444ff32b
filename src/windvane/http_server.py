"""What the HTTP servers here have in common: they know their connections, and when they end, none is left.

The API server, an operator's webhook server and its health port are such servers. Limits, timeouts and the words of
errors are their own.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ssl import SSLContext
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

BACKLOG = 128


class HTTPServer(web.Server):
    """aiohttp's server, which knows the connections that are open."""

    def __init__(
        self,
        answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        *,
        connection: Callable[..., web.RequestHandler] = web.RequestHandler,
        handler_cancellation: bool = False,
        **options: Any,
    ) -> None:
        """`connection` makes what speaks HTTP on a connection; `options` are aiohttp's for it."""
        super().__init__(answer, handler_cancellation=handler_cancellation)
        self._connection = connection
        self._options = options
        self.open: dict[web.RequestHandler, asyncio.Transport] = {}
        self._one_closed = asyncio.Event()

    def __call__(self) -> web.RequestHandler:
        return self._connection(self, loop=asyncio.get_running_loop(), access_log=None, **self._options)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """A connection is open."""
        super().connection_made(handler, transport)
        self.open[handler] = transport

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """A connection has ended, at whichever end."""
        super().connection_lost(handler, exc)
        self.open.pop(handler, None)
        self._one_closed.set()

    def drop_all(self) -> None:
        """Drop all connections, and with them what is being answered.

        Dropped, not closed: asyncio never closes one that has ended at the other end while nothing read from it, as is
        the case if a client has asked many things at once and gone.
        """
        for transport in self.open.values():
            transport.abort()

    async def all_closed(self) -> None:
        """Wait until no connection is left: each takes a moment to say goodbye, and the event loop may close next."""
        while self.open:
            self._one_closed.clear()
            await self._one_closed.wait()


@asynccontextmanager
async def listen(
    server: HTTPServer, host: str, port: int, *, shutdown: float, tls: SSLContext | None = None, backlog: int = BACKLOG
) -> AsyncIterator[int]:
    """Listen for the length of the block, at the port that this gives: a free one if 0 was asked for.

    `shutdown` is how many seconds requests that are under way then have to end, and clients to hang up. `OSError` if
    the port is taken.
    """
    listener = await asyncio.get_running_loop().create_server(
        server, host, port, ssl=tls, ssl_shutdown_timeout=shutdown if tls else None, backlog=backlog
    )
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        server.pre_shutdown()  # idle connections close; on the others, nothing new is heard
        await server.shutdown(shutdown)
        with suppress(TimeoutError):
            async with asyncio.timeout(shutdown):
                await server.all_closed()
        server.drop_all()  # a client that does not read what was sent would keep its connection for ever
        await server.all_closed()


class BodyError(Exception):
    """A request has no body that could be read; `code` is what HTTP calls that."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


@asynccontextmanager
async def body_within(seconds: float) -> AsyncIterator[None]:
    """Read a body in this block, or it is a `BodyError`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise BodyError(408, f"the body did not arrive within {seconds:g} s") from None
    except web.RequestPayloadError as error:
        raise BodyError(400, f"the body is not what its headers say: {error}") from None


def protocol_log(server: str) -> logging.Logger:
    """The log for what aiohttp says about a server, without the mistakes of clients.

    aiohttp logs a traceback also for each request that is no HTTP, and for each client that leaves without its answer.
    """
    log = logging.getLogger(f"{server}.protocol")
    log.addFilter(_is_of_the_server)
    return log


def _is_of_the_server(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | ConnectionError)
