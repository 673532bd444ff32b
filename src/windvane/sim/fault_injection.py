"""A transport that injects faults: what a test or a simulation does to the network between a client and its server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from windvane import ambient
from windvane.api import codec
from windvane.api.status import APIStatus
from windvane.client.errors import Interrupted, Unreachable
from windvane.client.transport import Request, Response, Transport, WebSocket


@dataclass
class NetworkFaults:
    """The state of the network. Change it while requests are under way; they feel it at once."""

    down: bool = False
    """Nothing gets through, and open streams have broken."""
    delay: float = 0.0
    """Seconds that each request takes on its way."""
    lag: float = 0.0
    """Seconds by which watches are late."""
    refuse: Callable[[Request], APIStatus | None] = lambda _: None
    """What the server answers instead of doing what was asked; None to let it pass."""
    lose: Callable[[Request], bool] = lambda _: False
    """Whether the answer to a request that the server has carried out is lost on its way back."""
    asked: list[Request] = field(default_factory=list)
    """Every request so far."""
    _streams: set[asyncio.Event] = field(default_factory=set)

    def cut(self) -> None:
        """Break all open streams, once."""
        for stream in self._streams:
            stream.set()

    def fall(self) -> None:
        """Nothing gets through until it `clears`."""
        self.down = True
        self.cut()

    def clear(self) -> None:
        """All is as it should be again."""
        self.down, self.delay, self.lag = False, 0.0, 0.0
        self.refuse, self.lose = lambda _: None, lambda _: False


class FaultyTransport:
    """Carries requests over another transport, with the faults of the network."""

    def __init__(self, transport: Transport, weather: NetworkFaults) -> None:
        self._transport = transport
        self._weather = weather

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        weather = self._weather
        weather.asked.append(request)
        self._check(request)
        if weather.delay:
            await self._travel(request)
            self._check(request)
        if (refusal := weather.refuse(request)) is not None:
            yield _Refusal(refusal)
            return
        broken = asyncio.Event()
        weather._streams.add(broken)
        try:
            async with self._transport.open(request) as response:
                if weather.lose(request):
                    raise Interrupted(f"{request}: the answer was lost")
                yield _Exposed(response, request, broken, weather)
        finally:
            weather._streams.discard(broken)

    def _check(self, request: Request) -> None:
        if self._weather.down:
            raise Unreachable(f"{request}: the network is down")

    async def _travel(self, request: Request) -> None:
        """Be under way, for no longer than the client waits for the answer."""
        try:
            async with asyncio.timeout(request.timeout):
                await ambient.sleep(self._weather.delay)
        except TimeoutError:
            raise Interrupted(f"{request}: no answer within {request.timeout:g} s") from None

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """See `Transport.websocket`. There are no faults in these."""
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


class _Refusal:
    """An answer that no server gave."""

    def __init__(self, status: APIStatus) -> None:
        self._status = status
        self.code = status.code

    def header(self, name: str) -> Sequence[str]:
        seconds = self._status.details.retry_after_seconds if self._status.details is not None else 0
        return [str(seconds)] if seconds and name.lower() == "retry-after" else []

    async def read(self) -> bytes:
        return codec.encode(self._status)

    async def chunks(self) -> AsyncIterator[bytes]:
        yield codec.encode(self._status)


class _Exposed:
    """An answer whose stream can break."""

    def __init__(self, response: Response, request: Request, broken: asyncio.Event, weather: NetworkFaults) -> None:
        self._response = response
        self._request = request
        self._broken = broken
        self._weather = weather

    @property
    def code(self) -> int:
        return self._response.code

    def header(self, name: str) -> Sequence[str]:
        return self._response.header(name)

    async def read(self) -> bytes:
        return b"".join([part async for part in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        parts = aiter(self._response.chunks())
        loop = asyncio.get_running_loop()
        broken = loop.create_task(self._broken.wait())
        try:
            while True:
                part = loop.create_task(_next(parts))
                try:
                    await asyncio.wait({part, broken}, return_when=asyncio.FIRST_COMPLETED)
                    if broken.done():
                        raise Interrupted(f"{self._request}: the connection broke")
                    found = part.result()
                except BaseException:
                    part.cancel()  # or it would go on reading for no reader
                    await asyncio.gather(part, return_exceptions=True)
                    raise
                if found is None:
                    return
                if self._weather.lag and ("watch", "true") in self._request.query:
                    await ambient.sleep(self._weather.lag)
                yield found
        finally:
            broken.cancel()  # also if the reader has seen enough


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    return await anext(parts, None)
