"""Objects of several versions in the store: how often a webhook is asked, and what a restart finds."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.conversion import conversions
from windvane.cluster.apiserver.outbound.caller import Caller, ClientConfig, Reply
from windvane.cluster.apiserver.server import APIServer, open_server
from windvane.cluster.apiserver.storage.record import Key

Thing = dict[str, Any]
ADMIN = User("admin", ("system:masters",))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = {"Content-Type": "application/merge-patch+json"}


class Webhook:
    """Puts `from` into the spec of whatever it converts, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.fails = False

    async def post(self, config: ClientConfig, body: bytes, _: float) -> Reply:
        assert config.url == "https://webhook.test/convert"
        request = json.loads(body)["request"]
        wanted = request["desiredAPIVersion"]
        names = [each["metadata"]["name"] for each in request["objects"]]
        self.asked.append((wanted.rpartition("/")[2], names))
        result: Thing = {"status": "Failure", "message": "no"} if self.fails else {"status": "Success"}
        made = [
            {**each, "apiVersion": wanted, "spec": {**each["spec"], "from": each["apiVersion"].rpartition("/")[2]}}
            for each in request["objects"]
        ]
        response = {"uid": request["uid"], "result": result, "convertedObjects": made}
        answer = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}
        return Reply(200, "application/json", json.dumps(answer).encode())


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Webhook:
    webhook = Webhook()

    async def post(_: Caller, config: ClientConfig, body: bytes, seconds: float) -> Reply:
        return await webhook.post(config, body, seconds)

    monkeypatch.setattr(Caller, "post", post)
    return webhook


@pytest.fixture
async def server(tmp_path: Path, webhook: Webhook) -> AsyncIterator[APIServer]:
    """A server with Things, which are stored in v1 and served in v2, too."""
    server = open_server(tmp_path / "store.db")
    await server.start()
    await ask(server, "POST", CRDS, definition())
    yield server
    await server.close()


async def ask(server: APIServer, method: str, path: str, body: Any = None) -> Any:
    answer = await tell(server, method, path, body)
    assert answer.code < 300, answer.body
    return json.loads(answer.body)


async def tell(server: APIServer, method: str, path: str, body: Any = None) -> Any:
    headers = MERGE if method == "PATCH" else {}
    sent = None if body is None else json.dumps(body).encode()
    return await server.handle(Request(method, path, [], headers, sent), ADMIN)


