"""The embedded server describes its API as a real API server does, in all that both of them serve."""

import json
import ssl
from collections.abc import Iterator
from http.client import HTTPSConnection
from typing import Any
from urllib.parse import quote

import pytest

from reference.controlplane import ReferenceControlPlane
from reference.served import serve
from windvane import Resource, Struct
from windvane.api.custom_resources.schema import schema
from windvane.api.kind import Kind
from windvane.api.resource import ScaleSubresource, kind_of
from windvane.cluster.apiserver import discovery
from windvane.cluster.apiserver.health import answer
from windvane.cluster.apiserver.openapi.documents import PROTOBUF, OpenAPI
from windvane.cluster.apiserver.openapi.protobuf import write_document
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.version import version

# What needs features that the embedded server doesn't have.
WITHOUT_PARAMETERS = {"shardSelector", "ignoreStoreReadErrorWithClusterBreakingPotential"}
WITHOUT_FIELDS = {("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", "shardInfo")}


class KioskSpec(Struct):
    size: int = 1
    color: str = ""


class KioskStatus(Struct):
    replicas: int = 0


class KioskV1alpha1(
    Resource[KioskSpec, KioskStatus],
    group="documents.windvane.dev",
    version="v1alpha1",
    kind="Kiosk",
    short_names=("ki",),
    categories=("all",),
    scale=ScaleSubresource(replicas=".spec.size"),
    selectable=(".spec.color",),
    stored=False,
):
    """A small shop."""


class KioskV1(
    Resource[KioskSpec, KioskStatus],
    group="documents.windvane.dev",
    version="v1",
    kind="Kiosk",
    short_names=("ki",),
    categories=("all",),
    subresources=("status",),
):
    """A small shop with a roof: the server wants no two versions with selectable fields and the same schema."""


class Asker:
    """GET over one connection, for tests that ask a thousand things."""

    def __init__(self, reference: ReferenceControlPlane) -> None:
        trust = ssl.create_default_context(cafile=reference.ca_file)
        self._connection = HTTPSConnection(reference.url.removeprefix("https://"), context=trust)
        self._token = reference.admin_token

    def get(self, path: str, accept: str = "application/json") -> tuple[int, str, bytes]:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": accept}
        self._connection.request("GET", path, headers=headers)
        response = self._connection.getresponse()
        return response.status, response.getheader("Content-Type", ""), response.read()

    def json(self, path: str, accept: str = "application/json") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get(path, accept)[2])
        return found

    def describes(self, kind: Kind) -> bool:
        groups = {group["metadata"]["name"]: group for group in self.json("/apis", discovery.AGGREGATED)["items"]}
        return kind.version in [each["version"] for each in groups.get(kind.group, {"versions": ()})["versions"]]

    def lists(self, kind: Kind) -> bool:
        groups = {group["name"]: group for group in self.json("/apis")["groups"]}
        return kind.version in [each["version"] for each in groups.get(kind.group, {"versions": ()})["versions"]]

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def real(reference: ReferenceControlPlane) -> Iterator[Asker]:
    asker = Asker(reference)
    yield asker
    asker.close()


@pytest.fixture(scope="module")
def catalog(reference: ReferenceControlPlane, real: Asker) -> Catalog:
    serve(reference, KioskV1, KioskV1alpha1)
    catalog = Catalog()
    catalog.add(builtin_types())
    for cls, selectable in ((KioskV1, ()), (KioskV1alpha1, ("spec.color",))):
        kind = kind_of(cls)
        version = {"selectableFields": [{"jsonPath": f".{path}"} for path in selectable]}
        catalog.add([ResourceType(CustomStrategy(kind, schema(cls), version), storage_version="v1")])
        # The real server describes a new kind somewhat later than it serves it, in one document after the other.
        while f"apis/{kind.api_version}" not in real.json("/openapi/v3")["paths"]:
            continue
        while not real.describes(kind) or not real.lists(kind):
            continue
    return catalog


def group_versions(catalog: Catalog) -> list[tuple[str, str]]:
    return [(group, v) for group in discovery.groups_of(catalog) for v in discovery.versions_of(catalog, group)]


