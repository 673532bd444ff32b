"""A real API server serves the kinds of `windvane.k8s` as they say, and reads and writes them as they do."""

import ssl
from collections import defaultdict
from http.client import HTTPSConnection
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reference.controlplane import ReferenceControlPlane
from unit.k8s.builtin import KINDS, full_name
from unit.k8s.instances import structs
from windvane.api import codec
from windvane.api.kind import Kind
from windvane.api.resource import Object, kind_of, object_from_wire, object_to_wire
from windvane.k8s import authentication, autoscaling, core, policy, storagemigration

# What subresources read and write: pods/eviction, deployments/scale, serviceaccounts/token.
WITHOUT_RESOURCE: list[type[Object]] = [authentication.TokenRequest, autoscaling.Scale, policy.Eviction]
# What a server has only if it is told to.
NOT_SERVED: list[type[Object]] = [storagemigration.StorageVersionMigration]
WITH_RESOURCE = [kind for kind in KINDS if kind not in (*WITHOUT_RESOURCE, *NOT_SERVED)]
UNREADABLE = "cannot be handled as"


@pytest.fixture(scope="module")
def served(reference: ReferenceControlPlane) -> dict[tuple[str, str], Kind]:
    """What the server serves in the groups that windvane has models of, by apiVersion and name."""
    kinds = [kind_of(each) for each in WITH_RESOURCE]
    roots = {each.collection_path().removesuffix(f"/{each.plural}") for each in kinds}
    found = [each for root in roots for each in kinds_in(reference.get(root).json())]
    return {(each.api_version, each.name): each for each in found}


@pytest.mark.parametrize("kind", WITH_RESOURCE, ids=full_name)
def test_a_kind_is_served_as_its_class_says(kind: type[Object], served: dict[tuple[str, str], Kind]) -> None:
    ours = kind_of(kind)
    assert ours == served[ours.api_version, ours.name]


def test_no_kind_that_is_served_is_missing(served: dict[tuple[str, str], Kind]) -> None:
    assert served.keys() == {(kind_of(each).api_version, kind_of(each).name) for each in WITH_RESOURCE}


@pytest.mark.parametrize("kind", WITHOUT_RESOURCE, ids=full_name)
def test_a_kind_without_a_resource_is_one_of_subresources(kind: type[Object], reference: ReferenceControlPlane) -> None:
    of_core, of_apps = reference.get("/api/v1").json(), reference.get("/apis/apps/v1").json()
    ours = kind_of(kind)
    assert any(
        "/" in each["name"]
        and (each.get("group"), each.get("version"), each["kind"]) == (ours.group, ours.version, ours.name)
        for each in of_core["resources"] + of_apps["resources"]
    )


@pytest.mark.parametrize("kind", WITH_RESOURCE, ids=full_name)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data())
def test_the_server_can_read_whatever_a_class_can_say(
    kind: type[Object], reference: ReferenceControlPlane, data: st.DataObject
) -> None:
    wire = object_to_wire(data.draw(structs(kind))) | {"metadata": {"name": "a"}}
    # Almost all of them are invalid, some forbidden; what counts is that no field is unknown or of a wrong type.
    assert UNREADABLE not in message_of_a_dry_run(reference, kind_of(kind), wire)


def test_the_server_tells_what_it_can_not_read(reference: ReferenceControlPlane) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    unknown, wrong = pod | {"spec": {"containerz": []}}, pod | {"spec": {"containers": "none"}}
    assert UNREADABLE in message_of_a_dry_run(reference, kind_of(core.Pod), unknown)
    assert UNREADABLE in message_of_a_dry_run(reference, kind_of(core.Pod), wrong)


def test_whatever_the_server_holds_comes_back_as_it_is(reference: ReferenceControlPlane) -> None:
    reference.kubectl("create", "deployment", "comes-back", "--image=x", "--port=80")
    read = 0
    for kind in WITH_RESOURCE:
        items = reference.get(kind_of(kind).collection_path()).json().get("items", ())
        for item in items:
            back = object_to_wire(object_from_wire(item, kind))
            head = {"apiVersion": kind_of(kind).api_version, "kind": kind.__name__}
            assert without_empty(back) == without_empty(head | item)
            assert codec.encode(codec.decode(msgspec.json.encode(item), kind)) == codec.encode(
                object_from_wire(item, kind)
            )
            read += 1
    assert read > 100


def without_empty(wire: Any) -> Any:
    """Without nulls and without empty lists and maps, which Go writes for what was never set."""
    if isinstance(wire, dict):
        return {key: without_empty(value) for key, value in wire.items() if value not in (None, [], {})}
    return [without_empty(item) for item in wire] if isinstance(wire, list) else wire


def message_of_a_dry_run(reference: ReferenceControlPlane, kind: Kind, wire: dict[str, Any]) -> str:
    """What the server says to an object that it would create, if it refuses."""
    path = kind.collection_path("default" if kind.namespaced else "")
    trust = ssl.create_default_context(cafile=reference.ca_file)
    connection = HTTPSConnection(reference.url.removeprefix("https://"), context=trust)
    headers = {"Authorization": f"Bearer {reference.admin_token}", "Content-Type": "application/json"}
    connection.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", codec.encode(wire), headers)
    answer = msgspec.json.decode(connection.getresponse().read())
    connection.close()
    return str(answer.get("message", ""))


def kinds_in(discovery: dict[str, Any]) -> list[Kind]:
    """The kinds that a group's discovery document lists."""
    group, _, version = discovery["groupVersion"].rpartition("/")
    subresources = defaultdict(list)
    for each in discovery["resources"]:
        plural, _, subresource = each["name"].partition("/")
        if subresource:
            subresources[plural].append(subresource)
    return [
        Kind(
            group=group,
            version=version,
            name=each["kind"],
            plural=each["name"],
            singular=each["singularName"],
            namespaced=each["namespaced"],
            short_names=tuple(each.get("shortNames", ())),
            categories=tuple(each.get("categories", ())),
            subresources=tuple(sorted(subresources[each["name"]])),
        )
        for each in discovery["resources"]
        if "/" not in each["name"]
    ]
