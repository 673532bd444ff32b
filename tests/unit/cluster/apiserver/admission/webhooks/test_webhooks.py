"""Who is asked, when and together with whom, and what the audit log has of it. The rest has conformance tests."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from windvane import ambient
from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks.configuration import MUTATING, VALIDATING, Configurations
from windvane.cluster.apiserver.admission.webhooks.dispatcher import WebhookDispatcher
from windvane.cluster.apiserver.admission.webhooks.invocation import WebhookInvoker
from windvane.cluster.apiserver.admission.webhooks.metrics import WebhookMetrics
from windvane.cluster.apiserver.admission.webhooks.mutating_webhook import MutatingAdmissionWebhook
from windvane.cluster.apiserver.admission.webhooks.validating_webhook import ValidatingAdmissionWebhook
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.rule_resolver import RuleResolver
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, ClientConfig, Reply
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

Wire = dict[str, Any]
Says = Callable[[Wire], Awaitable[Wire]]
CATALOG = Catalog()
CATALOG.add(builtin_types())
CONFIG_MAPS = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}


class Answering(Caller):
    """Answers for the webhook at each URL, without a network."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.says: dict[str, Says] = {}

    async def post(self, config: ClientConfig, body: bytes, seconds: float) -> Reply:
        request = msgspec.json.decode(body)["request"]
        response = {"uid": request["uid"], **await self.says[config.url](request)}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return Reply(200, "application/json", msgspec.json.encode(review))


class World:
    def __init__(self) -> None:
        self.store = Store.open()
        self.caller = Answering(self.store)
        authorizer, invoker = Authorizer(RuleResolver(self.store)), WebhookInvoker(self.caller, WebhookMetrics())
        mutating = WebhookDispatcher(self.store, CATALOG, authorizer, invoker, MUTATING)
        validating = WebhookDispatcher(self.store, CATALOG, authorizer, invoker, VALIDATING)
        self.webhooks = Chain([MutatingAdmissionWebhook(mutating), ValidatingAdmissionWebhook(validating)])

    async def install(self, collection: str, name: str, **says: Says) -> None:
        """A configuration of that name with these webhooks; those whose names begin with `open` may fail."""
        webhooks = []
        for each, answer in says.items():
            self.caller.says[each] = answer
            policy = "Ignore" if each.startswith("open") else "Fail"
            stated = {"name": each, "clientConfig": {"url": each}, "rules": [CONFIG_MAPS], "failurePolicy": policy}
            webhooks.append({**stated, "admissionReviewVersions": ["v1"]})
        value = msgspec.json.encode({"webhooks": webhooks})
        await self.store.commit(Key(collection, "", name), 0, lambda _: value)


def request(kind: tuple[str, str, str] = ("", "v1", "configmaps")) -> AdmissionRequest:
    wire = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ns"}}
    return AdmissionRequest(
        operation="CREATE", type=CATALOG.types[kind], namespace="ns", name="a", object=wire, user=User("alice")
    )


async def yes(_: Wire) -> Wire:
    return {"allowed": True}


async def no(_: Wire) -> Wire:
    return {"allowed": False, "status": {"message": "no"}}


async def fails(_: Wire) -> Wire:
    raise CallFailed("nobody is there")


async def adds_data(_: Wire) -> Wire:
    patch = [{"op": "add", "path": "/data", "value": {"a": "b"}}]
    encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded, "auditAnnotations": {"k": "v", "bad key": "x"}}


async def test_without_configurations_nobody_is_concerned() -> None:
    assert not World().webhooks.handles(request())


async def test_nor_about_configurations_themselves() -> None:
    world = World()
    await world.install(VALIDATING, "c", v=yes)
    assert world.webhooks.handles(request())
    group = "admissionregistration.k8s.io"
    assert not world.webhooks.handles(request((group, "v1", "validatingwebhookconfigurations")))


async def test_configurations_are_read_again_when_one_has_changed() -> None:
    world = World()
    configurations = Configurations(world.store, MUTATING)
    await world.install(MUTATING, "b", second=yes)
    first = configurations.webhooks()
    assert configurations.webhooks() is first
    await world.install(MUTATING, "a", first=yes)
    assert [each.name for each in configurations.webhooks()] == ["first", "second"]


async def test_judges_are_asked_at_the_same_time() -> None:
    world = World()
    met = asyncio.Barrier(3)

    async def waits_for_the_others(_: Wire) -> Wire:
        async with asyncio.timeout(30):
            await met.wait()
        return {"allowed": True}

    await world.install(VALIDATING, "c", **dict.fromkeys(("one", "two", "three"), waits_for_the_others))
    await world.webhooks.validate(request())


async def test_all_judges_are_heard_before_the_first_no_is_told() -> None:
    world = World()
    heard: list[str] = []

    async def slow(_: Wire) -> Wire:
        await ambient.sleep(0)
        heard.append("slow")
        return {"allowed": True, "warnings": ["careful"]}

    await world.install(VALIDATING, "c", no=no, slow=slow)
    asked = request()
    with pytest.raises(Failure, match='admission webhook "no" denied the request: no'):
        await world.webhooks.validate(asked)
    assert (heard, asked.warnings) == (["slow"], ["careful"])


async def test_what_the_audit_log_is_told() -> None:
    world = World()
    await world.install(MUTATING, "m", **{"adds.dev": adds_data, "yes.dev": yes, "open.dev": fails})
    await world.install(VALIDATING, "v", **{"yes.dev": yes, "open.dev": fails})
    asked = request()
    await world.webhooks.mutate(asked)
    await world.webhooks.validate(asked)
    mutation = '{{"configuration":"m","webhook":"{}","mutated":{}}}'.format
    assert asked.annotations == {
        "adds.dev/k": "v",
        "mutation.webhook.admission.k8s.io/round_0_index_0": mutation("adds.dev", "true"),
        "mutation.webhook.admission.k8s.io/round_0_index_1": mutation("yes.dev", "false"),
        "mutation.webhook.admission.k8s.io/round_0_index_2": mutation("open.dev", "false"),
        "failed-open.mutation.webhook.admission.k8s.io/round_0_index_2": "open.dev",
        "failed-open.validating.webhook.admission.k8s.io/round_0_index_1": "open.dev",
    }
    assert (asked.changed, (asked.object or {})["data"]) == (True, {"a": "b"})
