"""Tables of the real server beside ours: for every built-in kind, and for a custom one, from the same objects."""

import base64
import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from reference.controlplane import ReferenceControlPlane
from reference.gadgets import COLUMNS, DEFINITIONS, GADGETS
from reference.table_objects import OBJECTS, JSONObject, thing
from windvane import Kind, ambient
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.pipeline.table import table
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_type, builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.k8s import apps, autoscaling, core

AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

NAMESPACE = "tables"

# tests/conformance/test_migrations.py looks at those that a server has only if it is told to.
TYPES = {type_.kind: type_ for type_ in map(builtin_type, builtin_models())}
SERVED = {type_.kind for type_ in builtin_types() if "list" in type_.strategy.verbs}
KINDS = {(kind.api_version, kind.name): kind for kind in TYPES if kind in SERVED}

# What the real server shows of the custom kinds; the broken one has a path in it that can't be read.
SHOWN = {"Gadget": [each["name"] for each in COLUMNS], "Plain": ["Age"], "Broken": ["Good"]}


class At(ambient.Reality):
    """The world at one moment."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment


class Server:
    """Asks the real server, and says what it answers."""

    def __init__(self, reference: ReferenceControlPlane) -> None:
        trust = ssl.create_default_context(cafile=reference.ca_file)
        self._connection = http.client.HTTPSConnection(
            reference.url.removeprefix("https://"), timeout=60, context=trust
        )
        self._headers = {"Authorization": f"Bearer {reference.admin_token}", "Content-Type": "application/json"}

    def ask(
        self, method: str, path: str, body: JSONObject | None = None, *, until_served: bool = False, **headers: str
    ) -> Any:
        sent = json.dumps(body) if body is not None else None
        while True:
            self._connection.request(method, path, body=sent, headers=self._headers | headers)
            response = self._connection.getresponse()
            answer = json.loads(response.read())
            # A new kind is served a moment after its CRD was created, and listed another moment later.
            if response.status not in (404, 429) or not until_served:
                break
        assert response.status < 300, f"{method} {path}: {answer.get('message')}"
        return answer

    def table(self, path: str, include: str = "Object") -> Any:
        return self.ask("GET", f"{path}?includeObject={include}", Accept=AS_TABLE)

    def make(self, wanted: JSONObject, kind: Kind, namespace: str) -> None:
        """Create an object, write its status, and delete it if it is to be seen like that."""
        where = namespace if kind.namespaced else ""
        metadata = {key: value for key, value in wanted["metadata"].items() if key != "deletionTimestamp"}
        made = self.ask("POST", kind.collection_path(where), {**wanted, "metadata": metadata})
        path = kind.path(metadata["name"], where)
        if status := wanted.get("status"):
            decided = {"Approved", "Denied"} & {each["type"] for each in status.get("conditions") or ()}
            self.ask("PUT", f"{path}/{'approval' if decided else 'status'}", made | {"status": status})
        if "deletionTimestamp" in wanted["metadata"]:
            self.ask("DELETE", path)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of these tests' own: their hooks, policies and schemas are nothing that other tests should meet."""
    with ReferenceControlPlane() as reference, closing(Server(reference)) as server:
        yield server


@pytest.fixture(scope="module")
def populated(server: Server) -> str:
    """A namespace with objects of every kind."""
    populate(server, [*OBJECTS, *DEFINITIONS, *signing_requests()])
    return NAMESPACE


def populate(server: Server, wanted: list[JSONObject]) -> None:
    """Make all these objects, in our namespace where they need one."""
    server.ask("POST", "/api/v1/namespaces", thing("v1", "Namespace", NAMESPACE))
    for each in wanted:
        server.make(each, KINDS[each["apiVersion"], each["kind"]], NAMESPACE)


def signing_requests() -> list[JSONObject]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ann")])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    spec = {
        "request": base64.b64encode(request.public_bytes(Encoding.PEM)).decode(),
        "signerName": "example.com/signer",
        "usages": ["client auth"],
    }
    kind = ("certificates.k8s.io/v1", "CertificateSigningRequest")
    outcomes = [
        thing(*kind, f"tables-{outcome.lower()}", {"conditions": [{"type": outcome, "status": "True"}]}, spec=spec)
        for outcome in ("Approved", "Denied", "Failed")
    ]
    return [thing(*kind, "tables-pending", spec={**spec, "expirationSeconds": 864000}), *outcomes]


