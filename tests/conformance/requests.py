"""Sends literal HTTP requests and says what came back.

A request reads `PUT configmaps/a?dryRun=All`. A path that doesn't start with a slash is below the test's namespace, in
the API group that serves such things; `{ns}` in any other text, also in bodies, is that namespace.
"""

import asyncio
import functools
import io
import json
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
import yarl
from multidict import CIMultiDictProxy

from windvane import ambient

SECONDS = 60.0  # an answer that takes longer is a failure; an eviction that conflicts is tried again for ten, at best
GROUPS = {
    "apps/v1": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "autoscaling/v2": ("horizontalpodautoscalers",),
    "batch/v1": ("cronjobs", "jobs"),
    "coordination.k8s.io/v1": ("leases",),
    "discovery.k8s.io/v1": ("endpointslices",),
    "networking.k8s.io/v1": ("ingresses", "networkpolicies"),
    "policy/v1": ("poddisruptionbudgets",),
    "rbac.authorization.k8s.io/v1": ("rolebindings", "roles"),
    "conformance.windvane.dev/v1": ("gadgets", "plainthings", "openthings"),
    "ownership.windvane.dev/v1": ("ownables",),
}
ROOTS = {plural: f"/apis/{group}" for group, plurals in GROUPS.items() for plural in plurals}
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}

# What a patch made, and can't be read, is quoted whole, with its times and uids.
QUOTED = re.compile(r'(patch: Invalid value: |"message":"Invalid value: )\\"\{.*?\}\\"(?=: )')


@dataclass(frozen=True)
class Refused:
    """An error `Status`: its parts that are worth a test, which is all of them."""

    code: int
    reason: str
    message: str
    about: str | None = None
    """`details`: kind, group and name as in `deployments.apps web`; None where there are no details at all."""
    causes: Sequence[str] = field(default_factory=list)
    """Reason and field of each, such as `FieldValueInvalid spec.replicas`; and its message, if the Status' lacks it."""
    retry_after: int = 0
    warnings: Sequence[str] = field(default_factory=list)

    def in_namespace(self, name: str) -> Self:
        """With the test's namespace in place of `{ns}`."""
        return type(self)(
            self.code,
            self.reason,
            self.message.replace("{ns}", name),
            None if self.about is None else self.about.replace("{ns}", name),
            [cause.replace("{ns}", name) for cause in self.causes],
            self.retry_after,
            self.warnings,
        )


