"""Real servers on loopback: an API server whose handler the test writes, over TLS, and a proxy that tunnels to it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from tempfile import NamedTemporaryFile

from aiohttp import web

from talking import talking
from unit.client.certificates import Pair
from windvane.http_server import HTTPServer

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    """A running server and what was asked of it."""

    port: int
    scheme: str
    requests: list[web.BaseRequest] = field(default_factory=list)
    peers: list[object] = field(default_factory=list)
    """For each request, the common name in the client's certificate; None without one."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{self.scheme}://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving(handler: Handler, pair: Pair | None, *, client_ca: bytes | None = None) -> AsyncIterator[Server]:
    """Answer requests with `handler`, over TLS if there is a certificate; `client_ca` asks clients for one too."""

    async def record(request: web.BaseRequest) -> web.StreamResponse:
        server.requests.append(request)
        server.peers.append(_common_name(request))
        return await handler(request)

    answering = HTTPServer(record, handler_cancellation=True)
    runner = web.ServerRunner(answering, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_context(pair, client_ca) if pair else None).start()
    server = Server(runner.addresses[0][1], "https" if pair else "http")
    try:
        yield server
    finally:
        # Over TLS, a goodbye may be answered when the event loop is gone: no connection is to be left. Before aiohttp
        # closes them: what has been closed twice can't be dropped any more.
        answering.drop_all()
        await answering.all_closed()
        await runner.cleanup()


def _context(pair: Pair, client_ca: bytes | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with NamedTemporaryFile() as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        context.load_cert_chain(file.name)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=client_ca.decode())
    return context


def _common_name(request: web.BaseRequest) -> object:
    certificate = request.get_extra_info("peercert")
    if not certificate:
        return None
    return next(value for ((key, value),) in certificate["subject"] if key == "commonName")


@dataclass
class Proxy:
    """A running proxy and the heads of the requests that it got."""

    port: int = 0
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def proxying(target: Server, *, answer: str = "200 Connection established") -> AsyncIterator[Proxy]:
    """Answer CONNECT, and if that is a success, tunnel to `target` whatever was asked for."""
    proxy = Proxy()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        proxy.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(f"HTTP/1.1 {answer}\r\n\r\n".encode())
        if not answer.startswith("200"):
            writer.close()
            return
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", target.port)
        await asyncio.gather(pump(reader, upstream_writer), pump(upstream_reader, writer))

    tunnels: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(tunnel(reader, writer))
        tunnels.add(task)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        await asyncio.gather(*tunnels)
        await listener.wait_closed()


@asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """The port of a server that takes connections and then says nothing."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with talking(listen) as port:
        yield port
