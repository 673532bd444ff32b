import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from windvane.api.kind import Kind
from windvane.cluster.apiserver import documentation
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.openapi.documents import PROTOBUF, OpenAPI
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType

WEBSITE = "dev.windvane.demo.v1alpha1.Website"
SPEC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "image": {"type": "string", "default": "x"},
        "port": {"x-kubernetes-int-or-string": True},
        "size": {"type": "integer", "nullable": True},
        "child": {"type": "object", "x-kubernetes-embedded-resource": True},
    },
}


def website(**spec: Any) -> ResourceType:
    kind = Kind(
        group="demo.windvane.dev",
        version="v1alpha1",
        name="Website",
        plural="websites",
        subresources=("scale", "status"),
    )
    schema = {"type": "object", "properties": {"spec": SPEC | {"properties": SPEC["properties"] | spec}}}
    return ResourceType(CustomStrategy(kind, schema, {"selectableFields": [{"jsonPath": ".spec.image"}]}))


@pytest.fixture
def catalog() -> Catalog:
    made = Catalog()
    made.add(builtin_types())
    made.add([website()])
    return made


@pytest.fixture
def openapi(catalog: Catalog) -> OpenAPI:
    return OpenAPI(catalog)


def ask(openapi: OpenAPI, path: str, accept: str = "application/json", **query: str) -> Answer:
    answer = openapi.answer(path, list(query.items()), accept)
    assert answer is not None
    return answer


def get(openapi: OpenAPI, path: str) -> dict[str, Any]:
    answer = ask(openapi, path)
    assert answer.code == 200
    found: dict[str, Any] = json.loads(answer.body)
    return found


def index(openapi: OpenAPI) -> dict[str, str]:
    return {path: each["serverRelativeURL"] for path, each in get(openapi, "/openapi/v3")["paths"].items()}


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def test_the_index_names_each_version_with_a_hash(openapi: OpenAPI) -> None:
    found = index(openapi)
    assert {"api/v1", "apis/apps/v1", "apis/demo.windvane.dev/v1alpha1"} <= found.keys()
    assert found["apis/apps/v1"].startswith("/openapi/v3/apis/apps/v1?hash=")


def test_a_hash_changes_with_the_schema_and_only_there(catalog: Catalog, openapi: OpenAPI) -> None:
    before = index(openapi)
    catalog.add([website(color={"type": "string"})])
    after = index(openapi)
    changed = {path for path in after if before[path] != after[path]}
    assert changed == {"apis/demo.windvane.dev/v1alpha1"}


def test_a_changed_kind_is_described_anew_at_once(catalog: Catalog, openapi: OpenAPI) -> None:
    get(openapi, "/openapi/v3/apis/demo.windvane.dev/v1alpha1")
    get(openapi, "/openapi/v2")
    catalog.add([website(color={"type": "string"})])
    new = get(openapi, "/openapi/v3/apis/demo.windvane.dev/v1alpha1")["components"]["schemas"][WEBSITE]
    assert new["properties"]["spec"]["properties"]["color"] == {"type": "string"}
    assert "color" in get(openapi, "/openapi/v2")["definitions"][WEBSITE]["properties"]["spec"]["properties"]


def test_a_kind_that_is_gone_has_no_document(catalog: Catalog, openapi: OpenAPI) -> None:
    catalog.remove("demo.windvane.dev", "websites")
    assert openapi.answer("/openapi/v3/apis/demo.windvane.dev/v1alpha1", [], "") is None


def test_a_document_is_made_once(catalog: Catalog, openapi: OpenAPI) -> None:
    first = ask(openapi, "/openapi/v3/apis/apps/v1").body
    catalog.add([website(color={"type": "string"})])
    assert ask(openapi, "/openapi/v3/apis/apps/v1").body is first


def test_who_knows_the_hash_may_keep_the_document(openapi: OpenAPI) -> None:
    _, _, current = index(openapi)["apis/apps/v1"].partition("?hash=")
    answer = ask(openapi, "/openapi/v3/apis/apps/v1", hash=current)
    assert dict(answer.headers)["Cache-Control"] == "public, immutable"
    assert dict(answer.headers)["Etag"] == f'"{current}"'


def test_who_has_an_old_hash_is_sent_to_the_new_one(openapi: OpenAPI) -> None:
    answer = ask(openapi, "/openapi/v3/apis/apps/v1", hash="0")
    assert (answer.code, dict(answer.headers)["Location"]) == (301, index(openapi)["apis/apps/v1"])


@pytest.mark.parametrize("path", ["/openapi/v3/", "/openapi/v3/nope", "/openapi/v4", "/openapi", "/apis"])
def test_there_is_nothing_elsewhere(openapi: OpenAPI, path: str) -> None:
    assert openapi.answer(path, [], "") is None


def test_protobuf_is_made_once_and_anew_when_a_kind_has_changed() -> None:
    catalog = Catalog()
    catalog.add([website()])
    openapi = OpenAPI(catalog)
    before = ask(openapi, "/openapi/v2", PROTOBUF).body
    assert ask(openapi, "/openapi/v2", PROTOBUF).body is before
    catalog.add([website(color={"type": "string"})])
    assert b"color" not in before
    assert b"color" in ask(openapi, "/openapi/v2", PROTOBUF).body


def test_the_documents_of_version_3_are_not_there_as_protobuf(openapi: OpenAPI) -> None:
    assert ask(openapi, "/openapi/v3/apis/apps/v1", PROTOBUF).code == 406