def path_of(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


@pytest.mark.parametrize("root", ["/api", "/apis"])
def test_the_one_document_is_the_same(real: Asker, catalog: Catalog, root: str) -> None:
    ours = discovery.document(catalog, root, discovery.AGGREGATED)
    theirs = real.json(root, discovery.AGGREGATED)
    known = discovery.groups_of(catalog)  # other tests have kinds of their own
    theirs["items"] = [group for group in theirs["items"] if group["metadata"].get("name", "") in known]
    assert ours == theirs


@pytest.mark.parametrize("stage", ["v2", "v2beta1"])
def test_both_know_the_same_forms_of_the_one_document(real: Asker, catalog: Catalog, stage: str) -> None:
    accept = f"{discovery.AGGREGATED.replace('v=v2;', f'v={stage};')},application/json"
    ours = discovery.document(catalog, "/apis", accept)
    assert ours is not None
    assert real.get("/apis", accept)[1] == discovery.content_type(ours)


def test_the_list_of_groups_is_the_same(real: Asker, catalog: Catalog) -> None:
    ours = discovery.document(catalog, "/apis", "")
    theirs = real.json("/apis")
    known = discovery.groups_of(catalog)
    theirs["groups"] = [each for each in theirs["groups"] if each["name"] in known]
    assert ours == theirs


def test_the_documents_of_each_group_are_the_same(real: Asker, catalog: Catalog) -> None:
    for group in discovery.groups_of(catalog):
        if group:
            assert discovery.document(catalog, f"/apis/{group}", "") == real.json(f"/apis/{group}")


def test_the_documents_of_each_version_are_the_same(real: Asker, catalog: Catalog) -> None:
    for group, each in group_versions(catalog):
        path = f"/{path_of(group, each)}"
        assert without_hashes(discovery.document(catalog, path, "")) == without_hashes(real.json(path))


def without_hashes(document: Any) -> Any:
    resources = [
        {key: value for key, value in resource.items() if key != "storageVersionHash"}
        | {"stored": "storageVersionHash" in resource}
        for resource in document["resources"]
    ]
    return document | {"resources": resources}


def test_both_say_the_same_about_where_they_can_be_reached(real: Asker, catalog: Catalog) -> None:
    theirs = real.json("/api")
    address = theirs["serverAddressByClientCIDRs"][0]["serverAddress"]
    assert discovery.document(catalog, "/api", "", address=address) == theirs


def test_both_are_the_same_version_of_kubernetes(real: Asker) -> None:
    theirs, ours = real.json("/version"), version()
    assert ours.keys() == theirs.keys()
    assert (ours["major"], ours["minor"]) == (theirs["major"], theirs["minor"])
    assert ours["gitVersion"].partition("+")[0] == theirs["gitVersion"]


def test_the_same_fields_can_be_selected(real: Asker, catalog: Catalog) -> None:
    listed = [each for each in catalog.types.values() if "list" in each.strategy.verbs and each.strategy.is_routed]
    fields = sorted({field for each in listed for field in each.strategy.selectable_fields})
    for each in listed:
        path = each.kind.collection_path()
        accepted = [f for f in fields if real.get(f"{path}?fieldSelector={quote(f'{f}=x')}&limit=1")[0] == 200]
        assert accepted == sorted(each.strategy.selectable_fields), path


def test_every_operation_is_described_as_the_real_one(real: Asker, catalog: Catalog) -> None:
    openapi = OpenAPI(catalog)
    for group, each in group_versions(catalog):
        ours, theirs = documents(openapi, real, path_of(group, each))
        for path, item in ours["paths"].items():
            for method in item.keys() - {"parameters"}:
                described = operation(theirs["paths"][path], method)
                described["parameters"] -= WITHOUT_PARAMETERS
                assert operation(item, method) == described, f"{method} {path}"


def operation(item: dict[str, Any], method: str) -> dict[str, Any]:
    """What matters about an operation: not its description, nor protobuf, nor where its parameters are listed."""
    found = item[method]
    body = found.get("requestBody", {})
    return {
        "id": found["operationId"],
        "action": found["x-kubernetes-action"],
        "kind": found["x-kubernetes-group-version-kind"],
        "tags": found["tags"],
        "parameters": {each["name"] for each in (*found.get("parameters", ()), *item["parameters"])},
        "body": next((each for each in body.get("content", {}).values()), None),
        "required": body.get("required", False),
        "answers": {
            code: answered.get("content", {}).get("application/json") for code, answered in found["responses"].items()
        },
    }


def documents(openapi: OpenAPI, real: Asker, path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    ours = openapi.answer(f"/openapi/v3/{path}", [], "application/json")
    assert ours is not None
    return json.loads(ours.body), real.json(f"/openapi/v3/{path}")


def test_nothing_that_can_be_asked_is_left_out_but_streams(real: Asker, catalog: Catalog) -> None:
    openapi = OpenAPI(catalog)
    for group, each in group_versions(catalog):
        ours, theirs = documents(openapi, real, path_of(group, each))
        missing = {
            (method, path)
            for path, item in theirs["paths"].items()
            for method in item.keys() - {"parameters"}
            if method not in ours["paths"].get(path, {})
            and item[method].get("x-kubernetes-action") not in (None, "connect", "watch", "watchlist")
        }
        assert missing == set()


def test_every_field_of_every_kind_is_described(real: Asker, catalog: Catalog) -> None:
    openapi = OpenAPI(catalog)
    for group, each in group_versions(catalog):
        ours, theirs = documents(openapi, real, path_of(group, each))
        described = theirs["components"]["schemas"]
        for name, definition in ours["components"]["schemas"].items():
            if name in described:
                assert fields_of(name, definition) == fields_of(name, described[name]), name


def fields_of(name: str, definition: dict[str, Any]) -> dict[str, Any]:
    """The fields of a definition, the types that `kubectl explain` prints for them, and which are required."""
    required = definition.get("required", ())
    return {
        field: (shape(inner), field in required)
        for field, inner in definition.get("properties", {}).items()
        if (name, field) not in WITHOUT_FIELDS
    }


def shape(part: dict[str, Any]) -> str:
    if "allOf" in part:
        return shape(part["allOf"][0])
    if "$ref" in part:
        return str(part["$ref"])
    if "items" in part:
        return f"[]{shape(part['items'])}"
    if isinstance(part.get("additionalProperties"), dict):
        return f"map of {shape(part['additionalProperties'])}"
    return str(part.get("type"))


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
@pytest.mark.parametrize("query", ["", "verbose", "verbose&exclude=ping", "verbose&exclude=nope&exclude=bad"])
def test_health_is_told_in_the_same_words(real: Asker, endpoint: str, query: str) -> None:
    code, content_type, body = real.get(f"/{endpoint}?{query}")
    listed = real.get(f"/{endpoint}?verbose")[2].decode().splitlines()[:-1]
    checks = {line.removeprefix("[+]").removesuffix(" ok"): lambda: None for line in listed}
    pairs = [(key, value) for key, _, value in (each.partition("=") for each in query.split("&"))]
    ours = answer(f"/{endpoint}", pairs, checks)
    assert ours is not None
    assert (ours.code, ours.content_type, ours.body) == (code, content_type, body)


@pytest.mark.parametrize("path", ["/livez/ping", "/livez/nope", "/livez/"])
def test_single_checks_are_told_in_the_same_words(real: Asker, path: str) -> None:
    code, content_type, body = real.get(path)
    ours = answer(path, [], {"ping": lambda: None})
    assert ours is not None
    assert (ours.code, ours.content_type, ours.body) == (code, content_type, body)


def test_the_document_of_version_2_is_the_same_in_protobuf(real: Asker) -> None:
    document = real.json("/openapi/v2")
    ours, theirs = write_document(document), real.get("/openapi/v2", PROTOBUF)[2]
    assert described(ours) == described(theirs)
    assert len(described(ours)) > 500


def described(document: bytes) -> dict[str, bytes]:
    """What a document in protobuf says about each path and each schema that other tests leave alone."""
    found = {}
    for entries in fields(document, of=(8, 9)):
        for entry in fields(entries, of=(1, 2)):
            name, content = fields(entry, of=(1, 2))
            if name.startswith((b"io.k8s.", b"/api/v1/", b"/apis/apps/")):
                found[name.decode()] = content
    return found


def fields(message: bytes, of: tuple[int, ...]) -> list[bytes]:
    """The contents of the fields that have one of these numbers; all others must be texts or messages, too."""
    found, at = [], 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        place, length = number() >> 3, number()
        if place in of:
            found.append(message[at : at + length])
        at += length
    return found
