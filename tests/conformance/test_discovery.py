"""Discovery: what the server says that it serves, in all the places where clients look."""

import asyncio
from typing import Any

import pytest

from conformance.crds import GROUP
from conformance.requests import SECONDS, Raw
from windvane import ambient

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
    ("resource.k8s.io", "v1"),
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
    async with asyncio.timeout(SECONDS):
        while True:  # kinds that other tests have made may still be on their way into it
            answer = await raw("GET /apis", accept=AGGREGATED)
            again = await raw("GET /apis", accept=AGGREGATED, headers={"If-None-Match": answer.headers["ETag"]})
            if again.headers["ETag"] == answer.headers["ETag"]:
                break
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
        # Other kinds of the group may have been described before.
        while "dev.windvane.conformance.v1.Gadget" not in (await raw(f"GET /openapi/v3/apis/{GROUP}/v1")).body.decode():
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


@pytest.mark.parametrize("name", ["v2.v1.0", "v2@v1.0"])
async def test_openapi_v2_is_also_there_as_protobuf(raw: Raw, name: str) -> None:
    accept = f"application/com.github.proto-openapi.spec.{name}+protobuf"
    answer = await raw("GET /openapi/v2", accept=f"{accept},text/html")
    assert answer.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert answer.headers["Etag"]
    assert answer.body.startswith(b"\n\x032.0")
    assert b"io.k8s.api.core.v1.ConfigMap" in answer.body
    assert (await raw("GET /openapi/v2", accept=f"{accept};q=0.5, */*")).content_type == "application/json"
    assert (await raw("GET /openapi/v2", accept="text/html")).code == 406


@pytest.mark.parametrize("document", ["/openapi/v3/api/v1", "/openapi/v2"])
async def test_an_operation_without_parameters_has_no_list_of_them(raw: Raw, document: str) -> None:
    paths = (await raw.ok(f"GET {document}", accept="application/json"))["paths"]
    of_one = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]
    assert "parameters" not in of_one["get"]
    assert of_one["patch"]["parameters"]


async def test_openapi_v2_says_nothing_about_the_fields_of_a_kind_that_takes_any(raw: Raw, crds: None) -> None:
    name = "dev.windvane.conformance.v1.OpenThing"
    async with asyncio.timeout(2 * SECONDS):
        while not (found := (await raw.ok("GET /openapi/v2", accept="application/json"))["definitions"].get(name)):
            await ambient.sleep(0.5)  # each look takes a good part of a second, which the server needs to write it
    kind = {"group": GROUP, "version": "v1", "kind": "OpenThing"}
    assert found == {"type": "object", "x-kubernetes-group-version-kind": [kind]}


async def test_the_root_lists_paths(raw: Raw) -> None:
    paths = (await raw.ok("GET /"))["paths"]
    assert {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version", "/openapi/v3"} <= set(
        paths
    )


