"""Namespaces: how they are made, how they end, and what they refuse meanwhile."""

import pytest

from conformance.requests import Raw, Refused


async def test_four_namespaces_are_there_from_the_start(raw: Raw) -> None:
    names = {item["metadata"]["name"] for item in (await raw.ok("GET /api/v1/namespaces"))["items"]}
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= names


async def test_the_default_namespace_has_the_servers_own_service(raw: Raw) -> None:
    found = await raw.ok("GET /api/v1/namespaces/default/services/kubernetes")
    assert found["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    assert found["spec"]["clusterIP"] == "10.0.0.1"


async def test_a_namespace_goes_with_its_last_finalizer(raw: Raw) -> None:
    leaving = await raw.ok("DELETE /api/v1/namespaces/{ns}")
    assert leaving["metadata"]["deletionTimestamp"]
    leaving["spec"] = {}
    last = await raw.ok("PUT /api/v1/namespaces/{ns}/finalize", leaving)
    assert last["kind"] == "Namespace"
    assert (await raw("GET /api/v1/namespaces/{ns}")).code == 404


async def test_a_namespace_without_finalizers_still_ends_in_two_steps(raw: Raw) -> None:
    await raw.ok("PUT /api/v1/namespaces/{ns}/finalize", {"metadata": {"name": raw.namespace}, "spec": {}})
    assert (await raw.ok("DELETE /api/v1/namespaces/{ns}"))["status"] == {"phase": "Terminating"}
    assert (await raw("GET /api/v1/namespaces/{ns}")).code == 200


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        ("POST /api/v1/namespaces/missing-{ns}/configmaps", {"metadata": {"name": "a"}}),
        ("POST /api/v1/namespaces/missing-{ns}/configmaps", {"metadata": {"name": "NOT A NAME"}}),
        ("POST /api/v1/namespaces/missing-{ns}/serviceaccounts/a/token", {}),
        ("POST /api/v1/namespaces/missing-{ns}/pods/a/eviction", {"metadata": {"name": "a"}}),
        ("POST /api/v1/namespaces/missing-{ns}/pods/a/binding", {"metadata": {"name": "a"}, "target": {"name": "b"}}),
        ("PUT /apis/coordination.k8s.io/v1/namespaces/missing-{ns}/leases/a", {"metadata": {"name": "a"}}),
    ],
)
async def test_nothing_is_created_in_a_namespace_that_is_not_there(request_: str, body: object, raw: Raw) -> None:
    missing = f"missing-{raw.namespace}"
    answer = await raw(request_, body)
    assert answer.refusal == Refused(404, "NotFound", f'namespaces "{missing}" not found', f"namespaces {missing}")


@pytest.mark.parametrize(
    ("request_", "body", "about", "name"),
    [
        ("POST configmaps", {"metadata": {"name": "NOT A NAME"}}, "configmaps", "NOT A NAME"),
        ("POST configmaps", {"metadata": {"generateName": "a-"}}, "configmaps", "a-"),
        ("POST serviceaccounts/a/token", {}, "serviceaccounts", "a"),
        ("POST pods/a/eviction", {"metadata": {"name": "a"}}, "pods", "a"),
        ("PUT leases/a", {"metadata": {"name": "a"}}, "leases.coordination.k8s.io", "a"),
    ],
)
async def test_nothing_is_created_in_a_namespace_that_is_going(
    request_: str, body: object, about: str, name: str, raw: Raw
) -> None:
    await raw.ok("DELETE /api/v1/namespaces/{ns}")
    answer = await raw(request_, body)
    message = f'{about} "{name}" is forbidden: unable to create new content in namespace {raw.namespace} because it is'
    cause = f"NamespaceTerminating metadata.namespace: namespace {raw.namespace} is being terminated"
    assert answer.refusal == Refused(403, "Forbidden", f"{message} being terminated", f"{about} {name}", [cause])


async def test_a_question_about_access_in_a_namespace_that_is_not_there(raw: Raw) -> None:
    where = "missing-{ns}"
    body = {"spec": {"user": "jane", "resourceAttributes": {"namespace": where, "verb": "get", "resource": "pods"}}}
    answer = await raw(f"POST /apis/authorization.k8s.io/v1/namespaces/{where}/localsubjectaccessreviews", body)
    assert (answer.code, answer.json["status"]) == (201, {"allowed": False})
