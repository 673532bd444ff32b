from typing import Any

import pytest

from windvane.api.kind import Kind
from windvane.cluster.apiserver.discovery import AGGREGATED, content_type, document
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType

KUBECTL = f"{AGGREGATED},application/json"


def website(version: str, *subresources: str) -> ResourceType:
    kind = Kind(
        group="demo.windvane.dev",
        version=version,
        name="Website",
        plural="websites",
        short_names=("web",),
        subresources=subresources,
    )
    return ResourceType(CustomStrategy(kind, {"type": "object"}, {}), storage_version="v1")


@pytest.fixture
def catalog() -> Catalog:
    made = Catalog()
    made.add(builtin_types())
    made.add([website("v1alpha1", "scale", "status"), website("v1"), website("v1beta2"), website("v2")])
    return made


def get(catalog: Catalog, path: str, accept: str = "") -> dict[str, Any]:
    found = document(catalog, path, accept)
    assert found is not None
    return found


def resources(catalog: Catalog, path: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in get(catalog, path)["resources"]}


def test_the_core_group_has_one_version_and_an_address(catalog: Catalog) -> None:
    found = document(catalog, "/api", "", address="127.0.0.1:6443")
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]
    assert found == {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def test_groups_are_listed_in_order_of_priority_and_custom_ones_last(catalog: Catalog) -> None:
    names = [group["name"] for group in get(catalog, "/apis")["groups"]]
    assert names[:3] == ["apiregistration.k8s.io", "apps", "events.k8s.io"]
    assert names[-1] == "demo.windvane.dev"
    assert "" not in names


def test_the_newest_stable_version_is_preferred(catalog: Catalog) -> None:
    group = get(catalog, "/apis/demo.windvane.dev")
    assert [each["version"] for each in group["versions"]] == ["v2", "v1", "v1beta2", "v1alpha1"]
    assert group["preferredVersion"] == {"groupVersion": "demo.windvane.dev/v2", "version": "v2"}


def test_a_version_lists_its_kinds_with_their_names(catalog: Catalog) -> None:
    deployments = resources(catalog, "/apis/apps/v1")["deployments"]
    assert deployments["kind"] == "Deployment"
    assert deployments["singularName"] == "deployment"
    assert deployments["shortNames"] == ["deploy"]
    assert deployments["categories"] == ["all"]
    assert "watch" in deployments["verbs"]


def test_subresources_follow_their_kind(catalog: Catalog) -> None:
    names = list(resources(catalog, "/apis/apps/v1"))
    start = names.index("deployments")
    assert names[start : start + 3] == ["deployments", "deployments/scale", "deployments/status"]


@pytest.mark.parametrize(
    ("name", "kind", "verbs"),
    [
        ("pods/eviction", ("policy", "v1", "Eviction"), ["create"]),
        ("pods/exec", (None, None, "PodExecOptions"), ["create", "get"]),
        ("pods/log", (None, None, "Pod"), ["get"]),
        ("pods/status", (None, None, "Pod"), ["get", "patch", "update"]),
        ("replicationcontrollers/scale", ("autoscaling", "v1", "Scale"), ["get", "patch", "update"]),
        ("serviceaccounts/token", ("authentication.k8s.io", "v1", "TokenRequest"), ["create"]),
        ("namespaces/finalize", (None, None, "Namespace"), ["update"]),
    ],
)
def test_a_subresource_has_verbs_and_a_kind(
    catalog: Catalog, name: str, kind: tuple[str | None, ...], verbs: list[str]
) -> None:
    found = resources(catalog, "/api/v1")[name]
    assert (found.get("group"), found.get("version"), found["kind"]) == kind
    assert found["verbs"] == verbs


def test_versions_that_are_stored_as_one_have_one_storage_hash(catalog: Catalog) -> None:
    hashes = {
        resources(catalog, f"/apis/demo.windvane.dev/{version}")["websites"]["storageVersionHash"]
        for version in ("v1", "v1alpha1")
    }
    assert len(hashes) == 1


def test_what_is_not_stored_has_no_storage_hash(catalog: Catalog) -> None:
    assert "storageVersionHash" not in resources(catalog, "/api/v1")["bindings"]


def test_everything_is_in_one_document_for_those_who_ask_for_it(catalog: Catalog) -> None:
    found = get(catalog, "/apis", KUBECTL)
    assert found["kind"] == "APIGroupDiscoveryList"
    assert content_type(found) == AGGREGATED
    group = next(each for each in found["items"] if each["metadata"]["name"] == "demo.windvane.dev")
    alpha = group["versions"][-1]["resources"][0]
    assert alpha["responseKind"] == {"group": "demo.windvane.dev", "version": "v1alpha1", "kind": "Website"}
    assert [each["subresource"] for each in alpha["subresources"]] == ["status", "scale"]


def test_the_core_group_has_no_name_in_the_one_document(catalog: Catalog) -> None:
    assert [each["metadata"] for each in get(catalog, "/api", KUBECTL)["items"]] == [{}]


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "application/json",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
    ],
)
def test_others_get_the_older_document(catalog: Catalog, accept: str) -> None:
    found = get(catalog, "/apis", accept)
    assert found["kind"] == "APIGroupList"
    assert content_type(found) == "application/json"


def test_the_order_and_spaces_in_the_accept_header_do_not_matter(catalog: Catalog) -> None:
    accept = "application/json, application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io"
    assert get(catalog, "/apis", accept)["kind"] == "APIGroupDiscoveryList"


@pytest.mark.parametrize("path", ["/apis/nope", "/apis/apps/v7", "/api/v2", "/apis//v1", "/", "/nope", "/apis/a/b/c"])
def test_there_is_no_document_elsewhere(catalog: Catalog, path: str) -> None:
    assert document(catalog, path, KUBECTL) is None


def test_a_slash_at_the_end_changes_nothing(catalog: Catalog) -> None:
    assert get(catalog, "/apis/apps/v1/") == get(catalog, "/apis/apps/v1")


def test_a_kind_that_is_no_longer_served_is_gone_at_once(catalog: Catalog) -> None:
    catalog.remove("demo.windvane.dev", "websites")
    assert document(catalog, "/apis/demo.windvane.dev", "") is None
    assert "demo.windvane.dev" not in [group["name"] for group in get(catalog, "/apis")["groups"]]
