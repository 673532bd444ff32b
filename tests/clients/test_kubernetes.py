"""The official client for Python, `kubernetes`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, utils, watch
from kubernetes.client.exceptions import ApiException

GROUP = "clients.windvane.dev"
NAMESPACE = "default"


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[client.ApiClient]:
    with config.new_client_from_config(str(kubeconfig)) as api:
        yield api


@pytest.fixture
def boats(api: client.ApiClient, boat: dict[str, Any]) -> Iterator[client.CustomObjectsApi]:
    """The API of custom objects, while there are Boats."""
    extensions = client.ApiextensionsV1Api(api)
    extensions.create_custom_resource_definition(boat)
    extended = watch.Watch().stream(extensions.list_custom_resource_definition, timeout_seconds=60)
    assert any(
        condition.type == "Established" and condition.status == "True"
        for event in extended
        for condition in event["object"].status.conditions or ()
    )
    yield client.CustomObjectsApi(api)
    extensions.delete_custom_resource_definition(boat["metadata"]["name"])


def config_map(name: str, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"by": "kubernetes"}), data=data)


def test_create_read_patch_replace_and_delete(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map(NAMESPACE, config_map("a", color="red"))
    assert made.metadata.uid
    assert core.read_namespaced_config_map("a", NAMESPACE).data == {"color": "red"}
    assert core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"size": "1"}}).data == {
        "color": "red",
        "size": "1",
    }
    steps = [{"op": "remove", "path": "/data/color"}]
    patched = core.patch_namespaced_config_map("a", NAMESPACE, steps)
    assert patched.data == {"size": "1"}
    patched.data["size"] = "2"
    assert core.replace_namespaced_config_map("a", NAMESPACE, patched).data == {"size": "2"}
    with pytest.raises(ApiException) as conflict:
        core.replace_namespaced_config_map("a", NAMESPACE, made)
    assert (conflict.value.status, conflict.value.reason) == (409, "Conflict")
    core.delete_namespaced_config_map("a", NAMESPACE)
    with pytest.raises(ApiException) as missing:
        core.read_namespaced_config_map("a", NAMESPACE)
    assert missing.value.status == 404


def test_lists_in_pages_and_by_selectors(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    for name in ("page-a", "page-b", "page-c"):
        core.create_namespaced_config_map(NAMESPACE, config_map(name))
    first = core.list_namespaced_config_map(NAMESPACE, label_selector="by=kubernetes", limit=2)
    assert [item.metadata.name for item in first.items] == ["page-a", "page-b"]
    rest = core.list_namespaced_config_map(
        NAMESPACE, label_selector="by=kubernetes", limit=2, _continue=first.metadata._continue
    )
    assert [item.metadata.name for item in rest.items] == ["page-c"]
    one = core.list_config_map_for_all_namespaces(field_selector="metadata.name=page-b")
    assert [item.metadata.name for item in one.items] == ["page-b"]
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="by=kubernetes")
    assert not core.list_namespaced_config_map(NAMESPACE, label_selector="by=kubernetes").items


def until_end(function: Any, *where: str, **options: str) -> Iterator[dict[str, Any]]:
    """The events of a watch, up to the object `end`, which is made last: nothing that was told twice is missed."""
    watching = watch.Watch()
    for event in watching.stream(function, *where, timeout_seconds=60, **options):
        if event["raw_object"]["metadata"]["name"] == "end":
            watching.stop()
        else:
            yield event


def test_a_watch_sees_every_change_once(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    since = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, config_map("w", n="1"))
    core.patch_namespaced_config_map("w", NAMESPACE, {"data": {"n": "2"}})
    core.delete_namespaced_config_map("w", NAMESPACE)
    core.create_namespaced_config_map(NAMESPACE, config_map("end"))
    events = until_end(core.list_namespaced_config_map, NAMESPACE, resource_version=since)
    seen = [(event["type"], event["object"].data["n"]) for event in events]
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]
    core.delete_namespaced_config_map("end", NAMESPACE)


def test_custom_objects(boats: client.CustomObjectsApi) -> None:
    where = (GROUP, "v1", NAMESPACE, "boats")
    boat = {"apiVersion": f"{GROUP}/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"sails": 1}}
    since = boats.list_namespaced_custom_object(*where)["metadata"]["resourceVersion"]
    boats.create_namespaced_custom_object(*where, boat)
    patched = boats.patch_namespaced_custom_object(*where, "b", {"spec": {"name": "Argo"}})
    assert patched["spec"] == {"sails": 1, "name": "Argo"}
    with pytest.raises(ApiException, match="should be greater than or equal to 1"):
        boats.patch_namespaced_custom_object(*where, "b", {"spec": {"sails": 0}})
    assert [each["metadata"]["name"] for each in boats.list_namespaced_custom_object(*where)["items"]] == ["b"]
    boats.delete_namespaced_custom_object(*where, "b")
    boats.create_namespaced_custom_object(*where, {**boat, "metadata": {"name": "end"}})
    events = until_end(boats.list_namespaced_custom_object, *where, resource_version=since)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    boats.delete_namespaced_custom_object(*where, "end")


def test_a_deployment_and_its_scale(api: client.ApiClient) -> None:
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]},
            },
        },
    }
    utils.create_from_dict(api, manifest)
    apps = client.AppsV1Api(api)
    assert apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 3}}).spec.replicas == 3
    image = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}}
    changed = apps.patch_namespaced_deployment("web", NAMESPACE, image)
    assert (changed.spec.replicas, changed.spec.template.spec.containers[0].image) == (3, "other")
    apps.delete_namespaced_deployment("web", NAMESPACE, propagation_policy="Background")


def test_the_dynamic_client_finds_a_custom_kind_by_discovery(api: client.ApiClient, boats: object) -> None:
    from kubernetes.dynamic import DynamicClient

    kind = DynamicClient(api).resources.get(api_version=f"{GROUP}/v1", kind="Boat")
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Boat", "metadata": {"name": "d"}, "spec": {"sails": 2}}
    assert kind.create(body=body, namespace=NAMESPACE).spec.sails == 2
    patch = {"spec": {"sails": 3}}
    content = "application/merge-patch+json"
    assert kind.patch(name="d", namespace=NAMESPACE, body=patch, content_type=content).spec.sails == 3
    kind.delete(name="d", namespace=NAMESPACE)
