"""CRDs: what happens when several change one, or its objects, at once."""

import asyncio
import json
from typing import Any

import pytest

from unit.cluster.apiserver.servers import ask, running
from windvane import ambient
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, ClientConfig, Reply
from windvane.cluster.apiserver.pipeline import definitions
from windvane.cluster.apiserver.server import APIServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
FINALIZER = "demo.dev/held"
HOOK = {"clientConfig": {"url": "https://webhook.test"}, "conversionReviewVersions": ["v1"]}
SECONDS = 20.0


def definition(plural: str, **spec: Any) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    names = {"plural": plural, "kind": plural.capitalize()}
    stated = {"group": "demo.dev", "scope": "Namespaced", "names": names, "versions": versions, **spec}
    return {"metadata": {"name": f"{plural}.demo.dev"}, "spec": stated}


async def create(server: APIServer, plural: str, name: str, **metadata: Any) -> Answer:
    wire = {"apiVersion": "demo.dev/v1", "kind": plural.capitalize(), "metadata": {"name": name, **metadata}}
    return await ask(server, f"POST /apis/demo.dev/v1/namespaces/default/{plural}", wire)


async def patch(server: APIServer, path: str, change: dict[str, Any]) -> Answer:
    return await ask(server, f"PATCH {path}", change, Content_Type=MERGE)


async def test_who_lets_go_of_the_last_objects_at_the_same_moment_hears_of_them_alone() -> None:
    """Both find that the CRD may go, and only one of them can have it go."""
    async with running() as server:
        assert (await ask(server, f"POST {CRDS}", definition("things"))).code == 201
        for name in ("a", "b"):
            assert (await create(server, "things", name, finalizers=[FINALIZER])).code == 201
        assert (await ask(server, f"DELETE {CRDS}/things.demo.dev")).code == 200
        let_go = [
            patch(server, f"/apis/demo.dev/v1/namespaces/default/things/{name}", {"metadata": {"finalizers": None}})
            for name in ("a", "b")
        ]
        assert [answer.code for answer in await asyncio.gather(*let_go)] == [200, 200]
        assert (await ask(server, f"GET {CRDS}/things.demo.dev")).code == 404


@pytest.mark.parametrize("turns", range(8))
async def test_a_crd_that_goes_takes_nothing_new_though_somebody_has_just_changed_it(turns: int) -> None:
    """Whichever turn of the loop the deletion begins in: what the change wrote may be the older of the two."""

    async def delete() -> Answer:
        for _ in range(turns):
            await ambient.sleep(0)
        return await ask(server, f"DELETE {CRDS}/things.demo.dev")

    async with running() as server:
        assert (await ask(server, f"POST {CRDS}", definition("things"))).code == 201
        assert (await create(server, "things", "a", finalizers=[FINALIZER])).code == 201
        change = {"spec": {"names": {"shortNames": ["th"]}}}
        await asyncio.gather(patch(server, f"{CRDS}/things.demo.dev", change), delete())
        assert (await create(server, "things", "b")).code == 403


class Webhook:
    """Can't be reached, which takes its time to find out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()

        async def post(_: Caller, __: ClientConfig, ___: bytes, ____: float) -> Reply:
            self.asked += 1
            await self.may_answer.wait()
            raise CallFailed("nobody is there")

        monkeypatch.setattr(Caller, "post", post)

    async def until_asked(self, times: int) -> None:
        async with asyncio.timeout(SECONDS):
            while self.asked < times:
                await ambient.sleep(0)


async def with_an_old_object(server: APIServer) -> None:
    """A CRD of which an object is stored in a version that only a webhook makes the present one of."""
    webhook = {"strategy": "Webhook", "webhook": HOOK}
    assert (await ask(server, f"POST {CRDS}", definition("things"))).code == 201
    assert (await create(server, "things", "a")).code == 201
    versions = definition("things")["spec"]["versions"]
    newer = [{**each, "storage": each["name"] == "v2"} for each in versions]
    change = {"spec": {"versions": newer, "conversion": webhook}}
    assert (await patch(server, f"{CRDS}/things.demo.dev", change)).code == 200


async def test_when_two_fail_to_empty_a_crd_one_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = Webhook(monkeypatch)
    async with running() as server:
        await with_an_old_object(server)
        others = asyncio.all_tasks()
        deletions = [asyncio.create_task(ask(server, f"DELETE {CRDS}/things.demo.dev")) for _ in range(2)]
        await webhook.until_asked(2)
        webhook.may_answer.set()
        assert [answer.code for answer in await asyncio.gather(*deletions)] == [200, 200]
        await ambient.sleep(0)  # whoever was told not to tries no more
        assert len(asyncio.all_tasks() - others) == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_who_tries_again_to_empty_a_crd_does_not_outlive_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "RETRY", 0.0)
    webhook = Webhook(monkeypatch)
    webhook.may_answer.set()
    async with running() as server:
        await with_an_old_object(server)
        assert (await ask(server, f"DELETE {CRDS}/things.demo.dev")).code == 200
        webhook.may_answer.clear()
        asked = webhook.asked
        await webhook.until_asked(asked + 1)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_crd_goes_though_its_webhook_failed_in_the_midst_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "RETRY", 0.0)
    asked = 0

    async def fails_once(_: Caller, __: ClientConfig, body: bytes, ___: float) -> Reply:
        nonlocal asked
        asked += 1
        if asked == 2:  # first, all objects are asked for together, and then each one that is deleted
            raise CallFailed("nobody is there")
        request = json.loads(body)["request"]
        made = [{**each, "apiVersion": request["desiredAPIVersion"]} for each in request["objects"]]
        response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": made}
        review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}
        return Reply(200, "application/json", json.dumps(review).encode())

    monkeypatch.setattr(Caller, "post", fails_once)
    async with running() as server:
        await with_an_old_object(server)
        assert (await ask(server, f"DELETE {CRDS}/things.demo.dev")).code == 200
        async with asyncio.timeout(SECONDS):
            while (await ask(server, f"GET {CRDS}/things.demo.dev")).code != 404:
                await ambient.sleep(0)
