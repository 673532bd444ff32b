"""A handler that answers what a test tells it to, in place of the whole API server."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User


class StandIn:
    """Answers every request in the same way, and remembers who asked what."""

    def __init__(self, answer: Answer | Callable[[], Awaitable[Answer]] | None = None) -> None:
        self._answer = answer or Answer(body=b"{}")
        self.asked: list[Request] = []
        self.users: list[User] = []

    async def __call__(self, request: Request, user: User) -> Answer:
        self.asked.append(request)
        self.users.append(user)
        return self._answer if isinstance(self._answer, Answer) else await self._answer()


class Stream:
    """A stream that the test feeds, and that tells when it was closed. None is its end."""

    def __init__(self, *parts: bytes | None) -> None:
        self.queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        for part in parts:
            self.queue.put_nowait(part)
        self.closed = asyncio.Event()

    def answer(self) -> Answer:
        """An answer with this stream."""
        return Answer(stream=self._parts())

    async def _parts(self) -> AsyncGenerator[bytes]:
        try:
            while (part := await self.queue.get()) is not None:
                if isinstance(part, Exception):
                    raise part
                yield part
        finally:
            self.closed.set()