def definition() -> Thing:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}}
        for name in ("v1", "v2", "v3")
    ]
    hook = {"clientConfig": {"url": "https://webhook.test/convert"}, "conversionReviewVersions": ["v1"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.x.dev"},
        "spec": {
            "group": "x.dev",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": versions,
            "conversion": {"strategy": "Webhook", "webhook": hook},
        },
    }


def things(version: str, name: str = "") -> str:
    return f"/apis/x.dev/{version}/namespaces/default/things{f'/{name}' if name else ''}"


async def create(server: APIServer, version: str, name: str) -> Thing:
    wire = {"apiVersion": f"x.dev/{version}", "kind": "Thing", "metadata": {"name": name}, "spec": {"a": name}}
    made: Thing = await ask(server, "POST", things(version), wire)
    return made


async def store_in(server: APIServer, version: str) -> None:
    versions = [{**each, "storage": each["name"] == version} for each in definition()["spec"]["versions"]]
    await ask(server, "PATCH", f"{CRDS}/things.x.dev", {"spec": {"versions": versions}})


async def listed(server: APIServer, version: str) -> list[Thing]:
    found = await ask(server, "GET", things(version))
    return [each["spec"] for each in found["items"]]


def as_after_a_crash(directory: Path) -> Path:
    """A copy of the store, of which nobody has taken leave."""
    left = directory / "crashed"
    left.mkdir()
    for file in directory.glob("store.db*"):
        shutil.copy(file, left)
    return left / "store.db"


async def test_a_list_of_mixed_stored_versions_is_one_question(server: APIServer, webhook: Webhook) -> None:
    await create(server, "v1", "a")
    await store_in(server, "v2")
    await create(server, "v2", "b")
    await store_in(server, "v3")
    await create(server, "v3", "c")
    webhook.asked.clear()
    assert await listed(server, "v3") == [{"a": "a", "from": "v1"}, {"a": "b", "from": "v2"}, {"a": "c"}]
    assert webhook.asked == [("v3", ["a", "b"])]


async def test_a_list_does_not_ask_again(server: APIServer, webhook: Webhook) -> None:
    await create(server, "v1", "a")
    await listed(server, "v2")
    webhook.asked.clear()
    await create(server, "v1", "b")
    assert len(await listed(server, "v2")) == 2
    assert webhook.asked == [("v2", ["b"])]


async def test_a_changed_definition_makes_a_list_ask_again(server: APIServer, webhook: Webhook) -> None:
    await create(server, "v1", "a")
    await listed(server, "v2")
    webhook.asked.clear()
    await ask(server, "PATCH", f"{CRDS}/things.x.dev", {"metadata": {"labels": {"x": "y"}}})
    await listed(server, "v2")
    assert webhook.asked == []
    await ask(server, "PATCH", f"{CRDS}/things.x.dev", {"spec": {"names": {"categories": ["all"]}}})
    await listed(server, "v2")
    assert webhook.asked == [("v2", ["a"])]


async def test_who_reads_one_object_gets_what_the_webhook_says_now(server: APIServer, webhook: Webhook) -> None:
    await create(server, "v1", "a")
    for _ in range(2):
        await ask(server, "GET", things("v2", "a"))
    assert webhook.asked == [("v2", ["a"])] * 2


async def test_a_failure_is_not_remembered(server: APIServer, webhook: Webhook) -> None:
    await create(server, "v1", "a")
    webhook.fails = True
    assert (await tell(server, "GET", things("v2"))).code == 500
    webhook.fails = False
    assert await listed(server, "v2") == [{"a": "a", "from": "v1"}]


async def test_large_objects_are_forgotten_sooner(
    server: APIServer, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversions, "REMEMBERED_BYTES", 30_000)
    for name in ("a", "b"):
        await create(server, "v1", name)
        await ask(server, "PATCH", things("v1", name), {"spec": {"a": "x" * 10_000}})  # in each of the two versions
    webhook.asked.clear()
    for _ in range(2):
        await listed(server, "v2")
    assert webhook.asked == [("v2", ["a", "b"]), ("v2", ["a"])]


async def test_mixed_versions_survive_a_crash(server: APIServer, webhook: Webhook, tmp_path: Path) -> None:
    await create(server, "v1", "a")
    await store_in(server, "v2")
    await create(server, "v2", "b")
    again = open_server(as_after_a_crash(tmp_path))
    try:
        await again.start()
        webhook.asked.clear()
        assert await listed(again, "v1") == [{"a": "a"}, {"a": "b", "from": "v2"}]
        assert webhook.asked == [("v1", ["b"])]
    finally:
        await again.close()


async def test_objects_of_older_stores_are_in_the_first_version_that_was_stored(
    server: APIServer, webhook: Webhook
) -> None:
    made = await create(server, "v1", "a")
    old = {"metadata": {**made["metadata"], "name": "old"}, "spec": {"a": "old"}}

    def written(revision: int) -> bytes:
        return msgspec.json.encode({**old, "metadata": {**old["metadata"], "resourceVersion": str(revision)}})

    await server.store.commit(Key("x.dev/things", "default", "old"), 0, written)
    await store_in(server, "v2")
    webhook.asked.clear()
    got = await ask(server, "GET", things("v1", "old"))
    assert (got["apiVersion"], got["kind"], got["spec"]) == ("x.dev/v1", "Thing", {"a": "old"})
    assert webhook.asked == []
    assert (await ask(server, "GET", things("v2", "old")))["spec"] == {"a": "old", "from": "v1"}


async def test_a_version_that_was_removed_can_not_be_read(server: APIServer) -> None:
    await create(server, "v1", "a")
    await store_in(server, "v2")
    await ask(server, "PATCH", f"{CRDS}/things.x.dev/status", {"status": {"storedVersions": ["v2"]}})
    left = [{**each, "storage": each["name"] == "v2"} for each in definition()["spec"]["versions"][1:]]
    await ask(server, "PATCH", f"{CRDS}/things.x.dev", {"spec": {"versions": left}})
    answer = await tell(server, "GET", things("v2", "a"))
    assert answer.code == 500
    assert json.loads(answer.body)["message"] == "request to convert CR from an invalid group/version: x.dev/v1"
