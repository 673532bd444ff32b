"""The limit of requests in flight: a client beyond it is told to try again in a second.

Each takes memory from when its body is read. A watch counts until it begins: thousands of them are usual and cheap.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from windvane.cluster.apiserver.answer import Answer

MOST = 600
"""As many as a real server answers at once, reads and writes together."""
RETRY_AFTER = 1


class TooManyRequests(Exception):
    """The limit is reached."""


class InFlight:
    """Counts the requests in flight."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """A request is being answered for the length of the block; `TooManyRequests` if there is no room for it."""
        if self._count >= self._most:
            raise TooManyRequests
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1


def too_many_requests() -> Answer:
    """The 429 for a request beyond the limit."""
    headers = [("Retry-After", str(RETRY_AFTER)), ("X-Content-Type-Options", "nosniff")]
    body = b"Too many requests, please try again later.\n"
    return Answer(429, body, "text/plain; charset=utf-8", headers)
