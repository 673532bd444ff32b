"""The client's verbs: which request each one makes, and what it makes of the answer."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from unit.client.fakes import Answer, ScriptedTransport, answer, config_map, refusal
from windvane.api.field_selector import FieldSelector
from windvane.api.kind import Kind
from windvane.api.meta import ManagedFieldsEntry, ObjectMeta
from windvane.api.resource import Dynamic, Object, dynamic
from windvane.api.selector import Selector
from windvane.client.client import Client
from windvane.client.errors import TooManyRequests, Unreadable
from windvane.k8s.apps import Deployment
from windvane.k8s.core import ConfigMap, Namespace, Node, Pod

JSON = "application/json"
MAP = config_map("settings", "7", color="blue")
SUCCESS = {"kind": "Status", "apiVersion": "v1", "status": "Success"}
Widget = dynamic(Kind(group="acme.io", version="v1", name="Widget", plural="widgets", subresources=("status",)))


def talk(*contents: object, namespace: str = "team") -> tuple[Client, ScriptedTransport]:
    """A client whose requests get these answers."""
    transport = ScriptedTransport(*(answer(content) for content in contents))
    return Client(transport, namespace=namespace), transport


def settings(namespace: str = "", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="settings", namespace=namespace), data=data)


# Reading.


async def test_get_asks_for_one_object_and_returns_it_typed() -> None:
    client, transport = talk(MAP)
    found = await client.get(ConfigMap, "settings", namespace="web")
    assert (found.data, found.metadata.resource_version) == ({"color": "blue"}, "7")
    assert str(transport.requests[0]) == "GET /api/v1/namespaces/web/configmaps/settings"
    assert transport.requests[0].query == ()
    assert transport.requests[0].headers["Accept"] == JSON
    assert transport.requests[0].body is None


async def test_get_can_take_what_the_server_has_at_hand() -> None:
    client, transport = talk(MAP)
    await client.get(ConfigMap, "settings", resource_version="0")
    assert transport.query() == {"resourceVersion": "0"}


async def test_a_group_has_its_own_path() -> None:
    client, transport = talk({"kind": "Widget", "apiVersion": "acme.io/v1"})
    await client.get(Widget, "w")
    assert transport.requests[0].path == "/apis/acme.io/v1/namespaces/team/widgets/w"


async def test_one_object_without_a_namespace_is_in_the_clients_own() -> None:
    client, transport = talk(MAP)
    await client.get(ConfigMap, "settings")
    assert transport.requests[0].path == "/api/v1/namespaces/team/configmaps/settings"


async def test_a_cluster_scoped_object_is_in_no_namespace() -> None:
    client, transport = talk({"kind": "Node", "apiVersion": "v1"})
    await client.get(Node, "n1")
    assert transport.requests[0].path == "/api/v1/nodes/n1"


async def test_a_namespace_for_a_cluster_scoped_kind_is_a_mistake() -> None:
    client, transport = talk()
    with pytest.raises(ValueError, match="not namespaced"):
        await client.get(Node, "n1", namespace="web")
    assert transport.requests == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "%2e", "a%2fb"])
async def test_a_name_that_could_mean_another_path_is_never_sent(name: str) -> None:
    client, transport = talk()
    with pytest.raises(ValueError, match="can't be a name"):
        client.pod(name)
    for attempt in (
        client.get(ConfigMap, name),
        client.patch(ConfigMap, name, {}),
        client.delete(ConfigMap, name),
        client.get_scale(Deployment, name),
        client.scale(Deployment, name, 1),
        client.evict(name),
        client.token(name),
    ):
        with pytest.raises(ValueError, match="can't be a name"):
            await attempt
    assert transport.requests == []


@pytest.mark.parametrize("namespace", [".", "..", "a/b", "%2e"])
async def test_a_namespace_that_could_mean_another_path_is_never_sent(namespace: str) -> None:
    client, transport = talk()
    for attempt in (
        client.get(ConfigMap, "a", namespace=namespace),
        client.create(settings(), namespace=namespace),
        client.apply(settings(namespace)),
        client.replace(settings(namespace)),
        client.delete(ConfigMap, "a", namespace=namespace),
        client.delete_collection(ConfigMap, namespace=namespace),
        client.evict("web", namespace=namespace),
        client.token("robot", namespace=namespace),
    ):
        with pytest.raises(ValueError, match="can't be a name"):
            await attempt
    with pytest.raises(ValueError, match="can't be a name"):
        client.list(ConfigMap, namespace=namespace)
    with pytest.raises(ValueError, match="can't be a name"):
        client.watch(ConfigMap, namespace=namespace)
    assert transport.requests == []


async def test_names_of_rbac_keep_their_colons_and_other_characters_are_escaped() -> None:
    client, transport = talk({"kind": "Node", "apiVersion": "v1"})
    await client.get(Node, "system:node é?#")
    assert transport.requests[0].path == "/api/v1/nodes/system:node%20%C3%A9%3F%23"


async def test_many_objects_without_a_namespace_are_those_of_all_namespaces() -> None:
    client, transport = talk({"items": []}, {"items": []})
    await client.list(ConfigMap)
    await client.list(ConfigMap, namespace="web")
    assert [request.path for request in transport.requests] == [
        "/api/v1/configmaps",
        "/api/v1/namespaces/web/configmaps",
    ]


@pytest.mark.parametrize(
    ("labels", "fields", "query"),
    [
        (
            {"app": "web"},
            {"metadata.name": "a=b"},
            {"labelSelector": "app=web", "fieldSelector": r"metadata.name=a\=b"},
        ),
        (Selector.parse("!old"), FieldSelector.parse("a!=b"), {"labelSelector": "!old", "fieldSelector": "a!=b"}),
        ("app in (a,b)", "a=b", {"labelSelector": "app in (a,b)", "fieldSelector": "a=b"}),
        ({}, "", {}),
        (Selector.nothing(), None, {"labelSelector": "nothing,!nothing"}),
    ],
)
async def test_selectors_are_mappings_objects_or_text(labels: Any, fields: Any, query: dict[str, str]) -> None:
    client, transport = talk({"items": []})
    await client.list(ConfigMap, labels=labels, fields=fields, page_size=0)
    assert transport.query() == query


@pytest.mark.parametrize("what", [ConfigMap, Widget])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Log in</html>",
        b"[]",
        b'{"kind": "ConfigMap", "apiVersion": "v1", "metadata": 3}',
        b'{"kind": "Secret", "apiVersion": "v1"}',
        b'{"metadata": {"name": "\xff"}}',
    ],
)
async def test_an_answer_that_is_not_the_object_is_unreadable(what: type[Object], body: bytes) -> None:
    client = Client(ScriptedTransport(Answer(200, [body])))
    with pytest.raises(Unreadable, match=r"GET /api.*/settings: the answer can't be read as (ConfigMap|Widget)"):
        await client.get(what, "settings")


# Creating.


async def test_create_posts_the_object_to_its_collection_and_returns_what_the_server_made_of_it() -> None:
    client, transport = talk(MAP)
    made = await client.create(settings("web", color="red"))
    assert made.metadata.resource_version == "7"
    request = transport.requests[0]
    assert str(request) == "POST /api/v1/namespaces/web/configmaps"
    assert request.headers["Content-Type"] == JSON
    assert transport.query() == {"fieldManager": "windvane"}
    assert transport.sent() == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "web"},
        "data": {"color": "red"},
    }


@pytest.mark.parametrize(
    ("own", "given", "path"), [("", "", "team"), ("web", "", "web"), ("", "shop", "shop"), ("web", "shop", "shop")]
)
async def test_a_new_object_goes_to_the_given_namespace_or_its_own_or_the_clients(
    own: str, given: str, path: str
) -> None:
    client, transport = talk(MAP)
    await client.create(settings(own), namespace=given)
    assert transport.requests[0].path == f"/api/v1/namespaces/{path}/configmaps"


async def test_a_new_object_may_leave_its_name_to_the_server() -> None:
    client, transport = talk(MAP)
    await client.create(ConfigMap(metadata=ObjectMeta(generate_name="settings-")))
    assert transport.sent()["metadata"] == {"generateName": "settings-"}


async def test_a_cluster_scoped_object_is_created_in_no_namespace() -> None:
    client, transport = talk({"kind": "Namespace", "apiVersion": "v1"})
    await client.create(Namespace(metadata=ObjectMeta(name="web")))
    assert transport.requests[0].path == "/api/v1/namespaces"


# Applying.


async def test_apply_states_the_fields_by_server_side_apply() -> None:
    client, transport = talk(MAP)
    assert (await client.apply(settings("web", color="red"))).data == {"color": "blue"}
    request = transport.requests[0]
    assert str(request) == "PATCH /api/v1/namespaces/web/configmaps/settings"
    assert request.headers["Content-Type"] == "application/apply-patch+yaml"
    assert request.headers["Accept"] == JSON
    assert transport.query() == {"fieldManager": "windvane"}
    assert transport.sent()["data"] == {"color": "red"}


async def test_apply_can_take_over_fields_under_another_name_on_a_subresource() -> None:
    client, transport = talk(MAP)
    await client.apply(settings(), subresource="status", force=True, field_manager="me", dry_run=True)
    assert transport.requests[0].path == "/api/v1/namespaces/team/configmaps/settings/status"
    assert transport.query() == {"fieldManager": "me", "force": "true", "dryRun": "All"}


async def test_apply_leaves_out_managed_fields_and_the_object_as_it_was() -> None:
    client, transport = talk(MAP)
    thing = settings()
    thing.metadata.managed_fields = [ManagedFieldsEntry(manager="kubectl")]
    await client.apply(thing)
    assert "managedFields" not in transport.sent()["metadata"]
    assert thing.metadata.managed_fields == [ManagedFieldsEntry(manager="kubectl")]


@pytest.mark.parametrize("verb", [Client.apply, Client.replace])
async def test_an_object_without_a_name_cannot_be_written_to(verb: Callable[..., Awaitable[ConfigMap]]) -> None:
    client, transport = talk()
    with pytest.raises(ValueError, match=r"this ConfigMap has no metadata\.name"):
        await verb(client, ConfigMap())
    assert transport.requests == []


async def test_the_field_manager_is_the_clients_own() -> None:
    transport = ScriptedTransport(answer(MAP))
    await Client(transport, field_manager="website-operator").apply(settings())
    assert transport.query()["fieldManager"] == "website-operator"


# Patching and replacing.


@pytest.mark.parametrize(
    ("type_", "patch", "content"),
    [
        ("merge", {"data": {"color": None}}, "application/merge-patch+json"),
        ("json", [{"op": "remove", "path": "/data/color"}], "application/json-patch+json"),
        ("strategic", {"data": {"$patch": "delete"}}, "application/strategic-merge-patch+json"),
    ],
)
async def test_each_kind_of_patch_has_its_content_type(type_: Any, patch: Any, content: str) -> None:
    client, transport = talk(MAP)
    await client.patch(ConfigMap, "settings", patch, type=type_, namespace="web", subresource="status", dry_run=True)
    request = transport.requests[0]
    assert str(request) == "PATCH /api/v1/namespaces/web/configmaps/settings/status"
    assert request.headers["Content-Type"] == content
    assert transport.sent() == patch
    assert transport.query() == {"fieldManager": "windvane", "dryRun": "All"}


async def test_a_patch_is_a_merge_patch_unless_told_otherwise() -> None:
    client, transport = talk(MAP)
    await client.patch(ConfigMap, "settings", {})
    assert transport.requests[0].headers["Content-Type"] == "application/merge-patch+json"


async def test_replace_puts_the_whole_object_with_the_version_it_was_read_at() -> None:
    client, transport = talk(MAP, MAP)
    thing = await client.get(ConfigMap, "settings")
    thing.data["color"] = "red"
    await client.replace(thing)
    assert str(transport.requests[1]) == "PUT /api/v1/namespaces/web/configmaps/settings"
    assert transport.requests[1].headers["Content-Type"] == JSON
    assert transport.query() == {"fieldManager": "windvane"}
    assert transport.sent()["metadata"]["resourceVersion"] == "7"
    assert transport.sent()["data"] == {"color": "red"}


async def test_replace_reaches_a_subresource() -> None:
    client, transport = talk(MAP)
    await client.replace(settings(), subresource="finalize", dry_run=True)
    assert transport.requests[0].path.endswith("/settings/finalize")
    assert transport.query()["dryRun"] == "All"


# Deleting.


async def test_delete_without_conditions_sends_none() -> None:
    client, transport = talk(SUCCESS)
    assert await client.delete(ConfigMap, "settings", namespace="web") is None
    request = transport.requests[0]
    assert str(request) == "DELETE /api/v1/namespaces/web/configmaps/settings"
    assert request.query == ()
    assert request.headers["Content-Type"] == JSON
    assert transport.sent() == {"kind": "DeleteOptions", "apiVersion": "v1"}


async def test_delete_says_which_object_how_and_when() -> None:
    client, transport = talk(SUCCESS)
    await client.delete(
        Pod, "web", uid="u1", resource_version="7", propagation="Foreground", grace_period=0, dry_run=True
    )
    assert transport.sent() == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "dryRun": ["All"],
    }


async def test_a_uid_alone_is_a_condition() -> None:
    client, transport = talk(SUCCESS)
    await client.delete(ConfigMap, "settings", uid="u1")
    assert transport.sent()["preconditions"] == {"uid": "u1"}


@pytest.mark.parametrize("what", [ConfigMap, dynamic(Kind(group="", version="v1", name="ConfigMap", plural="maps"))])
async def test_delete_returns_the_object_that_finalizers_hold(what: type[Object]) -> None:
    client, _ = talk(MAP)
    held = await client.delete(what, "settings")
    assert isinstance(held, what)
    assert held.metadata.name == "settings"


@pytest.mark.parametrize("body", [b"", b"<html>Log in</html>", b"[]", b'{"kind": "Secret", "apiVersion": "v1"}'])
async def test_an_unreadable_answer_to_a_delete_says_what_was_asked(body: bytes) -> None:
    with pytest.raises(Unreadable, match="DELETE /api/v1/namespaces/default/configmaps/settings"):
        await Client(ScriptedTransport(Answer(200, [body]))).delete(ConfigMap, "settings")


async def test_delete_collection_deletes_what_the_selectors_match_in_one_namespace() -> None:
    client, transport = talk({"kind": "ConfigMapList", "items": []})
    await client.delete_collection(
        ConfigMap, labels={"app": "web"}, fields="a=b", propagation="Orphan", grace_period=5, dry_run=True
    )
    assert str(transport.requests[0]) == "DELETE /api/v1/namespaces/team/configmaps"
    assert transport.query() == {"labelSelector": "app=web", "fieldSelector": "a=b"}
    assert transport.sent() == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 5,
        "dryRun": ["All"],
    }


async def test_delete_collection_of_a_cluster_scoped_kind_has_no_namespace() -> None:
    client, transport = talk(SUCCESS)
    await client.delete_collection(Node)
    assert transport.requests[0].path == "/api/v1/nodes"


# Subresources with a type of their own.


async def test_get_scale_reads_the_replicas() -> None:
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 3}, "status": {"replicas": 2}}
    client, transport = talk(scale)
    found = await client.get_scale(Deployment, "web")
    assert (found.spec.replicas, found.status.replicas) == (3, 2)
    assert str(transport.requests[0]) == "GET /apis/apps/v1/namespaces/team/deployments/web/scale"


async def test_scale_sets_the_replicas_and_nothing_else() -> None:
    client, transport = talk({"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 0}})
    assert (await client.scale(Deployment, "web", 0, namespace="shop")).spec.replicas == 0
    assert str(transport.requests[0]) == "PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale"
    assert transport.requests[0].headers["Content-Type"] == "application/merge-patch+json"
    assert transport.sent() == {"spec": {"replicas": 0}}


async def test_evict_asks_a_pod_to_leave() -> None:
    client, transport = talk(SUCCESS)
    await client.evict("web", grace_period=30, dry_run=True)
    assert str(transport.requests[0]) == "POST /api/v1/namespaces/team/pods/web/eviction"
    assert transport.sent() == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web", "namespace": "team"},
        "deleteOptions": {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 30, "dryRun": ["All"]},
    }


async def test_a_disruption_budget_that_forbids_an_eviction_is_the_callers_to_know() -> None:
    busy = refusal(429, "TooManyRequests", "would violate the budget", headers={"Retry-After": ["10"]})
    transport = ScriptedTransport(busy)
    with pytest.raises(TooManyRequests, match="would violate the budget"):
        await Client(transport).evict("web")
    assert len(transport.requests) == 1


async def test_token_is_one_for_a_service_account() -> None:
    status = {"token": "ey", "expirationTimestamp": "2030-01-01T00:00:00Z"}
    client, transport = talk({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "status": status})
    token = await client.token("robot", namespace="web", audiences=["vault"], seconds=600)
    assert token.token == "ey"
    assert token.expiration_timestamp is not None
    assert token.expiration_timestamp.year == 2030
    assert str(transport.requests[0]) == "POST /api/v1/namespaces/web/serviceaccounts/robot/token"
    assert transport.sent()["spec"] == {"audiences": ["vault"], "expirationSeconds": 600}


# Kinds that have no class.


async def test_a_kind_known_only_at_run_time_goes_there_and_back_whole() -> None:
    stored = {
        "kind": "Widget",
        "apiVersion": "acme.io/v1",
        "metadata": {"name": "w", "namespace": "web"},
        "spec": {"size": 3, "unheard": ["of"]},
        "status": {"ready": True},
    }
    client, transport = talk(stored, stored)
    widget = await client.get(Widget, "w", namespace="web")
    assert isinstance(widget, Dynamic)
    widget["spec"]["size"] = 4
    await client.replace(widget)
    assert str(transport.requests[1]) == "PUT /apis/acme.io/v1/namespaces/web/widgets/w"
    assert transport.sent() == {**stored, "spec": {"size": 4, "unheard": ["of"]}}


async def test_a_kind_known_only_at_run_time_can_be_made_and_applied() -> None:
    client, transport = talk(*[{"kind": "Widget", "apiVersion": "acme.io/v1"}] * 2)
    widget = Widget(metadata=ObjectMeta(name="w"), content={"spec": {"size": 3}})
    await client.create(widget)
    await client.apply(widget)
    assert str(transport.requests[0]) == "POST /apis/acme.io/v1/namespaces/team/widgets"
    assert str(transport.requests[1]) == "PATCH /apis/acme.io/v1/namespaces/team/widgets/w"
    assert transport.sent(0) == transport.sent(1)
    assert transport.sent() == {
        "apiVersion": "acme.io/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"size": 3},
    }


async def test_a_class_that_names_no_kind_cannot_be_asked_for() -> None:
    client, _ = talk()
    with pytest.raises(TypeError, match="Dynamic names no kind"):
        await client.get(Dynamic, "w")


# Connecting.


async def test_leaving_the_client_closes_its_transport() -> None:
    transport = ScriptedTransport()
    async with Client(transport):
        assert not transport.closed
    assert transport.closed


async def test_connect_takes_server_and_namespace_from_the_kubeconfig(tmp_path: Path) -> None:
    kubeconfig = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
    }
    file = tmp_path / "config"
    file.write_text(json.dumps(kubeconfig))
    async with Client.connect(kubeconfig=file, field_manager="me") as client:
        assert (client.namespace, client.field_manager) == ("team", "me")
