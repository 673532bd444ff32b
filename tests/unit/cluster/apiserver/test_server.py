"""What the server answers when something is wrong with itself, which no conformance test can bring about."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, Reply
from windvane.cluster.apiserver.server import APIServer, open_server
from windvane.cluster.apiserver.storage.store import WriteFailed

ADMIN = User("admin", ("system:masters",))
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[APIServer]:
    server = open_server(tmp_path / "store.db")
    await server.start()
    yield server
    await server.close()


async def ask(server: APIServer, method: str, path: str, body: Any = None) -> Answer:
    sent = None if body is None else json.dumps(body).encode()
    return await server.handle(Request(method, path, [], {}, sent), ADMIN)


async def test_a_disk_that_is_full_is_told_as_it_is(
    server: APIServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise WriteFailed("nothing was changed, because the store can't be written: database or disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(server.store, "_write", full)
        answer = await ask(server, "POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert answer.code == 500
    status = json.loads(answer.body)
    assert status["message"] == "nothing was changed, because the store can't be written: database or disk is full"
    assert "reason" not in status
    assert "disk is full" in caplog.text
    assert "Traceback" not in caplog.text
    assert (await ask(server, "POST", CONFIG_MAPS, {"metadata": {"name": "a"}})).code == 201


async def test_a_name_that_was_made_up_and_is_taken_is_made_up_again(
    server: APIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up = iter(["aaaaa", "aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr("windvane.ambient.token", lambda _: next(made_up))
    answers = [await ask(server, "POST", CONFIG_MAPS, {"metadata": {"generateName": "x-"}}) for _ in range(2)]
    assert [json.loads(answer.body)["metadata"]["name"] for answer in answers] == ["x-aaaaa", "x-bbbbb"]


async def test_names_are_not_made_up_for_ever(server: APIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windvane.ambient.token", lambda _: "aaaaa")
    answers = [await ask(server, "POST", CONFIG_MAPS, {"metadata": {"generateName": "x-"}}) for _ in range(2)]
    assert [answer.code for answer in answers] == [201, 409]


async def test_a_closed_store_is_not_well(server: APIServer) -> None:
    assert (await ask(server, "GET", "/readyz")).code == 200
    await server.store.close()
    assert (await ask(server, "GET", "/readyz")).code == 500
    assert (await ask(server, "GET", "/readyz/etcd")).body == b"internal server error: the store is closed\n"
    answer = await ask(server, "POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert json.loads(answer.body)["message"] == ("/configmaps/default/a was not written, because the store is closed")


@pytest.mark.parametrize("subresource", ["log", "exec", "attach", "portforward"])
async def test_what_needs_a_kubelet_is_not_there_without_one(server: APIServer, subresource: str) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"nodeName": "one", "containers": [{"name": "a", "image": "b"}]}}
    assert (await ask(server, "POST", "/api/v1/namespaces/default/pods", pod)).code == 201
    answer = await ask(server, "GET", f"/api/v1/namespaces/default/pods/p/{subresource}")
    assert answer.code == 501
    assert b"no kubelet is known for node" in answer.body


async def test_a_server_that_stops_writes_nothing_for_want_of_a_webhook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs up on whoever is being asked, and that is no failure of theirs that could be ignored."""
    asked, hung_up = asyncio.Event(), asyncio.Event()

    async def post(*_: object) -> Reply:
        asked.set()
        await hung_up.wait()
        raise CallFailed("EOF")

    async def close(_: Caller) -> None:
        hung_up.set()
        await asyncio.wait([asyncio.create_task(hung_up.wait())])

    monkeypatch.setattr(Caller, "post", post)
    monkeypatch.setattr(Caller, "close", close)
    server = open_server(tmp_path / "store.db")
    await server.start()
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}
    webhook = {"name": "a.b.c", "clientConfig": {"url": "https://webhook.test"}, "rules": [rule]}
    stated = {**webhook, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore"}
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    assert (await ask(server, "POST", path, {"metadata": {"name": "a"}, "webhooks": [stated]})).code == 201
    writing = asyncio.create_task(ask(server, "POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    await asked.wait()
    await server.close()
    assert (await writing).code == 500
    again = open_server(tmp_path / "store.db")
    assert (await ask(again, "GET", f"{CONFIG_MAPS}/a")).code == 404
    await again.close()