def test_every_reference_leads_somewhere(openapi: OpenAPI) -> None:
    for path in index(openapi):
        found = get(openapi, f"/openapi/v3/{path}")
        names = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
        assert set(references(found)) <= names


def test_every_reference_in_the_older_document_leads_somewhere(openapi: OpenAPI) -> None:
    found = get(openapi, "/openapi/v2")
    assert set(references(found)) <= {f"#/definitions/{name}" for name in found["definitions"]}


def test_every_operation_has_a_name_of_its_own(openapi: OpenAPI) -> None:
    operations = [
        operation["operationId"]
        for item in get(openapi, "/openapi/v2")["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    assert len(set(operations)) == len(operations)


def test_an_operation_says_what_it_does_to_which_kind(openapi: OpenAPI) -> None:
    found = get(openapi, "/openapi/v3/apis/apps/v1")["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments"]
    assert found["post"]["operationId"] == "createAppsV1NamespacedDeployment"
    assert found["post"]["x-kubernetes-action"] == "post"
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert found["post"]["x-kubernetes-group-version-kind"] == kind
    assert "fieldValidation" in [each["name"] for each in found["post"]["parameters"]]
    assert [each["name"] for each in found["parameters"]] == ["namespace", "pretty"]


def test_strategic_merge_patches_are_for_built_in_kinds(openapi: OpenAPI) -> None:
    strategic = "application/strategic-merge-patch+json"
    pods = get(openapi, "/openapi/v3/api/v1")["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]
    paths = get(openapi, "/openapi/v3/apis/demo.windvane.dev/v1alpha1")["paths"]
    websites = paths["/apis/demo.windvane.dev/v1alpha1/namespaces/{namespace}/websites/{name}"]
    assert strategic in pods["patch"]["requestBody"]["content"]
    assert strategic not in websites["patch"]["requestBody"]["content"]


def test_a_scale_is_read_and_written_as_a_scale(openapi: OpenAPI) -> None:
    paths = get(openapi, "/openapi/v3/apis/apps/v1")["paths"]
    scale = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
    assert set(scale) == {"get", "put", "patch", "parameters"}
    assert next(references(scale["put"]["requestBody"])).endswith("io.k8s.api.autoscaling.v1.Scale")


def test_kinds_refer_to_the_definitions_of_their_parts(openapi: OpenAPI) -> None:
    schemas = get(openapi, "/openapi/v3/apis/apps/v1")["components"]["schemas"]
    deployment = schemas["io.k8s.api.apps.v1.Deployment"]
    assert list(references(deployment["properties"]["spec"])) == [
        "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"
    ]
    kind = {"group": "apps", "kind": "Deployment", "version": "v1"}
    assert deployment["x-kubernetes-group-version-kind"] == [kind]
    assert "io.k8s.api.core.v1.Container" in schemas


def test_a_class_that_contains_itself_refers_to_itself(openapi: OpenAPI) -> None:
    name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
    schemas = get(openapi, "/openapi/v3/apis/apiextensions.k8s.io/v1")["components"]["schemas"]
    assert f"#/components/schemas/{name}" in references(schemas[name])


def test_a_custom_kind_is_described_by_its_schema_and_what_every_object_has(openapi: OpenAPI) -> None:
    schemas = get(openapi, "/openapi/v3/apis/demo.windvane.dev/v1alpha1")["components"]["schemas"]
    found = schemas[WEBSITE]
    assert found["properties"]["spec"]["properties"]["image"] == {"type": "string", "default": "x"}
    assert found["properties"]["apiVersion"]["type"] == "string"
    assert next(references(found["properties"]["metadata"])).endswith("ObjectMeta")
    assert found["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.image"}]
    items = schemas[f"{WEBSITE}List"]["properties"]["items"]
    assert items == {"type": "array", "items": {"$ref": f"#/components/schemas/{WEBSITE}"}}


def test_what_a_structural_schema_leaves_unsaid_is_said(openapi: OpenAPI) -> None:
    schemas = get(openapi, "/openapi/v3/apis/demo.windvane.dev/v1alpha1")["components"]["schemas"]
    spec = schemas[WEBSITE]["properties"]["spec"]["properties"]
    assert spec["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert set(spec["child"]["properties"]) == {"apiVersion", "kind", "metadata"}


def test_the_older_document_leaves_out_what_it_can_not_say(openapi: OpenAPI) -> None:
    spec = get(openapi, "/openapi/v2")["definitions"][WEBSITE]["properties"]["spec"]["properties"]
    assert spec["image"] == {"type": "string"}
    assert spec["port"] == {"x-kubernetes-int-or-string": True}
    assert spec["size"] == {}


def test_quantities_are_strings_in_the_older_document(openapi: OpenAPI) -> None:
    definitions = get(openapi, "/openapi/v2")["definitions"]
    assert definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"


def test_fields_are_described_in_kubernetes_own_words(openapi: OpenAPI) -> None:
    schemas = get(openapi, "/openapi/v3/api/v1")["components"]["schemas"]
    assert schemas["io.k8s.api.core.v1.Container"]["properties"]["image"]["description"]
    assert "required" not in schemas["io.k8s.api.core.v1.Pod"]


def test_a_checkout_that_is_not_installed_has_no_descriptions(
    openapi: OpenAPI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(documentation, "FILE", tmp_path / "none.json.z")
    documentation.documentation.cache_clear()
    try:
        schemas = get(openapi, "/openapi/v3/api/v1")["components"]["schemas"]
        assert schemas["io.k8s.api.core.v1.Container"]["properties"]["image"] == {"type": "string"}
    finally:
        documentation.documentation.cache_clear()
