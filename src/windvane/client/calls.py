"""Sends one request, and sends it again only when that is safe.

Safe means that the server can't have acted on the first one, or that acting twice makes no difference:

- it said "not now" itself (429 or 503 with Retry-After): any request is repeated;
- no connection came about, so nothing was sent: any request is repeated;
- the connection broke before the answer: a read is repeated. A write may have happened, and repeating it could
  undo what another client did since, so it becomes `FateUnknown` and the caller looks before it acts again.
"""

import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from windvane import ambient
from windvane.backoff import Backoff
from windvane.client.errors import FateUnknown, Interrupted, Unreachable, Untrusted, error_from_answer
from windvane.client.transport import Request, Response, Transport

log = logging.getLogger(__name__)

ATTEMPTS = 5
RETRY = Backoff(first=0.2, most=30.0)
READS = frozenset({"GET", "HEAD"})

# The text of `Warning: 299 - "text"`, in which quotes and backslashes have a backslash before them.
WARNING = re.compile(r'"((?:\\.|[^"\\])*)"')


class Calls:
    """The way from the client's verbs to a transport."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def call(self, request: Request) -> bytes:
        """The body of a successful answer; any other is raised as the error it is."""
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                async with self.transport.open(request) as response:
                    body = await response.read()
            except Untrusted:
                raise
            except Unreachable as error:
                if last:
                    raise
                why = str(error)
                pause = RETRY.delay(attempt)
            except Interrupted as broken:
                if request.method not in READS:
                    raise FateUnknown(
                        f"{broken}. The server may or may not have done it: read the object before you repeat this"
                    ) from broken
                if last:
                    raise
                why = str(broken)
                pause = RETRY.delay(attempt)
            else:
                _log_warnings(response, request)
                if response.code < 300:
                    return body
                refusal = error_from_answer(response.code, body, str(request))
                asked = _asked_pause(response)
                if asked is None or last or not request.wait_if_asked:
                    raise refusal
                why = str(refusal)
                pause = asked
            log.info("%s: attempt %d of %d: %s; next in %.1f s", request, attempt, ATTEMPTS, why, pause)
            await ambient.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Response]:
        """A successful answer whose body is still to come. One attempt: what to resume from is the caller's to know."""
        async with self.transport.open(request) as response:
            _log_warnings(response, request)
            if response.code >= 300:
                raise error_from_answer(response.code, await response.read(), str(request))
            yield response


def _asked_pause(response: Response) -> float | None:
    """How long the server asks us to wait before we repeat the request; None if it doesn't ask for that."""
    if response.code not in (429, 503):
        return None
    asked = next(iter(response.header("Retry-After")), "")
    return min(float(asked), RETRY.most) if asked.isdecimal() else None


def _log_warnings(response: Response, request: Request) -> None:
    """Deprecations, unknown fields and the like, which the server tells in `Warning: 299 - "text"` headers."""
    for header in response.header("Warning"):
        quoted = WARNING.search(header)
        log.warning("%s: %s", request, re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else header)
