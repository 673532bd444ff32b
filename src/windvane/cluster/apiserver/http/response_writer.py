"""Writes answers to HTTP connections: whole, in pieces, or as a stream for as long as the client reads."""

import asyncio
import gzip
import logging
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress

from aiohttp import web
from multidict import CIMultiDict

from windvane import ambient
from windvane.cluster.apiserver.answer import Answer, Conversation
from windvane.cluster.apiserver.http.server_websocket import LARGEST_MESSAGE, ServerWebSocket

log = logging.getLogger(__name__)

GZIP_FROM = 128 * 1024
GZIP_LEVEL = 1  # as the real server: on a fast network, more effort costs more time than the bytes that it saves
PIECE = 256 * 1024


class ResponseWriter:
    """Sends the answers of one server. A client that reads nothing for `timeout` seconds is cut off."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._streams: dict[web.RequestHandler, asyncio.Task[None]] = {}  # one for each connection at most
        self._writing: dict[web.RequestHandler, float] = {}  # since when each has waited for its client
        self._closing = False

    def left(self, connection: web.RequestHandler) -> None:
        """The connection was lost."""
        if (stream := self._streams.get(connection)) is not None:
            stream.cancel()

    def end_streams(self) -> None:
        """End all streams, open ones and later ones, as if nothing more were to come."""
        self._closing = True
        for stream in self._streams.values():
            stream.cancel()

    async def send(self, incoming: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        """Send an answer; returns when all of it is on its way."""
        try:
            if answer.conversation is not None:
                return await self._converse(incoming, answer, answer.conversation)
            if answer.stream is not None:
                return await self._send_stream(incoming, answer, answer.stream)
            return await self._send_whole(incoming, answer)
        finally:
            self._writing.pop(incoming.protocol, None)

    async def _send_whole(self, incoming: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        headers = headers_of(incoming, answer)
        body = answer.body
        if len(body) > GZIP_FROM and incoming.method != "HEAD" and _takes_gzip(incoming):
            body = await asyncio.to_thread(gzip.compress, body, GZIP_LEVEL)
            headers["Content-Encoding"] = "gzip"
            headers["Vary"] = "Accept-Encoding"
        if len(body) > PIECE and incoming.method != "HEAD":
            return await self._send_in_pieces(incoming, answer.code, headers, memoryview(body))
        response = web.Response(status=answer.code, body=body, headers=headers)
        if not incoming.content.is_eof():
            response.force_close()  # the rest of a body that was refused is still on its way
        await response.prepare(incoming)
        await response.write_eof()
        return response

    async def _send_in_pieces(
        self, incoming: web.BaseRequest, code: int, headers: CIMultiDict[str], body: memoryview
    ) -> web.StreamResponse:
        """Send a large answer in parts: other requests get their turn, and slow clients are noticed."""
        response = web.StreamResponse(status=code, headers=headers)
        response.content_length = len(body)
        await response.prepare(incoming)
        for start in range(0, len(body), PIECE):
            self._writing[incoming.protocol] = _now()
            await response.write(body[start : start + PIECE])
        await response.write_eof()
        return response

    async def _send_stream(
        self, incoming: web.BaseRequest, answer: Answer, stream: AsyncGenerator[bytes]
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.code, headers=headers_of(incoming, answer))
        try:
            await self._until_left(incoming, self._pump(incoming, response, stream, answer.unhurried))
        finally:
            await stream.aclose()
        if response.prepared and incoming.transport is not None:
            await response.write_eof()
        return response

    async def _converse(
        self, incoming: web.BaseRequest, answer: Answer, conversation: Conversation
    ) -> web.StreamResponse:
        """Hold a conversation on a WebSocket. It waits for a slow client, which is never cut off."""
        response = web.WebSocketResponse(protocols=[answer.protocol], max_msg_size=LARGEST_MESSAGE, compress=False)
        response.headers.update(headers_of(incoming, Answer(content_type="", headers=answer.headers)))
        await self._until_left(incoming, self._talk(incoming, response, conversation))
        return response

    async def _talk(
        self, incoming: web.BaseRequest, response: web.WebSocketResponse, conversation: Conversation
    ) -> None:
        try:
            await response.prepare(incoming)
            await conversation.hold(ServerWebSocket(response))
            await response.close()
        except ConnectionError:
            raise
        except web.HTTPException as refused:
            raise ConnectionError(f"no WebSocket: {refused.text}") from refused
        except Exception:
            log.exception("%s %s: the talk failed: this is a bug in windvane", incoming.method, incoming.raw_path)
            if incoming.transport is not None:
                incoming.transport.abort()

    async def _until_left(self, incoming: web.BaseRequest, work: Coroutine[None, None, None]) -> None:
        """Run `work` until it is done, the client has gone or the server stops."""
        task = asyncio.get_running_loop().create_task(work)
        self._streams[incoming.protocol] = task
        if self._closing or incoming.transport is None:
            task.cancel()
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            del self._streams[incoming.protocol]
            with suppress(asyncio.CancelledError, ConnectionError):
                await task

    async def _pump(
        self, incoming: web.BaseRequest, response: web.StreamResponse, stream: AsyncGenerator[bytes], unhurried: bool
    ) -> None:
        # The head goes out at once: a client that watches waits for it before it waits for changes.
        await response.prepare(incoming)
        if response.headers.get("Transfer-Encoding") is None:
            response.force_close()  # HTTP/1.0: the end of the connection is the end of the answer
        try:
            async for part in stream:
                if not unhurried:
                    self._writing[incoming.protocol] = _now()
                await response.write(part)
                self._writing.pop(incoming.protocol, None)
        except ConnectionError:
            raise
        except Exception:
            log.exception("%s %s: the stream failed: this is a bug in windvane", incoming.method, incoming.raw_path)
            # Without its end, so that the client can't take it for a complete answer.
            if incoming.transport is not None:
                incoming.transport.abort()

    async def cut_slow_readers(self) -> None:
        """Drop connections of clients that do not read: what waits for them takes memory, and more keeps coming."""
        while True:
            await ambient.sleep(self._timeout / 4)
            limit = _now() - self._timeout
            for connection in [each for each, since in self._writing.items() if since < limit]:
                log.info("a connection was cut, because the client does not read: %s", connection.peername)
                if connection.transport is not None:
                    connection.transport.abort()


def headers_of(incoming: web.BaseRequest, answer: Answer) -> CIMultiDict[str]:
    """The headers that an answer goes out with."""
    headers = CIMultiDict(answer.headers)
    if answer.content_type:
        headers["Content-Type"] = answer.content_type
    headers.setdefault("Cache-Control", "no-cache, private")
    # By this id a client can find its request in logs; a proxy may have given it one already.
    headers["Audit-Id"] = incoming.headers.get("Audit-Id") or ambient.uid()
    return headers


def _takes_gzip(incoming: web.BaseRequest) -> bool:
    return any(each.strip() == "gzip" for each in incoming.headers.get("Accept-Encoding", "").split(","))


def _now() -> float:
    return asyncio.get_running_loop().time()
