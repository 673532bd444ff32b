"""A conversion webhook in the process of the tests, over HTTPS on 127.0.0.1, that answers as each test wants it to.

Its kind is a Link: in v1beta1 it has an address `host:port`, in v1 the two apart.
"""

import asyncio
import base64
import functools
import json
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from aiohttp import web

from conformance.crds import CRDS, GROUP, serve
from conformance.requests import SECONDS, Raw
from reference.certificates import Authority
from windvane import ambient

Thing = dict[str, Any]
Answering = Callable[[Thing], Thing | bytes]
"""Makes the answer to a review out of the review."""


@functools.cache
def _certificates() -> tuple[bytes, ssl.SSLContext]:
    """An authority, and what a server on 127.0.0.1 needs that it vouches for."""
    with tempfile.TemporaryDirectory(prefix="windvane-webhook-") as directory:
        authority = Authority(Path(directory))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*authority.issue_server("webhook", "127.0.0.1"))
        return authority.file.read_bytes(), context


class ConversionWebhook:
    """What was asked of the webhook, and how it answers."""

    def __init__(self) -> None:
        self.reviews: list[Thing] = []
        self.answer: Answering = converted
        self.url = "https://127.0.0.1:1/convert"

    @property
    def asked(self) -> list[tuple[str, list[str]]]:
        """The version that each review wanted, and the names of its objects."""
        requests = [each["request"] for each in self.reviews]
        return [
            (each["desiredAPIVersion"].rpartition("/")[2], [one["metadata"]["name"] for one in each["objects"]])
            for each in requests
        ]

    def client_config(self) -> Thing:
        """How a CRD says where this webhook is."""
        return {"url": self.url, "caBundle": base64.b64encode(_certificates()[0]).decode()}

    async def handle(self, request: web.Request) -> web.Response:
        review = await request.json()
        self.reviews.append(review)
        answer = self.answer(review)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return web.Response(body=body, content_type="application/json")


@asynccontextmanager
async def conversion_webhook() -> AsyncIterator[ConversionWebhook]:
    """A webhook that converts Links, until a test gives it another `answer`."""
    webhook = ConversionWebhook()
    application = web.Application(client_max_size=2**24)
    application.router.add_post("/convert", webhook.handle)
    runner = web.AppRunner(application, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_certificates()[1])
    await site.start()
    _, port = runner.addresses[0][:2]
    webhook.url = f"https://127.0.0.1:{port}/convert"
    try:
        yield webhook
    finally:
        await runner.cleanup()


def converted(review: Thing) -> Thing:
    """The right answer to a review."""
    request = review["request"]
    objects = [convert(each, request["desiredAPIVersion"]) for each in request["objects"]]
    return answering(review, convertedObjects=objects)


def answering(review: Thing, **response: Any) -> Thing:
    """An answer to a review, a success unless it says otherwise."""
    stated = {"uid": review["request"]["uid"], "result": {"status": "Success"}, **response}
    return {"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": stated}


def failing(message: str) -> Answering:
    """Answers that nothing can be converted."""
    return lambda review: answering(review, result={"status": "Failure", "message": message})


def changing(change: Callable[[Thing], object]) -> Answering:
    """Converts, and then changes something of each object."""

    def answer(review: Thing) -> Thing:
        right = converted(review)
        for each in right["response"]["convertedObjects"]:
            change(each)
        return right

    return answer


def convert(link: Thing, api_version: str) -> Thing:
    """A Link in another version."""
    link = deepcopy(link)
    spec = link.get("spec", {})
    if link["apiVersion"] != api_version and api_version.endswith("/v1"):
        host, _, port = spec.pop("address", "").partition(":")
        spec |= {"host": host} | ({"port": int(port)} if port else {})
    elif link["apiVersion"] != api_version:
        spec["address"] = ":".join(str(spec.pop(each)) for each in ("host", "port") if each in spec)
    return {**link, "apiVersion": api_version}


