"""What passes between the API server and whatever carries requests to it: HTTPS, or a function call.

A request is the client's own `windvane.client.transport.Request`, with the `User` that it is from. An `Answer` is
whole, or a stream that goes on until it is stopped, or a conversation, in which both sides speak.
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
    """What else is known, each under a key such as `authentication.kubernetes.io/credential-id`."""
    address: str = field(default="", compare=False)
    """The IP address that they ask from; empty in process."""


def user_info(user: User) -> dict[str, Any]:
    """A user as `authentication.k8s.io` has one: in reviews, webhooks and the audit log."""
    shown: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    shown["extra"] = {key: list(values) for key, values in user.extra}
    return {key: value for key, value in shown.items() if value}


class Conversation(Protocol):
    """What is to be said and heard on a WebSocket."""

    @property
    def protocols(self) -> Sequence[str]:
        """In which subprotocols it can be held."""
        ...

    async def hold(self, socket: WebSocket) -> None:
        """Talk, until there is nothing more to say; cancelled when the other side has gone."""
        ...


@dataclass(slots=True)
class Answer:
    """What is answered: a body, a stream of parts that are sent as they come, or a conversation."""

    code: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    """Empty if there is nothing that could have one."""
    headers: Sequence[tuple[str, str]] = field(default_factory=list)
    stream: AsyncGenerator[bytes] | None = None
    """Set for watches. What carries it must `aclose()` it when the client has gone."""
    unhurried: bool = False
    """Whether who reads the stream may take any time: then nothing piles up, because it is read from where it lies."""
    conversation: Conversation | None = None
    """Set when a WebSocket is to be opened, which then speaks `protocol`."""
    protocol: str = ""


NOSNIFF = ("X-Content-Type-Options", "nosniff")


def text(code: int, words: str, *headers: tuple[str, str]) -> Answer:
    """A plain page."""
    return Answer(code, words.encode(), "text/plain; charset=utf-8", headers)


def page_not_found() -> Answer:
    """The answer where there is nothing at all."""
    return text(404, "404 page not found\n", NOSNIFF)


Handler = Callable[[Request, User], Awaitable[Answer]]
"""The whole API server, seen from outside. It answers every request, also a bad one, and never raises."""
