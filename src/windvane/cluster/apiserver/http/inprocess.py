"""The API server by a function call: requests go straight to the handler, without a socket.

All else is as over HTTPS. Errors are answers; a write is finished even if its client is cancelled; a stream is closed
when its client leaves it; and a client that still reads when the transport closes gets `Interrupted`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import replace

import msgspec
from multidict import CIMultiDict

from windvane.api import codec
from windvane.api.status import APIStatus
from windvane.client.errors import ClientError, Interrupted, Unreadable, error_from_status
from windvane.client.transport import Request, WebSocket
from windvane.cluster.apiserver.answer import Answer, Conversation, Handler, User
from windvane.cluster.apiserver.http.filters import enter
from windvane.cluster.apiserver.http.memory_websocket import MemoryWebSocket, paired

log = logging.getLogger(__name__)


class InProcessTransport:
    """Carries requests to a handler in this process, as one user. A `windvane.client.transport.Transport`."""

    def __init__(self, handler: Handler, user: User) -> None:
        self._handler = handler
        self._user = user
        self._tasks: set[asyncio.Task[Answer] | asyncio.Task[None]] = set()  # asyncio itself keeps them weakly
        self._waiting: set[asyncio.Timeout] = set()
        self._closed = False
        # The server runs on the clock of the transport's creator: a client's may be wrong.
        self._context = copy_context()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator["InProcessResponse"]:
        if self._closed:
            raise ClientError("the client for the in-process API server is closed")
        answer = await self._answered(request)
        try:
            yield InProcessResponse(self, request, answer)
        finally:
            if answer.stream is not None:
                await answer.stream.aclose()

    @asynccontextmanager
    async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator[WebSocket]:
        asks = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Protocol": ", ".join(protocols)}
        async with self.open(replace(request, headers={**request.headers, **asks})) as response:
            conversation, protocol = response.conversation
            if conversation is None:
                raise await _refused(request, response)
            ours, theirs = paired(protocol)
            talking = asyncio.get_running_loop().create_task(
                _talk(request, conversation, theirs), context=self._context.copy()
            )
            self._tasks.add(talking)
            talking.add_done_callback(self._tasks.discard)
            try:
                yield ours
            finally:
                talking.cancel()
                await asyncio.gather(talking, return_exceptions=True)

    async def close(self) -> None:
        """End all streams; later requests fail."""
        self._closed = True
        for waiting in self._waiting:
            if not waiting.expired():
                waiting.reschedule(0)  # that is: now

    @asynccontextmanager
    async def deadline(self, request: Request) -> AsyncIterator[None]:
        """A block that ends in `Interrupted` when the request's time is up, or the transport closes."""
        try:
            async with asyncio.timeout(request.timeout) as waiting:
                if self._closed:
                    raise TimeoutError  # it closed while no read was waiting, but nothing more may be read
                self._waiting.add(waiting)
                try:
                    yield
                finally:
                    self._waiting.discard(waiting)
        except TimeoutError:
            why = "the client was closed" if self._closed else f"nothing came for {request.timeout} s"
            raise Interrupted(f"{request}: the answer broke off: {why}") from None

    async def _answered(self, request: Request) -> Answer:
        # In a task of its own: over HTTPS, too, a request does not stop half-way because its client went away.
        sent = replace(request, headers=CIMultiDict(request.headers))
        task = asyncio.get_running_loop().create_task(
            enter(self._handler, sent, self._user), context=self._context.copy()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            async with self.deadline(request):
                return await asyncio.shield(task)
        except BaseException:
            task.add_done_callback(self._drop)
            raise

    def _drop(self, answered: asyncio.Task[Answer]) -> None:
        """Close a stream whose client was cancelled."""
        if not answered.cancelled() and (stream := answered.result().stream) is not None:
            task = asyncio.get_running_loop().create_task(_close(stream))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


class InProcessResponse:
    """An `Answer` as the client's `Response`."""

    def __init__(self, transport: InProcessTransport, request: Request, answer: Answer) -> None:
        self._transport = transport
        self._request = request
        self._answer = answer
        self._headers = CIMultiDict([("Content-Type", answer.content_type), *answer.headers])
        self.code = answer.code

    @property
    def conversation(self) -> tuple[Conversation | None, str]:
        """The conversation to hold on a WebSocket, and its subprotocol."""
        return self._answer.conversation, self._answer.protocol

    def header(self, name: str) -> Sequence[str]:
        """All values of a header."""
        return self._headers.getall(name, ())

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([part async for part in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        stream = self._answer.stream
        if stream is None:
            if self._answer.body and self._request.method != "HEAD":
                yield self._answer.body
            return
        while True:
            try:
                async with self._transport.deadline(self._request):
                    part = await anext(stream)
            except StopAsyncIteration:
                return
            except ClientError:
                raise
            except Exception as error:
                # Over HTTPS the connection breaks: a silent end would look like the end of the stream.
                log.exception("%s: the stream failed: this is a bug in windvane", self._request)
                raise Interrupted(f"{self._request}: the answer broke off: {error}") from error
            yield part


async def _talk(request: Request, conversation: Conversation, socket: MemoryWebSocket) -> None:
    try:
        await conversation.hold(socket)
    except ConnectionError:
        pass  # the client has gone
    except Exception:
        log.exception("%s: the talk failed: this is a bug in windvane", request)
    finally:
        socket.close()


async def _refused(request: Request, response: InProcessResponse) -> Exception:
    """The error that says why there is no WebSocket."""
    body = await response.read()
    try:
        return error_from_status(codec.decode(body, APIStatus))
    except msgspec.DecodeError:
        return Unreadable(f"{request}: no WebSocket was opened, but {response.code} was answered: {body[:200]!r}")


async def _close(stream: AsyncGenerator[bytes]) -> None:
    await stream.aclose()
