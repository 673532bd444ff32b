"""The narrow door between the client and a server: one way to ask, one way to open a WebSocket.

The client's verbs know nothing of sockets. `HTTPTransport` carries requests over HTTPS; the embedded API
server carries them by function call, in the same process, through the same protocol.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of an API server."""

    method: str
    path: str
    """Already escaped; without the query."""
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout: float | None = 60.0
    """How long the answer, or the next part of a streamed one, may take in seconds; None for no limit."""

    wait_if_asked: bool = True
    """Whether "not now, but in ten seconds" is for the client to follow or for the caller to know."""

    guard: Callable[[], None] | None = field(default=None, compare=False, repr=False)
    """Called just before the body is sent. If it raises a `ClientError`, the server never acts on the request."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Response(Protocol):
    """What is answered. The head is there; the body is read whole or in parts, not both."""

    @property
    def code(self) -> int: ...

    def header(self, name: str) -> Sequence[str]:
        """All values of a header, whose name is matched without regard to case."""
        ...

    async def read(self) -> bytes:
        """The whole body."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives. `Interrupted` if it ends before it is complete."""
        ...


class WebSocket(Protocol):
    """Binary messages in both directions, for exec and port-forward."""

    @property
    def protocol(self) -> str:
        """The subprotocol that the server chose."""
        ...

    async def send(self, message: bytes) -> None: ...

    def messages(self) -> AsyncIterator[bytes]:
        """What the server sends, until it closes."""
        ...


class Transport(Protocol):
    """Carries requests to one API server."""

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Send `request` and wait for the head of its answer, whatever its code.

        Raises `Unreachable` if nothing was sent, and `Interrupted` if the connection broke after that.
        """
        ...

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """Open a WebSocket that speaks one of `protocols`; `APIError` if the server refuses."""
        ...

    async def close(self) -> None:
        """Drop all connections; what is asked after this fails."""
        ...
