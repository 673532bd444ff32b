"""Discovery: what the server says that it serves, in all the places where clients look."""

import asyncio
from typing import Any

import pytest

from conformance.crds import GROUP
from conformance.requests import SECONDS, Raw

AGGREGATED = "application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList"


def named(things: Any, name: str, key: str = "name") -> Any:
    (found,) = [each for each in things if each[key] == name]
    return found


async def test_version(raw: Raw) -> None:
    version = await raw.ok("GET /version")
    assert set(version) >= {"major", "minor", "gitVersion", "gitCommit", "buildDate", "goVersion", "platform"}
    assert version["gitVersion"].startswith(f"v{version['major']}.{version['minor'].rstrip('+')}.")


async def test_the_core_group_has_one_version(raw: Raw) -> None:
    found = await raw.ok("GET /api")
    assert (found["kind"], found["versions"]) == ("APIVersions", ["v1"])
    assert found["serverAddressByClientCIDRs"][0]["clientCIDR"] == "0.0.0.0/0"


GROUPS = [
    ("apps", "v1"),
    ("batch", "v1"),
    ("autoscaling", "v2"),
    ("policy", "v1"),
    ("networking.k8s.io", "v1"),
    ("rbac.authorization.k8s.io", "v1"),
    ("storage.k8s.io", "v1"),
    ("coordination.k8s.io", "v1"),
    ("discovery.k8s.io", "v1"),
    ("events.k8s.io", "v1"),
    ("scheduling.k8s.io", "v1"),
    ("node.k8s.io", "v1"),
    ("certificates.k8s.io", "v1"),
    ("admissionregistration.k8s.io", "v1"),
    ("apiextensions.k8s.io", "v1"),
    ("apiregistration.k8s.io", "v1"),
    ("authentication.k8s.io", "v1"),
    ("authorization.k8s.io", "v1"),
    ("flowcontrol.apiserver.k8s.io", "v1"),
]


@pytest.mark.parametrize(("group", "version"), GROUPS)
async def test_a_group_says_which_version_it_prefers(raw: Raw, group: str, version: str) -> None:
    listed = named((await raw.ok("GET /apis"))["groups"], group)
    preferred = {"groupVersion": f"{group}/{version}", "version": version}
    assert listed["preferredVersion"] == preferred
    alone = await raw.ok(f"GET /apis/{group}")
    assert (alone["kind"], alone["apiVersion"]) == ("APIGroup", "v1")
    assert (alone["name"], alone["versions"][0]) == (group, preferred)


