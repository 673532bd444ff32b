"""Policies in the store: when they are read, what they note for the audit log, and how they share parameters."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from windvane.cluster.apiserver.admission.policies.policy_source import BoundPolicies
from windvane.cluster.apiserver.admission.policies.validating_admission_policy import (
    FAILURES,
    ValidatingAdmissionPolicy,
)
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.rule_resolver import RuleResolver
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

REGISTRATION = "admissionregistration.k8s.io"
POLICIES, BINDINGS = f"{REGISTRATION}/validatingadmissionpolicies", f"{REGISTRATION}/validatingadmissionpolicybindings"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}
CATALOG = Catalog()
CATALOG.add(builtin_types())


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = Store.open()
    await put(store, "/namespaces", "default", {})
    yield store
    await store.close()


async def put(store: Store, collection: str, name: str, wire: dict[str, Any], namespace: str = "") -> None:
    key = Key(collection, namespace, name)
    entry = store.get(key)
    value = msgspec.json.encode({"metadata": {"name": name}, **wire})
    await store.commit(key, entry.revision if entry is not None else 0, lambda _: value)


async def enforce(store: Store, name: str = "p", *, binding: Any = None, **spec: Any) -> None:
    stated = {"matchConstraints": {"resourceRules": [RULE]}, **spec}
    await put(store, POLICIES, name, {"spec": stated})
    await put(store, BINDINGS, name, {"spec": {"policyName": name, "validationActions": ["Deny"], **(binding or {})}})


def request(name: str = "a", **wire: Any) -> AdmissionRequest:
    type_ = CATALOG.types["", "v1", "configmaps"]
    whole = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, **wire}
    user = User("jane", ("system:authenticated",))
    return AdmissionRequest(operation="CREATE", type=type_, namespace="default", name=name, object=whole, user=user)


async def as_stored(_: ResourceType, values: Sequence[bytes]) -> list[bytes]:
    return list(values)


def policies(store: Store) -> ValidatingAdmissionPolicy:
    return ValidatingAdmissionPolicy(store, CATALOG, Authorizer(RuleResolver(store)), as_stored)


async def test_without_any_policy_nobody_is_concerned(store: Store) -> None:
    asked = policies(store)
    assert not asked.handles(request())
    await put(store, POLICIES, "unbound", {"spec": {}})
    assert not asked.handles(request())
    await enforce(store, validations=[{"expression": "true"}])
    assert asked.handles(request())


async def test_a_policy_is_compiled_when_it_is_needed_and_then_kept_until_it_changes(store: Store) -> None:
    compiled: list[Any] = []
    bound = BoundPolicies(store, "validatingadmissionpolicies", compiled.append)

    def need_all() -> None:
        for each in bound.all():
            each.compiled()

    await enforce(store, validations=[])
    await enforce(store, "other", validations=[])
    assert len(bound.all()) == 2
    assert not compiled
    need_all()
    await put(store, BINDINGS, "another", {"spec": {"policyName": "p"}})
    assert [len(each.bindings) for each in bound.all()] == [1, 2]
    need_all()
    assert len(compiled) == 2
    await enforce(store, validations=[{"expression": "true"}])
    need_all()
    assert len(compiled) == 3


async def test_what_is_audited_and_not_denied_is_noted(store: Store) -> None:
    validations = [{"expression": "true"}, {"expression": "object.metadata.name > 'b'", "message": "b < it"}]
    await enforce(store, validations=validations, binding={"validationActions": ["Audit"]})
    asked = request()
    await policies(store).validate(asked)
    noted = r'[{"message":"b \u003c it","policy":"p","binding":"p","expressionIndex":1,"validationActions":["Audit"]}]'
    assert asked.annotations == {FAILURES: noted}


async def test_annotations_are_noted_under_the_name_of_their_policy(store: Store) -> None:
    annotations = [
        {"key": "name", "valueExpression": "'it is ' + object.metadata.name + ' '"},
        {"key": "none", "valueExpression": "null"},
        {"key": "empty", "valueExpression": "' '"},
        {"key": "long", "valueExpression": "string(object.data.text)"},
    ]
    await enforce(store, auditAnnotations=annotations)
    asked = request(data={"text": "x" * 20_000})
    await policies(store).validate(asked)
    assert asked.annotations == {"p/name": "it is a", "p/long": "x" * 10_240}


async def test_an_annotation_that_can_not_be_made_refuses_the_request(store: Store) -> None:
    annotations = [{"key": "name", "valueExpression": "string(object.data.text)"}]
    await enforce(store, auditAnnotations=annotations, binding={"validationActions": ["Audit"]})
    with pytest.raises(Failure, match="resulted in error: no such key: data"):
        await policies(store).validate(request())
    await enforce(store, auditAnnotations=annotations, failurePolicy="Ignore")
    await policies(store).validate(request())


async def test_different_annotations_of_several_parameters_are_joined(store: Store) -> None:
    for name in ("one", "two", "three"):
        data = {"text": name.removesuffix("e")}
        await put(
            store, "/configmaps", name, {"metadata": {"name": name, "labels": {"p": "x"}}, "data": data}, "default"
        )
    await enforce(
        store,
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        auditAnnotations=[{"key": "text", "valueExpression": "string(params.data.text)"}],
        binding={"paramRef": {"selector": {"matchLabels": {"p": "x"}}}},
    )
    asked = request()
    await policies(store).validate(asked)
    assert asked.annotations == {"p/text": "on, thre, two"}


async def test_a_request_in_a_namespace_that_is_gone_is_told_so(store: Store) -> None:
    await enforce(store, validations=[{"expression": "true"}])
    asked = request()
    asked.namespace = "nowhere"
    with pytest.raises(Failure, match='namespaces "nowhere" not found'):
        await policies(store).validate(asked)
