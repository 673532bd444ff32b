"""MutatingAdmissionPolicies among others who change objects: who of them is asked a second time."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.policies.mutating_admission_policy import MutatingAdmissionPolicy
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.rule_resolver import RuleResolver
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

REGISTRATION = "admissionregistration.k8s.io"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}
COUNT = "Object{data: {'count': string(int(object.data.count) + 1)}}"
CATALOG = Catalog()
CATALOG.add(builtin_types())


class Painter(AdmissionPlugin):
    """Is asked after the policies, and makes everything red."""

    name = "MutatingAdmissionWebhook"

    def handles(self, request: AdmissionRequest) -> bool:
        return True

    async def mutate(self, request: AdmissionRequest) -> None:
        assert request.object is not None
        if request.object["data"].get("color") != "red":
            request.object = {**request.object, "data": {**request.object["data"], "color": "red"}}
            request.changed = True

    async def validate(self, request: AdmissionRequest) -> None:
        raise AssertionError("nobody validates here")


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = Store.open()
    await put(store, "/namespaces", {})
    yield store
    await store.close()


async def put(store: Store, collection: str, spec: Any, name: str = "default") -> None:
    value = msgspec.json.encode({"metadata": {"name": name}, "spec": spec})
    await store.commit(Key(collection, "", name), 0, lambda _: value)


async def as_stored(_: ResourceType, values: Sequence[bytes]) -> list[bytes]:
    return list(values)


async def counted(store: Store, *others: AdmissionPlugin, again: str) -> str:
    """How often a policy was asked that counts in the object."""
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": COUNT}}
    match = {"resourceRules": [RULE]}
    spec = {"matchConstraints": match, "reinvocationPolicy": again, "mutations": [mutation]}
    await put(store, f"{REGISTRATION}/mutatingadmissionpolicies", spec)
    await put(store, f"{REGISTRATION}/mutatingadmissionpolicybindings", {"policyName": "default"})
    policies = MutatingAdmissionPolicy(store, CATALOG, Authorizer(RuleResolver(store)), as_stored)
    metadata = {"name": "a", "namespace": "default"}
    wire = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"count": "0"}}
    asked = AdmissionRequest(
        operation="CREATE",
        type=CATALOG.types["", "v1", "configmaps"],
        namespace="default",
        name="a",
        object=wire,
        user=User("jane"),
    )
    await Chain([policies, *others]).mutate(asked)
    assert asked.object is not None
    return str(asked.object["data"]["count"])


async def test_a_policy_that_wants_to_be_is_asked_again_after_somebody_else(store: Store) -> None:
    assert await counted(store, Painter(), again="IfNeeded") == "2"


async def test_one_that_does_not_is_asked_once(store: Store) -> None:
    assert await counted(store, Painter(), again="Never") == "1"


async def test_its_own_changes_are_news_to_a_policy(store: Store) -> None:
    assert await counted(store, again="IfNeeded") == "2"