@pytest.mark.parametrize("path", ["/version", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
async def test_a_document_is_there_with_a_slash_after_its_path_too(raw: Raw, path: str) -> None:
    async with asyncio.timeout(SECONDS):
        while await raw.ok(f"GET {path}/") != await raw.ok(f"GET {path}"):
            pass  # kinds that other tests have made may still be on their way into it


async def test_the_root_is_for_people_and_has_another_name(raw: Raw) -> None:
    async with asyncio.timeout(SECONDS):
        while (body := (await raw("GET /")).body) != (await raw("GET /index.html")).body:
            pass  # kinds that other tests have made may still be on their way into it
    assert body.startswith(b'{\n  "paths": [\n')


async def test_the_version_is_for_people(raw: Raw) -> None:
    assert (await raw("GET /version")).body.startswith(b'{\n  "major": "1",\n')


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis/apps/v1"])
@pytest.mark.parametrize("accept", ["text/html", "application/*"])
async def test_documents_of_built_in_versions_take_accept_word_for_word(raw: Raw, path: str, accept: str) -> None:
    answer = await raw(f"GET {path}", accept=accept)
    assert answer.refusal.message == (
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )


@pytest.mark.parametrize("path", ["/apis", "/apis/apps", f"/apis/{GROUP}", f"/apis/{GROUP}/v1"])
async def test_the_other_documents_negotiate(raw: Raw, crds: None, path: str) -> None:
    assert (await raw(f"GET {path}", accept="application/*")).content_type == "application/json"
    assert (await raw(f"GET {path}", accept="application/yaml")).content_type == "application/yaml"
    answer = await raw(f"GET {path}", accept="text/html")
    assert answer.refusal.message == (
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )


async def test_the_version_is_json_only(raw: Raw) -> None:
    answer = await raw("GET /version", accept="text/html")
    assert answer.refusal.message == "406: Not Acceptable\n\nAvailable representations: application/json"


async def test_all_groups_in_one_document_in_yaml(raw: Raw) -> None:
    async with asyncio.timeout(SECONDS):
        while True:  # kinds that other tests have made may still be on their way into it
            answer = await raw("GET /apis", accept=AGGREGATED.replace("json", "yaml", 1))
            if answer.headers["Etag"] == (await raw("GET /apis", accept=AGGREGATED)).headers["Etag"]:
                break
    assert answer.content_type == "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert answer.body.startswith(b"apiVersion: apidiscovery.k8s.io/v2\nitems:\n")


async def test_one_group_is_never_told_as_everything(raw: Raw) -> None:
    assert (await raw("GET /apis/apps", accept=AGGREGATED)).code == 406


async def test_the_document_of_all_groups_may_be_kept_but_must_be_asked_about(raw: Raw) -> None:
    answer = await raw("GET /apis", accept=AGGREGATED)
    assert answer.headers.getall("Cache-Control") == ["public"]
    assert answer.headers["Vary"] == "Accept"


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3/version"])
async def test_openapi_documents_have_an_etag(raw: Raw, path: str) -> None:
    async with asyncio.timeout(SECONDS):
        while True:  # kinds that other tests have made may still be on their way into it
            answer = await raw(f"GET {path}", accept="application/json")
            etag = answer.headers["Etag"]
            conditions = [{"If-None-Match": known} for known in (etag, f'"other", W/{etag}')]
            again = [await raw(f"GET {path}", accept="application/json", headers=each) for each in conditions]
            if [each.headers["Etag"] for each in again] == [etag, etag]:
                break
    assert answer.headers.getall("Cache-Control") == ["no-cache, private"]
    assert [(each.code, each.body) for each in again] == [(304, b"")] * 2


async def test_an_openapi_document_asked_for_by_its_hash_may_be_kept_for_good(raw: Raw) -> None:
    place = (await raw.ok("GET /openapi/v3"))["paths"]["version"]["serverRelativeURL"]
    answer = await raw(f"GET {place}")
    assert answer.headers.getall("Cache-Control") == ["public, immutable"]
    assert answer.headers["Expires"]
    assert answer.headers["Etag"] == f'"{place.partition("=")[2]}"'


async def test_openapi_v3_has_documents_about_documents(raw: Raw, crds: None) -> None:
    paths = (await raw.ok("GET /openapi/v3"))["paths"]
    assert {"api", "apis", "apis/apps", "apis/rbac.authorization.k8s.io"} <= set(paths)
    assert f"apis/{GROUP}" not in paths


OPENAPI = [
    ("version", "/version/", "getCodeVersion", "io.k8s.apimachinery.pkg.version.Info"),
    ("api", "/api/", "getCoreAPIVersions", "io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions"),
    ("apis", "/apis/", "getAPIVersions", "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList"),
    ("apis/apps", "/apis/apps/", "getAppsAPIGroup", "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup"),
    (
        "apis/rbac.authorization.k8s.io",
        "/apis/rbac.authorization.k8s.io/",
        "getRbacAuthorizationAPIGroup",
        "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup",
    ),
]


@pytest.mark.parametrize(("place", "path", "name", "result"), OPENAPI, ids=[each[0] for each in OPENAPI])
async def test_openapi_v3_of_a_document(raw: Raw, place: str, path: str, name: str, result: str) -> None:
    document = await raw.ok(f"GET /openapi/v3/{place}")
    operation = document["paths"][path]["get"]
    assert operation["operationId"] == name
    content = operation["responses"]["200"]["content"]["application/json"]
    assert content == {"schema": {"$ref": f"#/components/schemas/{result}"}}
    assert document["components"]["schemas"][result]["required"]


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
async def test_health_without_one_check(raw: Raw, endpoint: str) -> None:
    assert (await raw(f"GET /{endpoint}?exclude=ping")).body == b"ok"
    lines = (await raw(f"GET /{endpoint}?exclude=ping&exclude=nope&verbose")).body.decode().splitlines()
    assert lines[0] == "[+]ping excluded: ok"
    assert "[+]etcd ok" in lines
    assert lines[-2:] == [
        'warn: some health checks cannot be excluded: no matches for "nope"',
        f"{endpoint} check passed",
    ]


@pytest.mark.parametrize("path", ["/healthz/etcd", "/livez/etcd", "/readyz/etcd"])
async def test_whether_the_store_is_well(raw: Raw, path: str) -> None:
    assert (await raw(f"GET {path}")).body == b"ok"


@pytest.mark.parametrize("path", ["/healthz/nope", "/livez/", "/readyz/ping/more"])
async def test_a_check_that_there_is_none_of(raw: Raw, path: str) -> None:
    answer = await raw(f"GET {path}")
    assert (answer.code, answer.body) == (404, b"404 page not found\n")
