"""A transport that answers from a script, and a clock that moves only when somebody sleeps."""

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from windvane import ambient
from windvane.client.transport import Request, WebSocket


class Clock(ambient.Reality):
    """A world where sleeping takes no time, and jitter is as long as it can be."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed += seconds

    def jitter(self, seconds: float) -> float:
        return seconds


class ScriptEnded(Exception):
    """More was asked than the script has answers for. No `ClientError`, so nothing tries again because of it."""


@dataclass(frozen=True)
class Answer:
    """One answer: a body in parts, and what happens after the last one."""

    code: int = 200
    parts: Sequence[bytes] = ()
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    then: Exception | Callable[[], None] | None = None
    """An error that breaks the answer off, or something to do before it ends."""


class ScriptedResponse:
    """An `Answer` as `Response`."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.code = answer.code

    def header(self, name: str) -> Sequence[str]:
        """All values of a header."""
        return next((values for key, values in self._answer.headers.items() if key.lower() == name.lower()), ())

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([part async for part in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in the parts that the script has."""
        for part in self._answer.parts:
            yield part
        if isinstance(self._answer.then, Exception):
            raise self._answer.then
        if self._answer.then is not None:
            self._answer.then()


class ScriptedTransport:
    """Answers requests one by one from a script, and remembers them."""

    def __init__(self, *script: Answer | Exception) -> None:
        self.requests: list[Request] = []
        self.open_now = 0
        self.closed = False
        self._script = deque(script)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[ScriptedResponse]:
        """The next answer of the script."""
        self.requests.append(request)
        if not self._script:
            raise ScriptEnded(f"no answer to {request} in the script")
        answer = self._script.popleft()
        if isinstance(answer, Exception):
            raise answer
        self.open_now += 1
        try:
            yield ScriptedResponse(answer)
        finally:
            self.open_now -= 1

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """Not here."""
        raise NotImplementedError(f"the script has no WebSocket for {request} ({protocols})")

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def query(self, index: int = -1) -> dict[str, str]:
        """The query of a request; the last one's unless told otherwise."""
        pairs = self.requests[index].query
        assert len(dict(pairs)) == len(pairs), f"a parameter comes twice: {pairs}"
        return dict(pairs)

    def sent(self, index: int = -1) -> Any:
        """The JSON body of a request; the last one's unless told otherwise."""
        body = self.requests[index].body
        assert body is not None
        return json.loads(body)


def answer(content: object, *, code: int = 200, headers: Mapping[str, Sequence[str]] | None = None) -> Answer:
    """An answer with this JSON content."""
    return Answer(code, [json.dumps(content).encode()], headers or {})


def refusal(
    code: int, reason: str = "", message: str = "no", *, headers: Mapping[str, Sequence[str]] | None = None
) -> Answer:
    """An answer with an error `Status`."""
    return answer(status(code, reason, message), code=code, headers=headers)


def status(code: int, reason: str = "", message: str = "no") -> dict[str, object]:
    """An error `Status` as the API server writes it."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


def config_map(name: str, version: str = "1", **data: str) -> dict[str, object]:
    """A ConfigMap as the API server writes it."""
    return {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "web", "resourceVersion": version},
        "data": data,
    }
