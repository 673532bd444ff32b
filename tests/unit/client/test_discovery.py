"""Discovery: the newer and the older documents tell of the same kinds."""

from typing import Any

import pytest

from unit.client.fakes import Answer, ScriptedTransport, answer, refusal
from windvane.api.kind import Kind
from windvane.client.client import Client
from windvane.client.errors import Forbidden, Unreadable

PODS = Kind(
    group="",
    version="v1",
    name="Pod",
    plural="pods",
    namespaced=True,
    singular="pod",
    short_names=("po",),
    categories=("all",),
    subresources=("eviction", "log", "status"),
)
NODES = Kind(
    group="", version="v1", name="Node", plural="nodes", namespaced=False, singular="node", subresources=("proxy",)
)
WIDGETS = Kind(group="acme.io", version="v1", name="Widget", plural="widgets", singular="widget")
OLD_WIDGETS = Kind(group="acme.io", version="v1beta1", name="Widget", plural="widgets", singular="widget")
GADGETS = Kind(group="zoo.io", version="v1", name="Gadget", plural="gadgets", namespaced=False, singular="gadget")
ALL = [PODS, NODES, WIDGETS, OLD_WIDGETS, GADGETS]


def aggregated(kind: Kind) -> dict[str, Any]:
    described = {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.name},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": ["get", "list"],
        "shortNames": [*kind.short_names],
        "categories": [*kind.categories],
        # Not in the order of the alphabet, as a server may do.
        "subresources": [{"subresource": name, "verbs": ["get"]} for name in reversed(kind.subresources)],
    }
    return {key: value for key, value in described.items() if value}


def aggregated_list(*groups: tuple[str, dict[str, list[dict[str, Any]]]]) -> Answer:
    items = [
        {
            "metadata": {"name": group, "creationTimestamp": None},
            "versions": [
                {"version": version, "resources": resources, "freshness": "Current"}
                for version, resources in versions.items()
            ],
        }
        for group, versions in groups
    ]
    return answer({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items})


def legacy(*kinds: Kind) -> Answer:
    resources: list[dict[str, Any]] = []
    for kind in kinds:
        described = {
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.name,
            "verbs": ["get", "list"],
            "storageVersionHash": "xyz",
        }
        more = {"shortNames": [*kind.short_names], "categories": [*kind.categories]}
        resources.append(described | {key: value for key, value in more.items() if value})
        resources += [
            {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced, "kind": "Other"}
            for name in reversed(kind.subresources)
        ]
    return answer({"kind": "APIResourceList", "groupVersion": kinds[0].api_version, "resources": resources})


def legacy_group(name: str, *versions: str) -> dict[str, Any]:
    described = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": described, "preferredVersion": described[0]}