RESOURCES = [
    ("/api/v1", "pods"),
    ("/api/v1", "pods/status"),
    ("/api/v1", "pods/eviction"),
    ("/api/v1", "configmaps"),
    ("/api/v1", "namespaces"),
    ("/api/v1", "services"),
    ("/api/v1", "bindings"),
    ("/apis/apps/v1", "deployments"),
    ("/apis/apps/v1", "deployments/scale"),
    (f"/apis/{GROUP}/v1", "gadgets"),
    (f"/apis/{GROUP}/v1", "gadgets/status"),
    (f"/apis/{GROUP}/v1", "gadgets/scale"),
]
EXPECTED: dict[str, Any] = {
    "pods": {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["po"],
        "categories": ["all"],
    },
    "pods/status": {
        "name": "pods/status",
        "singularName": "",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["get", "patch", "update"],
    },
    "pods/eviction": {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    },
    "configmaps": {
        "name": "configmaps",
        "singularName": "configmap",
        "namespaced": True,
        "kind": "ConfigMap",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["cm"],
    },
    "namespaces": {
        "name": "namespaces",
        "singularName": "namespace",
        "namespaced": False,
        "kind": "Namespace",
        "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
        "shortNames": ["ns"],
    },
    "services": {
        "name": "services",
        "singularName": "service",
        "namespaced": True,
        "kind": "Service",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["svc"],
        "categories": ["all"],
    },
    "bindings": {
        "name": "bindings",
        "singularName": "binding",
        "namespaced": True,
        "kind": "Binding",
        "verbs": ["create"],
    },
    "deployments": {
        "name": "deployments",
        "singularName": "deployment",
        "namespaced": True,
        "kind": "Deployment",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["deploy"],
        "categories": ["all"],
    },
    "deployments/scale": {
        "name": "deployments/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    },
    "gadgets": {
        "name": "gadgets",
        "singularName": "gadget",
        "namespaced": True,
        "kind": "Gadget",
        "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        "shortNames": ["gd"],
        "categories": ["toys"],
    },
    "gadgets/status": {
        "name": "gadgets/status",
        "singularName": "",
        "namespaced": True,
        "kind": "Gadget",
        "verbs": ["get", "patch", "update"],
    },
    "gadgets/scale": {
        "name": "gadgets/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    },
}


@pytest.mark.parametrize(("path", "name"), RESOURCES, ids=[each[1] for each in RESOURCES])
async def test_a_resource_is_described(raw: Raw, crds: None, path: str, name: str) -> None:
    found = await raw.ok(f"GET {path}")
    assert found["kind"] == "APIResourceList"
    described = named(found["resources"], name)
    assert ("storageVersionHash" in described) == ("/" not in name and name != "bindings")
    described.pop("storageVersionHash", None)
    assert described == EXPECTED[name]


async def test_all_groups_in_one_document(raw: Raw, crds: None) -> None:
    answer = await raw("GET /apis", accept=AGGREGATED)
    assert answer.content_type == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    found = answer.json
    assert (found["kind"], found["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    group = named([each["metadata"] | each for each in found["items"]], GROUP)
    version = named(group["versions"], "v1", "version")
    resource = named(version["resources"], "gadgets", "resource")
    assert resource == {
        "resource": "gadgets",
        "responseKind": {"group": "conformance.windvane.dev", "version": "v1", "kind": "Gadget"},
        "scope": "Namespaced",
        "singularResource": "gadget",
        "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        "shortNames": ["gd"],
        "categories": ["toys"],
        "subresources": [
            {
                "subresource": "status",
                "responseKind": {"group": "conformance.windvane.dev", "version": "v1", "kind": "Gadget"},
                "verbs": ["get", "patch", "update"],
            },
            {
                "subresource": "scale",
                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "verbs": ["get", "patch", "update"],
            },
        ],
    }


async def test_the_core_group_in_one_document(raw: Raw) -> None:
    found = await raw.ok("GET /api", accept=AGGREGATED)
    (group,) = found["items"]
    assert group["metadata"] == {}
    resource = named(group["versions"][0]["resources"], "configmaps", "resource")
    assert resource == {
        "resource": "configmaps",
        "responseKind": {"group": "", "version": "", "kind": "ConfigMap"},
        "scope": "Namespaced",
        "singularResource": "configmap",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["cm"],
    }


async def test_the_document_of_all_groups_has_an_etag(raw: Raw) -> None:
    answer = await raw("GET /apis", accept=AGGREGATED)
    again = await raw("GET /apis", accept=AGGREGATED, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.code, again.body) == (304, b"")


async def test_a_client_that_knows_no_aggregation_gets_the_old_document(raw: Raw) -> None:
    found = await raw.ok("GET /apis", accept="application/json")
    assert (found["kind"], found["apiVersion"]) == ("APIGroupList", "v1")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping"])
async def test_health_is_two_letters(raw: Raw, path: str) -> None:
    answer = await raw(f"GET {path}")
    assert (answer.code, answer.body, answer.content_type) == (200, b"ok", "text/plain; charset=utf-8")


async def test_health_in_detail(raw: Raw) -> None:
    body = (await raw("GET /readyz?verbose")).body.decode()
    assert body.startswith("[+]ping ok\n")
    assert body.endswith("readyz check passed\n")


async def test_health_needs_no_credentials(raw: Raw) -> None:
    assert (await raw("GET /healthz", headers={"Authorization": ""})).code == 200


async def test_metrics_are_text(raw: Raw) -> None:
    answer = await raw("GET /metrics")
    assert answer.content_type.startswith("text/plain; version=0.0.4")
    assert b"apiserver_request_total" in answer.body


async def test_openapi_v3_lists_a_document_for_each_group(raw: Raw, crds: None) -> None:
    paths = (await raw.ok("GET /openapi/v3"))["paths"]
    assert {"api/v1", "apis/apps/v1", "version"} <= set(paths)
    assert paths["api/v1"]["serverRelativeURL"].startswith("/openapi/v3/api/v1?hash=")


async def test_openapi_v3_of_a_custom_kind(raw: Raw, crds: None) -> None:
    async with asyncio.timeout(SECONDS):
        while f"apis/{GROUP}/v1" not in (await raw.ok("GET /openapi/v3"))["paths"]:
            pass
    document = await raw.ok(f"GET /openapi/v3/apis/{GROUP}/v1")
    assert document["openapi"] == "3.0.0"
    schema = document["components"]["schemas"]["dev.windvane.conformance.v1.Gadget"]
    assert schema["properties"]["spec"]["properties"]["size"]["description"] == "How large it is."
    assert schema["x-kubernetes-group-version-kind"] == [{"group": GROUP, "version": "v1", "kind": "Gadget"}]
    assert f"/apis/{GROUP}/v1/namespaces/{{namespace}}/gadgets/{{name}}/status" in document["paths"]


async def test_openapi_v2_is_one_document(raw: Raw) -> None:
    document = await raw.ok("GET /openapi/v2", accept="application/json")
    assert document["swagger"] == "2.0"
    described = document["definitions"]["io.k8s.api.core.v1.ConfigMap"]
    assert described["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "ConfigMap", "version": "v1"}]


async def test_openapi_v2_says_nothing_about_the_fields_of_a_kind_that_takes_any(raw: Raw, crds: None) -> None:
    name = "dev.windvane.conformance.v1.OpenThing"
    async with asyncio.timeout(SECONDS):
        while not (found := (await raw.ok("GET /openapi/v2", accept="application/json"))["definitions"].get(name)):
            pass
    kind = {"group": GROUP, "version": "v1", "kind": "OpenThing"}
    assert found == {"type": "object", "x-kubernetes-group-version-kind": [kind]}


async def test_the_root_lists_paths(raw: Raw) -> None:
    paths = (await raw.ok("GET /"))["paths"]
    assert {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version", "/openapi/v3"} <= set(
        paths
    )


@pytest.mark.parametrize("path", ["/version", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
async def test_a_document_is_there_with_a_slash_after_its_path_too(raw: Raw, path: str) -> None:
    assert await raw.ok(f"GET {path}/") == await raw.ok(f"GET {path}")