@dataclass(frozen=True)
class Answer:
    """What came back."""

    code: int
    headers: CIMultiDictProxy[str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def content_type(self) -> str:
        return self.headers.get("Content-Type", "")

    @property
    def warnings(self) -> list[str]:
        """The `Warning` headers, as sent."""
        return self.headers.getall("Warning", [])

    @property
    def refusal(self) -> Refused:
        """The error that this is; an assertion fails if it isn't one."""
        status = json.loads(QUOTED.sub(r"\1OBJECT", self.body.decode()))
        assert (status["kind"], status["apiVersion"]) == ("Status", "v1"), status
        assert set(status["metadata"]) <= {"continue"}, status
        assert (status["status"], status["code"]) == ("Failure", self.code), status
        details = status.get("details")
        return Refused(
            self.code,
            status.get("reason", ""),
            status["message"],
            None if details is None else _about(details),
            [_cause(cause, status["message"]) for cause in (details or {}).get("causes", [])],
            (details or {}).get("retryAfterSeconds", 0),
            self.warnings,
        )


def _about(details: Mapping[str, Any]) -> str:
    kind = ".".join(part for part in (details.get("kind"), details.get("group")) if part)
    return " ".join(part for part in (kind, details.get("name"), details.get("uid")) if part)


def _cause(cause: Mapping[str, str], message: str) -> str:
    about = " ".join(part for part in (cause.get("reason"), cause.get("field")) if part)
    told = f"{cause['field']}: {cause['message']}" if "field" in cause else cause["message"]
    return about if told in message else f"{about}: {cause['message']}"


class Events:
    """The events of one watch, one at a time."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.code = response.status
        self.headers = response.headers
        self._response = response

    async def next(self) -> tuple[str, Any]:
        """Type and object of the next event; it is an error if there is none."""
        event = await self.next_or_end()
        assert event is not None, "the watch ended"
        return event

    async def next_or_end(self) -> tuple[str, Any] | None:
        """Type and object of the next event, or None where the server ended the watch."""
        async with asyncio.timeout(SECONDS):
            line = await self._response.content.readline()
        if not line:
            return None
        event = json.loads(line)
        assert set(event) == {"type", "object"}, event
        return event["type"], event["object"]

    async def changes(self, number: int) -> list[tuple[str, str]]:
        """Type and name of each of the next events."""
        found = [await self.next() for _ in range(number)]
        return [(kind, thing["metadata"]["name"]) for kind, thing in found]

    async def read(self, length: int) -> bytes:
        """The next bytes, exactly so many, of a watch that is not JSON."""
        async with asyncio.timeout(SECONDS):
            return await self._response.content.readexactly(length)

    async def body(self) -> bytes:
        return await self._response.read()


@functools.cache
def _trust(ca_file: Path) -> ssl.SSLContext:
    """Made once for each server: making it takes longer than most requests."""
    return ssl.create_default_context(cafile=ca_file)


class Raw:
    """One administrator at one server, in one namespace."""

    namespace: str

    def __init__(self, url: str, ca_file: Path, token: str, connections: aiohttp.TCPConnector | None = None) -> None:
        """With connections that others use, too, or with some of its own."""
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": "conformance/1"}
        self._trust = _trust(ca_file)
        self._connections = connections
        self.afterwards: list[str] = []
        """Requests that are made at the end: what is in no namespace may be in the way of other tests."""

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=self._connections,
            connector_owner=self._connections is None,
            headers=self._headers,
            auto_decompress=False,
            skip_auto_headers=["Accept", "Accept-Encoding", "Content-Type"],
            timeout=aiohttp.ClientTimeout(total=SECONDS),
            read_bufsize=2**22,  # the longest line of a watch that can be read
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for request in self.afterwards:
            await self(request)
        await self._session.close()
        # aiohttp drops its connections in the next turns of the loop, and pytest closes the loop right after this one.
        for _ in range(3):
            await ambient.sleep(0)

    async def __call__(
        self,
        request: str,
        body: Any = None,
        *,
        patch: str = "",
        content: str = "application/json",
        accept: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to one request. A body is sent as it is if it is text or bytes, else as JSON."""
        method, url = self._target(request)
        sent = {**({"Accept": accept} if accept else {}), **(headers or {})}
        if body is not None:
            sent.setdefault("Content-Type", PATCHES[patch] if patch else content)
        async with self._session.request(
            method, url, data=self._stream(body), headers=sent, ssl=self._trust
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    async def ok(self, request: str, body: Any = None, *, patch: str = "", **rest: Any) -> Any:
        """The body of the answer, which must be a success."""
        answer = await self(request, body, patch=patch, **rest)
        assert answer.code < 300, f"{request}: {answer.body.decode()}"
        return answer.json

    async def remembered(self, path: str) -> None:
        """Wait until the server has in memory what is stored of an object: `configmaps/a`.

        A real one changes and deletes objects as it has them in memory. If that was old, it does all of it once more:
        webhooks are asked twice.
        """
        version = (await self.ok(f"GET {path}"))["metadata"]["resourceVersion"]
        async with asyncio.timeout(SECONDS):
            while (await self(f"GET {path}?resourceVersion={version}")).code != 200:
                pass  # it waits for three seconds by itself, and then gives up

    @asynccontextmanager
    async def watch(self, request: str, accept: str = "application/json", **query: str) -> AsyncIterator[Events]:
        """A watch of `configmaps`, say; the query's parts are keywords."""
        parts = "&".join(f"{key}={value}" for key, value in {"watch": "true", **query}.items())
        _, url = self._target(f"GET {request}?{parts}")
        async with self._session.get(url, headers={"Accept": accept}, ssl=self._trust) as response:
            try:
                yield Events(response)
            finally:
                # Leave at once: a polite goodbye takes longer than the test's event loop lives.
                if response.connection is not None and response.connection.transport is not None:
                    response.connection.transport.abort()

    def _target(self, request: str) -> tuple[str, yarl.URL]:
        method, _, path = request.partition(" ")
        if not path.startswith("/"):
            plural = path.partition("?")[0].partition("/")[0]
            path = f"{ROOTS.get(plural, '/api/v1')}/namespaces/{{ns}}/{path}"
        if "{ns}" in path:
            path = path.replace("{ns}", self.namespace)
        return method, yarl.URL(self._url + path, encoded=True)

    def _stream(self, body: Any) -> io.BytesIO | None:
        if body is None:
            return None
        if isinstance(body, bytes):
            return io.BytesIO(body)
        text = body if isinstance(body, str) else json.dumps(body)
        return io.BytesIO((text.replace("{ns}", self.namespace) if "{ns}" in text else text).encode())
