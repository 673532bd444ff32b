"""StorageVersionMigrations, where they are served: what they may say, and how they are shown."""

from typing import Any

import pytest

from conformance.requests import Raw
from conformance.servers import Server

GROUP = "/apis/storagemigration.k8s.io"
MIGRATIONS = f"{GROUP}/v1beta1/storageversionmigrations"
NOW = "2030-01-01T00:00:00Z"


def migration(resource: str = "websites", group: str = "example.com", **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "{ns}", **metadata},
        "spec": {"resource": {"group": group, "resource": resource}},
    }


def reached(*types: str, **rest: Any) -> dict[str, Any]:
    conditions = [
        {"type": each, "status": "True", "lastTransitionTime": NOW, "reason": "Test", "message": ""} for each in types
    ]
    return {"status": {"conditions": conditions, **rest}}


async def test_they_are_discovered(migrating: Raw) -> None:
    found = await migrating.ok(f"GET {GROUP}/v1beta1")
    for each in found["resources"]:
        each.pop("storageVersionHash", None)
    assert found["resources"] == [
        {
            "name": "storageversionmigrations",
            "singularName": "storageversionmigration",
            "namespaced": False,
            "kind": "StorageVersionMigration",
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        },
        {
            "name": "storageversionmigrations/status",
            "singularName": "",
            "namespaced": False,
            "kind": "StorageVersionMigration",
            "verbs": ["get", "patch", "update"],
        },
    ]


async def test_their_group_comes_where_the_real_server_has_it(migrating: Raw) -> None:
    groups = [each["name"] for each in (await migrating.ok("GET /apis"))["groups"]]
    place = groups.index("storagemigration.k8s.io")
    assert groups[place - 1 : place] == ["flowcontrol.apiserver.k8s.io"]


async def test_they_are_not_there_unless_a_server_is_told_to(raw: Raw) -> None:
    assert (await raw(f"GET {MIGRATIONS}")).code == 404


async def test_they_are_described(migrating: Raw) -> None:
    found = (await migrating.ok(f"GET /openapi/v3{GROUP}/v1beta1"))["components"]["schemas"]
    spec = found["io.k8s.api.storagemigration.v1beta1.StorageVersionMigrationSpec"]
    assert spec["description"] == "Spec of the storage version migration."
    assert spec["properties"]["resource"]["allOf"] == [
        {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource"}
    ]


async def test_one_is_made_without_a_status(migrating: Raw) -> None:
    made = await migrating.ok(f"POST {MIGRATIONS}", migration() | reached("Running"))
    assert made["spec"] == {"resource": {"group": "example.com", "resource": "websites"}}
    assert made["status"] == {}
    assert "generation" not in made["metadata"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (migration(""), "spec.resource.resource: Required value: resource is required to be set"),
        (migration("Websites"), 'spec.resource.resource: Invalid value: "Websites": a DNS-1035 label must'),
        (migration(group="Example"), 'spec.resource.group: Invalid value: "Example": a lowercase RFC 1123 subdomain'),
    ],
)
async def test_one_names_a_resource(migrating: Raw, body: dict[str, Any], told: str) -> None:
    refused = (await migrating(f"POST {MIGRATIONS}", body)).refusal
    assert (refused.code, len(refused.causes)) == (422, 1)
    assert told in refused.message


async def test_the_resource_of_one_stays(migrating: Raw) -> None:
    await migrating.ok(f"POST {MIGRATIONS}", migration())
    change = {"spec": {"resource": {"resource": "others"}}}
    refused = (await migrating(f"PATCH {MIGRATIONS}/{{ns}}", change, patch="merge")).refusal
    value = '{"Resource":{"group":"example.com","resource":"others"}}'
    assert refused.message.endswith(f"is invalid: spec: Invalid value: {value}: field is immutable")


async def test_one_is_replaced_only_by_who_knows_its_version(migrating: Raw) -> None:
    await migrating.ok(f"POST {MIGRATIONS}", migration())
    refused = (await migrating(f"PUT {MIGRATIONS}/{{ns}}", migration(labels={"a": "b"}))).refusal
    assert refused.causes == ["FieldValueInvalid metadata.resourceVersion"]


async def test_how_it_stands_is_told_through_status_and_nothing_else_is(migrating: Raw) -> None:
    await migrating.ok(f"POST {MIGRATIONS}", migration())
    change = reached("Running", resourceVersion="12") | {"metadata": {"labels": {"a": "b"}}, "spec": {"resource": {}}}
    changed = await migrating.ok(f"PATCH {MIGRATIONS}/{{ns}}/status", change, patch="merge")
    assert changed["status"] == reached("Running", resourceVersion="12")["status"]
    assert "labels" not in changed["metadata"]
    assert changed["spec"] == migration()["spec"]


async def test_the_version_of_a_list_is_a_number_that_stays(migrating: Raw) -> None:
    await migrating.ok(f"POST {MIGRATIONS}", migration())
    place = f"PATCH {MIGRATIONS}/{{ns}}/status"
    refused = (await migrating(place, {"status": {"resourceVersion": "x"}}, patch="merge")).refusal
    assert refused.message.endswith(
        'status.resourceVersion: Invalid value: "x": resource version is not well formed: x'
    )
    await migrating.ok(place, {"status": {"resourceVersion": "12"}}, patch="merge")
    refused = (await migrating(place, {"status": {"resourceVersion": "13"}}, patch="merge")).refusal
    assert refused.message.endswith('status.resourceVersion: Invalid value: "13": field is immutable')


async def test_one_ends_once(migrating: Raw) -> None:
    await migrating.ok(f"POST {MIGRATIONS}", migration())
    place = f"PATCH {MIGRATIONS}/{{ns}}/status"
    refused = (await migrating(place, reached("Succeeded", "Failed"), patch="merge")).refusal
    assert refused.message.endswith("Both success and failed conditions cannot be true at the same time")
    await migrating.ok(place, reached("Running", "Succeeded"), patch="merge")
    refused = (await migrating(place, reached("Running"), patch="merge")).refusal
    assert refused.message.endswith("Success condition cannot be set to false once it is true")


async def test_an_empty_apply_changes_nothing(migrating: Raw) -> None:
    """With such a request objects are stored anew, if they are not stored as they would be today."""
    made = await migrating.ok(f"POST {MIGRATIONS}", migration())
    about = {"apiVersion": "storagemigration.k8s.io/v1beta1", "kind": "StorageVersionMigration"}
    known = {key: made["metadata"][key] for key in ("uid", "resourceVersion")}
    query = "fieldManager=storage-version-migrator-controller"
    place = f"PATCH {MIGRATIONS}/{{ns}}?{query}"
    assert await migrating.ok(place, about | {"metadata": known}, patch="apply") == made


def test_kubectl_shows_them(migrating_server: Server) -> None:
    text = '{"apiVersion": "storagemigration.k8s.io/v1beta1", "kind": "StorageVersionMigration", "metadata": '
    text += '{"name": "shown"}, "spec": {"resource": {"group": "", "resource": "secrets"}}}'
    assert "created" in migrating_server.kubectl("create", "-f", "-", input=text)
    shown = migrating_server.kubectl("get", "storageversionmigrations", "shown").splitlines()
    assert [line.split() for line in shown] == [["NAME", "RESOURCE", "STATUS"], ["shown", "secrets", "Unknown"]]
