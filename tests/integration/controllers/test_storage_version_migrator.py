"""StorageVersionMigrations: one at a time for each resource, through all objects, to an end that is told."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.meta import GroupResource, ObjectMeta
from windvane.api.resource import Object, dynamic, object_from_wire
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.core import ConfigMap
from windvane.k8s.storagemigration import StorageVersionMigration, StorageVersionMigrationSpec

RUNNING = ("Running", "True", "MigrationRunning", "The migration is running")
COMPLETED = ("Running", "False", "MigrationCompleted", "Migration completed")
SUCCEEDED = ("Succeeded", "True", "StorageVersionMigrationSucceeded", "")
WEBSITE = dynamic(Kind(group="example.com", version="v1", name="Website", plural="websites"))


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster that serves them."""
    cluster = Cluster(migrations=True)
    await cluster.begin()
    yield cluster
    await cluster.close()


def versions(storage: str) -> list[dict[str, Any]]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return [{"name": each, "served": True, "storage": each == storage, "schema": schema} for each in ("v1", "v2")]


async def have_websites(cluster: Cluster) -> None:
    """A custom kind, with an object in its first version, that is now stored in the second."""
    names = {"plural": "websites", "singular": "website", "kind": "Website", "listKind": "WebsiteList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions("v1")}
    wire = {"metadata": {"name": "websites.example.com"}, "spec": spec}
    await cluster.admin.create(object_from_wire(wire, CustomResourceDefinition))
    await cluster.admin.create(WEBSITE(metadata=ObjectMeta(name="mine", namespace="default"), content={"spec": {}}))
    await cluster.admin.patch(CustomResourceDefinition, "websites.example.com", {"spec": {"versions": versions("v2")}})


async def migrate(cluster: Cluster, resource: str = "configmaps", group: str = "", name: str = "one") -> None:
    spec = StorageVersionMigrationSpec(resource=GroupResource(group=group, resource=resource))
    await cluster.admin.create(StorageVersionMigration(metadata=ObjectMeta(name=name), spec=spec))


async def conditions(cluster: Cluster, name: str = "one") -> list[tuple[str, ...]]:
    found = await cluster.admin.get(StorageVersionMigration, name)
    return [(each.type, each.status, each.reason, each.message) for each in found.status.conditions]


async def definition(cluster: Cluster) -> CustomResourceDefinition:
    return await cluster.admin.get(CustomResourceDefinition, "websites.example.com")


def stored_in(cluster: Cluster) -> str:
    (entry,) = cluster.server.store.entries("example.com/websites", "default")
    return str(json.loads(entry.value)["apiVersion"])


def essence(thing: Object) -> Any:
    return thing.metadata.resource_version, thing.metadata.managed_fields


async def test_a_migration_comes_to_its_end_and_changes_nothing_that_is_stored_well(cluster: Cluster) -> None:
    before = await cluster.admin.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"a": "b"}))
    await migrate(cluster)
    await cluster.settled()
    assert await conditions(cluster) == [COMPLETED, SUCCEEDED]
    assert essence(await cluster.admin.get(ConfigMap, "a")) == essence(before)
    migration = await cluster.admin.get(StorageVersionMigration, "one")
    assert int(migration.status.resource_version or "") >= int(before.metadata.resource_version)


async def test_what_was_stored_in_another_version_is_stored_in_the_current_one(cluster: Cluster) -> None:
    await have_websites(cluster)
    before = await cluster.admin.get(WEBSITE, "mine")
    assert stored_in(cluster) == "example.com/v1"
    await migrate(cluster, "websites", "example.com")
    await cluster.settled()
    assert stored_in(cluster) == "example.com/v2"
    after = await cluster.admin.get(WEBSITE, "mine")
    assert after.metadata.resource_version != before.metadata.resource_version
    assert after.metadata.managed_fields == before.metadata.managed_fields
    assert after.metadata.generation == before.metadata.generation