def links(plural: str, webhook: ConversionWebhook, *, storage: str = "v1") -> Thing:
    """The CRD of Links, under a name that no other test uses."""
    text, number = {"type": "string"}, {"type": "integer"}
    shared = {"replicas": number, "labels": {"type": "object", "additionalProperties": text}}
    older = {"address": text, "kind": {"type": "string", "default": "from-v1beta1"}, **shared}
    newer = {"host": text, "port": number, "kind": {"type": "string", "default": "from-v1"}, **shared}
    status = {"type": "object", "properties": {"replicas": number, "phase": text}}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}

    def version(name: str, fields: Thing) -> Thing:
        spec = {"type": "object", "properties": fields}
        return {
            "name": name,
            "served": True,
            "storage": name == storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
            "subresources": {"status": {}, "scale": scale},
        }

    hook = {"clientConfig": webhook.client_config(), "conversionReviewVersions": ["v1"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": "Link" + plural.removeprefix("links").replace("-", "")},
            "versions": [version("v1beta1", older), version("v1", newer)],
            "conversion": {"strategy": "Webhook", "webhook": hook},
        },
    }


class Links:
    """The Links of one test: where they are, and what one is."""

    def __init__(self, raw: Raw, crd: Thing) -> None:
        self.raw = raw
        self.crd = crd
        self.plural = crd["spec"]["names"]["plural"]
        self.kind = crd["spec"]["names"]["kind"]

    def at(self, version: str, rest: str = "") -> str:
        """The path of the collection in a version, or of what is below it."""
        return f"/apis/{GROUP}/{version}/namespaces/{{ns}}/{self.plural}{rest}"

    def v1(self, name: str, /, **spec: Any) -> Thing:
        return self._link("v1", name, {"host": "a", "port": 1, **spec})

    def v1beta1(self, name: str, /, **spec: Any) -> Thing:
        return self._link("v1beta1", name, {"address": "a:1", **spec})

    def _link(self, version: str, name: str, spec: Thing) -> Thing:
        return {"apiVersion": f"{GROUP}/{version}", "kind": self.kind, "metadata": {"name": name}, "spec": spec}

    async def store_in(self, version: str) -> None:
        """Make that version the one that objects are stored in, from now on."""
        path = f"{CRDS}/{self.crd['metadata']['name']}"
        names = [each["name"] for each in self.crd["spec"]["versions"]]
        change = [
            {"op": "replace", "path": f"/spec/versions/{index}/storage", "value": name == version}
            for index, name in enumerate(names)
        ]
        await self.raw.ok(f"PATCH {path}", change, patch="json")


async def serve_links(raw: Raw, webhook: ConversionWebhook, *, storage: str = "v1") -> Links:
    """A kind of Links that only this test uses, served in both versions."""
    crd = links(f"links{raw.namespace.removeprefix('test-')}", webhook, storage=storage)
    await serve(raw, crd)
    return Links(raw, crd)


async def until(condition: Callable[[], Any]) -> None:
    """Wait until something is so. What could not be converted, a real server tries again after ever longer pauses."""
    async with asyncio.timeout(2 * SECONDS):
        while not await condition():
            await ambient.sleep(0.02)


async def until_gone_after_all(raw: Raw, path: str) -> None:
    """Wait until a CRD is gone of which a real server had failed to delete the objects.

    It tries again 5 ms later, with the CRD as it has it in memory. If that is not yet what it wrote itself to tell of
    the failure, it gets a conflict, leaves the work to the change that is about to come, and then takes no notice of
    that change, for it is its own. It would look again after five minutes; any other change makes it look now.
    """
    looks = 0
    async with asyncio.timeout(2 * SECONDS):
        while (await raw(f"GET {path}")).code != 404:
            looks += 1
            if looks % 200 == 0:  # every few seconds: in the midst of its work, a change makes it begin anew
                await raw(f"PATCH {path}", {"metadata": {"labels": {"looks": str(looks)}}}, patch="merge")
            await ambient.sleep(0.02)
