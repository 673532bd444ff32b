"""Namespaces: how they are made, how they end, and what they refuse meanwhile."""

from conformance.requests import Raw


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