async def test_an_object_that_can_not_be_written_fails_the_migration(cluster: Cluster) -> None:
    await have_websites(cluster)
    strict = versions("v2")
    for each in strict:
        each["schema"] = {"openAPIV3Schema": {"type": "object", "required": ["spec", "data"]}}
    await cluster.admin.patch(CustomResourceDefinition, "websites.example.com", {"spec": {"versions": strict}})
    await migrate(cluster, "websites", "example.com")
    await cluster.settled()
    completed, (type_, _, reason, message) = await conditions(cluster)
    assert (completed, type_, reason) == (COMPLETED, "Failed", "StorageVersionMigrationFailed")
    assert message.startswith('migration encountered unhandled error: Website.example.com "mine" is invalid: ')
    after = await definition(cluster)
    assert after.status.stored_versions == ["v1", "v2"]


async def test_a_definition_has_no_other_stored_versions_after_it(cluster: Cluster) -> None:
    await have_websites(cluster)
    assert (await definition(cluster)).status.stored_versions == ["v1", "v2"]
    await migrate(cluster, "websites", "example.com")
    await cluster.settled()
    assert await conditions(cluster) == [COMPLETED, SUCCEEDED]
    after = await definition(cluster)
    assert after.status.stored_versions == ["v2"]
    told = [each for each in after.status.conditions if each.type == "StorageMigrating"]
    assert [(each.status, each.reason, each.message) for each in told] == [
        ("False", "MigrationSucceeded", "The migration has succeeded and the stored versions have been updated")
    ]


async def test_an_unknown_resource_is_waited_for_and_then_given_up(cluster: Cluster) -> None:
    await migrate(cluster, "websites", "example.com")
    await ambient.sleep(50)
    assert await conditions(cluster) == [RUNNING]
    await ambient.sleep(20)
    failed = ("Failed", "True", "StorageVersionMigrationFailed", "resource does not exist in discovery")
    assert await conditions(cluster) == [COMPLETED, failed]


async def test_a_resource_that_comes_in_time_is_migrated(cluster: Cluster) -> None:
    await migrate(cluster, "websites", "example.com")
    await ambient.sleep(30)
    await have_websites(cluster)
    await ambient.sleep(30)
    assert await conditions(cluster) == [COMPLETED, SUCCEEDED]


async def test_what_can_not_be_written_can_not_be_migrated(cluster: Cluster) -> None:
    await migrate(cluster, "componentstatuses")
    await cluster.settled()
    words = 'resource "/v1, Resource=componentstatuses" does not support discovery operations: [update patch list]'
    failed = ("Failed", "True", "StorageVersionMigrationFailed", words)
    assert await conditions(cluster) == [COMPLETED, failed]


async def test_of_two_migrations_of_a_resource_the_older_one_runs_first(cluster: Cluster) -> None:
    await migrate(cluster, "websites", "example.com", "older")  # waits for its kind
    await ambient.sleep(2)
    await migrate(cluster, "websites", "example.com", "newer")
    await migrate(cluster, "configmaps", "", "another")
    await cluster.settled()
    assert await conditions(cluster, "older") == [RUNNING]
    assert await conditions(cluster, "newer") == []
    assert await conditions(cluster, "another") == [COMPLETED, SUCCEEDED]
    await have_websites(cluster)
    await ambient.sleep(30)
    assert await conditions(cluster, "older") == [COMPLETED, SUCCEEDED]
    assert await conditions(cluster, "newer") == [COMPLETED, SUCCEEDED]


async def test_one_that_is_interrupted_is_gone_on_with(cluster: Cluster) -> None:
    await migrate(cluster, "websites", "example.com")
    await ambient.sleep(10)
    await have_websites(cluster)
    await cluster.restart_controllers()
    await ambient.sleep(30)
    assert await conditions(cluster) == [COMPLETED, SUCCEEDED]


async def test_nothing_is_written_once_it_has_ended(cluster: Cluster) -> None:
    await migrate(cluster)
    await cluster.settled()
    writes = cluster.writes
    await ambient.sleep(3600)
    assert cluster.writes == writes