CORE = answer({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
GROUPS = answer(
    {"kind": "APIGroupList", "groups": [legacy_group("acme.io", "v1", "v1beta1"), legacy_group("zoo.io", "v1")]}
)


async def test_kinds_with_which_something_can_not_be_done_are_left_out_of_the_newer_documents() -> None:
    watched = aggregated(PODS) | {"verbs": ["get", "list", "watch"]}
    transport = ScriptedTransport(aggregated_list(("", {"v1": [watched, aggregated(NODES)]})), aggregated_list())
    assert await Client(transport).discover(verbs=["list", "watch"]) == [PODS]


async def test_kinds_with_which_something_can_not_be_done_are_left_out_of_the_older_documents() -> None:
    transport = ScriptedTransport(CORE, legacy(PODS, NODES), answer({"kind": "APIGroupList", "groups": []}))
    assert await Client(transport).discover(verbs=["list", "watch"]) == []


async def test_the_newer_documents_name_all_kinds() -> None:
    transport = ScriptedTransport(
        aggregated_list(("", {"v1": [aggregated(PODS), aggregated(NODES)]})),
        aggregated_list(
            ("acme.io", {"v1": [aggregated(WIDGETS)], "v1beta1": [aggregated(OLD_WIDGETS)]}),
            ("zoo.io", {"v1": [aggregated(GADGETS)]}),
        ),
    )
    assert await Client(transport).discover() == ALL
    assert [request.path for request in transport.requests] == ["/api", "/apis"]


async def test_the_older_documents_name_the_same_kinds() -> None:
    transport = ScriptedTransport(
        CORE, legacy(PODS, NODES), GROUPS, legacy(WIDGETS), legacy(OLD_WIDGETS), legacy(GADGETS)
    )
    assert await Client(transport).discover() == ALL
    assert [request.path for request in transport.requests] == [
        "/api",
        "/api/v1",
        "/apis",
        "/apis/acme.io/v1",
        "/apis/acme.io/v1beta1",
        "/apis/zoo.io/v1",
    ]


async def test_one_api_whose_server_is_down_does_not_hide_the_others(caplog: pytest.LogCaptureFixture) -> None:
    transport = ScriptedTransport(
        CORE, legacy(PODS), GROUPS, legacy(WIDGETS), refusal(404, "NotFound"), legacy(GADGETS)
    )
    assert await Client(transport).discover() == [PODS, WIDGETS, GADGETS]
    assert "discovery leaves out acme.io/v1beta1" in caplog.text


async def test_the_newer_document_is_asked_for_and_the_older_is_good_enough() -> None:
    transport = ScriptedTransport(aggregated_list(), aggregated_list())
    await Client(transport).discover()
    newer, older = transport.requests[0].headers["Accept"].split(",")
    assert newer == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert older == "application/json"


async def test_a_server_may_know_the_newer_document_for_some_and_the_older_for_others() -> None:
    transport = ScriptedTransport(
        aggregated_list(("", {"v1": [aggregated(PODS)]})),
        answer({"kind": "APIGroupList", "groups": [legacy_group("zoo.io", "v1")]}),
        legacy(GADGETS),
    )
    assert await Client(transport).discover() == [PODS, GADGETS]


async def test_a_resource_that_only_carries_subresources_is_no_kind() -> None:
    carrier = {"resource": "carriers", "scope": "Namespaced", "subresources": [{"subresource": "log"}]}
    unnamed = {**carrier, "responseKind": {"group": "", "version": "", "kind": ""}}
    transport = ScriptedTransport(aggregated_list(("", {"v1": [carrier, unnamed]})), aggregated_list())
    assert await Client(transport).discover() == []


@pytest.mark.parametrize("nothing", [[], None])
async def test_a_version_without_resources_has_no_kinds(nothing: list[str] | None) -> None:
    empty = answer({"kind": "APIResourceList", "groupVersion": "v1", "resources": nothing})
    transport = ScriptedTransport(CORE, empty, answer({"kind": "APIGroupList", "groups": nothing}))
    assert await Client(transport).discover() == []


async def test_a_plural_that_begins_another_does_not_take_its_subresources() -> None:
    short = Kind(group="", version="v1", name="Pod", plural="pod", singular="x")
    transport = ScriptedTransport(CORE, legacy(short, PODS), aggregated_list())
    assert await Client(transport).discover() == [short, PODS]


async def test_a_refusal_is_raised_as_what_it_is() -> None:
    with pytest.raises(Forbidden):
        await Client(ScriptedTransport(refusal(403, "Forbidden"))).discover()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"", b"{}", b'{"kind": "\xff"}'])
async def test_what_is_no_discovery_document_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable, match="GET /api: not what a Kubernetes API server answers"):
        await Client(ScriptedTransport(Answer(200, [body]))).discover()


async def test_the_version_is_the_servers_own() -> None:
    transport = ScriptedTransport(answer({"major": "1", "minor": "36", "gitVersion": "v1.36.3", "emulationMajor": "1"}))
    version = await Client(transport).version()
    assert (version.git_version, version.major, version.minor) == ("v1.36.3", "1", "36")
    assert str(transport.requests[0]) == "GET /version"


async def test_a_version_that_is_none_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="GET /version"):
        await Client(ScriptedTransport(answer({"version": "2"}))).version()
