"""A webhook for tests, over HTTPS on 127.0.0.1: it says what the test tells it to, and remembers what it was asked.

    hooks = await webhooks.install("Validating", webhooks.webhook("deny", denied("no")))

A webhook is asked about new ConfigMaps of the test's namespace, unless the test says otherwise.
"""

import base64
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from conformance.requests import SECONDS, Raw
from reference.certificates import Authority
from windvane import ambient

Thing = dict[str, Any]
Said = Thing | web.Response
Says = Callable[[Thing], Said | Awaitable[Said]]
"""What is answered to the `request` of a review: the `response`, to which the uid is added, or anything else at all."""

API = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
READY = "conformance.windvane.dev/ready"


def allowed(_: Thing) -> Thing:
    """Yes."""
    return {"allowed": True}


def denied(message: str = "", **status: Any) -> Callable[[Thing], Thing]:
    """No, and why."""
    told = {**({"message": message} if message else {}), **status}
    return lambda _: {"allowed": False, **({"status": told} if told else {})}


def patched(*operations: Thing) -> Callable[[Thing], Thing]:
    """Yes, with these changes."""
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded(operations)}


def encoded(patch: Any) -> str:
    return base64.b64encode(json.dumps(patch).encode()).decode()


def add(path: str, value: Any) -> Thing:
    return {"op": "add", "path": path, "value": value}


def answers(body: Any, status: int = 200, **rest: Any) -> Says:
    """This, whatever the question; text is sent as it is."""
    text = body if isinstance(body, str) else json.dumps(body)
    return lambda _: web.Response(text=text, status=status, content_type=rest.get("content_type", "application/json"))


class Webhooks:
    """The webhooks of one test, served on one port, each at a path of its own."""

    def __init__(self, raw: Raw, authority: Authority) -> None:
        self._raw = raw
        self._says: dict[str, Says] = {}
        self._installed: list[str] = []
        self._names: set[str] = set()
        self.ca = base64.b64encode(authority.file.read_bytes()).decode()
        self.port = 0
        self.asked: list[tuple[str, Thing]] = []
        """Each question: the name of the webhook, and the `request` of the review."""
        self.bodies: list[Thing] = []
        """The same reviews as a whole."""
        self.queries: list[str] = []

    def requests(self, name: str) -> list[Thing]:
        """What the webhook of that name was asked."""
        return [request for asked, request in self.asked if asked == name]

    def webhook(self, name: str, says: Says = allowed, **fields: Any) -> Thing:
        """A webhook `NAME.windvane.dev`; the fields are the API's, and `rule=` is what differs in its one rule."""
        self._says[name] = says
        selector = {"matchLabels": {"kubernetes.io/metadata.name": self._raw.namespace}}
        return {
            "name": f"{name}.windvane.dev",
            "clientConfig": {"url": f"https://127.0.0.1:{self.port}/{name}", "caBundle": self.ca},
            "rules": [{**CONFIG_MAPS, **fields.pop("rule", {})}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "namespaceSelector": selector,
            "objectSelector": {"matchExpressions": [{"key": READY, "operator": "DoesNotExist"}]},
            "timeoutSeconds": 30,
            **fields,
        }

    async def install(self, kind: str, *webhooks: Thing, name: str = "hooks") -> str:
        """Make a configuration, and wait until the server acts on it: a real one takes a moment."""
        marker = {"matchLabels": {READY: name}}
        ready = self.webhook("ready", denied("ready"), objectSelector=marker)
        ready["name"] = f"ready.{name}.windvane.dev"
        configuration = f"{name}-{self._raw.namespace}"
        path = f"{API}/{kind.lower()}webhookconfigurations"
        body = {"metadata": {"name": configuration}, "webhooks": [ready, *webhooks]}
        await self._raw.ok(f"POST {path}", body)
        self._installed.append(f"{path}/{configuration}")
        self._names.add(name)
        await self.until_denied({"metadata": {"name": "ready", "labels": {READY: name}}})
        self.asked.clear()
        self.bodies.clear()
        self.queries.clear()
        return f"{path}/{configuration}"

    async def until_denied(self, thing: Thing) -> None:
        """Wait until a new ConfigMap is refused by the webhook that tells that a configuration is known."""
        for _ in range(int(SECONDS / 0.02)):
            answer = await self._raw("POST configmaps?dryRun=All", thing)
            if answer.code == 400 and "denied the request: ready" in answer.json["message"]:
                return
            await ambient.sleep(0.02)
        raise AssertionError(f"the server doesn't call webhooks: {answer.body.decode()}")

    async def until_allowed(self, name: str = "hooks") -> None:
        """Wait until a configuration that was taken away is forgotten."""
        await self.until_created({"metadata": {"name": "ready", "labels": {READY: name}}})

    async def until_created(self, thing: Thing) -> None:
        """Wait until a new ConfigMap would be let through."""
        for _ in range(int(SECONDS / 0.02)):
            if (await self._raw("POST configmaps?dryRun=All", thing)).code == 201:
                return
            await ambient.sleep(0.02)
        raise AssertionError("the server still calls webhooks")

    async def remove(self) -> None:
        for path in self._installed:
            await self._raw(f"DELETE {path}")
        for name in self._names:  # else what is in no namespace, of other tests, may be asked about
            await self.until_allowed(name)

    async def answer(self, request: web.Request) -> web.Response:
        name = request.path.strip("/")
        review = await request.json()
        self.asked.append((name, review["request"]))
        self.bodies.append(review)
        self.queries.append(request.query_string)
        said = self._says[name](review["request"])
        if isinstance(said, Awaitable):
            said = await said
        if isinstance(said, web.Response):
            return said
        response = {"uid": review["request"]["uid"], **said}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})


@asynccontextmanager
async def serving(raw: Raw, directory: Path) -> AsyncIterator[Webhooks]:
    """Webhooks that can be asked for the length of the block."""
    authority = Authority(directory)
    certificate, key = authority.issue_server("webhook", "127.0.0.1", "localhost")
    webhooks = Webhooks(raw, authority)
    async with listening(webhooks, certificate, key) as port:
        webhooks.port = port
        yield webhooks
        await webhooks.remove()


@asynccontextmanager
async def listening(webhooks: Webhooks, certificate: Path, key: Path) -> AsyncIterator[int]:
    """The port at which webhooks answer, as a server with this certificate."""
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(certificate, key)
    application = web.Application(client_max_size=2**24)
    application.router.add_post("/{name:.*}", webhooks.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=trust)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