def compare(server: Server, type_: ResourceType, path: str) -> JSONObject:
    """Assert that our table of the objects is the real one; return that. Ages may be of just before or just after."""
    while True:
        before = ambient.now()
        real: JSONObject = server.table(path)
        after = ambient.now()
        if after - before < timedelta(seconds=1):  # else there are ages between these
            break
    earlier, later = (made_at(moment, type_, real["rows"]) for moment in (before, after))
    assert without_descriptions(later | {"metadata": real["metadata"]}) == without_descriptions(real)
    for ours, theirs in zip(later["columnDefinitions"], real["columnDefinitions"], strict=True):
        assert ours["description"] in ("", theirs["description"])  # some are sentences of the real server's own
    for row, ours, ours_later in zip(real["rows"], earlier["rows"], later["rows"], strict=True):
        assert {**row, "cells": len(row["cells"])} == {**ours, "cells": len(ours["cells"])}
        for column, *cells in zip(headed(real), row["cells"], ours["cells"], ours_later["cells"], strict=False):
            shown, *possible = [(type(cell), cell) for cell in cells]
            assert shown in possible, f"{column} of {row['object']['metadata']['name']}"
    return real


def made_at(moment: datetime, type_: ResourceType, rows: list[JSONObject]) -> JSONObject:
    """Our table of the objects in these rows."""
    # In the reverse order where the real server has its own: ours must find it.
    objects = [row["object"] for row in rows][:: -1 if type_.kind.name == "FlowSchema" else 1]
    with ambient.use(At(moment)):
        return table(type_, objects, list_meta={}, include_object="Object")


def headed(table: JSONObject) -> list[str]:
    return [column["name"] for column in table["columnDefinitions"]] + ["(no head)"]


def without_descriptions(table: JSONObject) -> JSONObject:
    """All of a table but its rows and the words, some of which we don't have."""
    definitions = [{key: each[key] for key in each if key != "description"} for each in table["columnDefinitions"]]
    return {**table, "columnDefinitions": definitions, "rows": len(table["rows"] or ())}


def builtin(kind: Kind) -> ResourceType:
    return TYPES[kind]


@pytest.mark.parametrize("key", sorted(KINDS), ids=lambda key: f"{key[1]}-{key[0].replace('/', '-')}")
def test_a_built_in_kind_has_the_same_columns_and_cells(server: Server, populated: str, key: tuple[str, str]) -> None:
    kind = KINDS[key]
    real = compare(server, builtin(kind), kind.collection_path(populated if kind.namespaced else ""))
    assert real["rows"], "there is nothing to compare"


@pytest.fixture(scope="module")
def gadgets(server: Server, populated: str) -> str:
    """A namespace with custom objects, the same ones of each custom kind."""
    for definition in DEFINITIONS:
        kind = custom(definition).kind
        for wanted in GADGETS:
            server.ask("POST", kind.collection_path(populated), {**wanted, "kind": kind.name}, until_served=True)
        server.ask("GET", kind.collection_path(populated), until_served=True)
    return populated


def custom(definition: JSONObject) -> ResourceType:
    spec = definition["spec"]
    names, version = spec["names"], spec["versions"][0]
    kind = Kind(group=spec["group"], version=version["name"], name=names["kind"], plural=names["plural"])
    return ResourceType(CustomStrategy(kind, {}, version))


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition["spec"]["names"]["kind"])
def test_a_custom_kind_has_the_same_columns_and_cells(server: Server, gadgets: str, definition: JSONObject) -> None:
    type_ = custom(definition)
    real = compare(server, type_, type_.kind.collection_path(gadgets))
    assert len(real["rows"]) == len(GADGETS)
    assert [each["name"] for each in real["columnDefinitions"][1:]] == SHOWN[type_.kind.name]


@pytest.mark.parametrize("include", ["Metadata", "None", "Object"])
def test_a_row_has_as_much_of_its_object_as_was_asked_for(
    server: Server, populated: str, include: Literal["Metadata", "None", "Object"]
) -> None:
    kind = kind_of(core.ConfigMap)
    path = kind.path("three", populated)
    thing, real = server.ask("GET", path), server.table(path, include)
    ours = table(builtin(kind), [thing], list_meta=real["metadata"], include_object=include)
    assert ours["rows"][0]["object"] == real["rows"][0]["object"]
    assert ours["rows"][0].keys() == real["rows"][0].keys()
    assert real["metadata"] == {"resourceVersion": thing["metadata"]["resourceVersion"]}


@pytest.mark.parametrize("plural", ["pods", "limitranges"])
def test_an_empty_table_looks_the_same(server: Server, populated: str, plural: str) -> None:
    kind = next(kind for kind in KINDS.values() if kind.plural == plural)
    real = server.table(kind.collection_path("kube-public"))
    assert table(builtin(kind), [], list_meta=real["metadata"])["rows"] == real["rows"]


def test_a_scale_has_columns_of_its_own(server: Server, populated: str) -> None:
    path = kind_of(apps.Deployment).path("web", populated, "scale")
    compare(server, builtin(kind_of(autoscaling.Scale)), path)
