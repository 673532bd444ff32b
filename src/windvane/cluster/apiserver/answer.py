"""The interface between the API server and its transports, which are HTTPS and function calls.

A request is the client's own `windvane.client.transport.Request`, with the `User` that it is from. An `Answer` has a
body, or a stream that goes on until it is stopped, or a conversation on a WebSocket.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from windvane.client.transport import Request, WebSocket


@dataclass(frozen=True, slots=True)
class User:
    """The user that a request is from."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """More about the user, under keys such as `authentication.kubernetes.io/credential-id`."""
    address: str = field(default="", compare=False)
    """The IP address of the client; empty in process."""


def user_info(user: User) -> dict[str, Any]:
    """A user as `authentication.k8s.io` has one: in reviews, webhooks and the audit log."""
    shown: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    shown["extra"] = {key: list(values) for key, values in user.extra}
    return {key: value for key, value in shown.items() if value}


class Conversation(Protocol):
    """The server's side of a WebSocket."""

    @property
    def protocols(self) -> Sequence[str]:
        """The subprotocols that it supports."""
        ...

    async def hold(self, socket: WebSocket) -> None:
        """Send and receive until it is over; cancelled when the client has gone."""
        ...


@dataclass(slots=True)
class Answer:
    """A response: a body, a stream of parts that are sent as they come, or a conversation."""

    code: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    """Empty if there is no body."""
    headers: Sequence[tuple[str, str]] = field(default_factory=list)
    stream: AsyncGenerator[bytes] | None = None
    """Set for watches. The transport must `aclose()` it when the client has gone."""
    unhurried: bool = False
    """Whether a slow client does no harm, because the stream is read from a file and not buffered."""
    conversation: Conversation | None = None
    """Set when a WebSocket is to be opened, which then speaks `protocol`."""
    protocol: str = ""


NOSNIFF = ("X-Content-Type-Options", "nosniff")


def text(code: int, words: str, *headers: tuple[str, str]) -> Answer:
    """A plain page."""
    return Answer(code, words.encode(), "text/plain; charset=utf-8", headers)


def page_not_found() -> Answer:
    """The plain 404 of paths outside of the API."""
    return text(404, "404 page not found\n", NOSNIFF)


Handler = Callable[[Request, User], Awaitable[Answer]]
"""The whole API server, as transports see it. It answers every request, also a bad one, and never raises."""
