"""StorageVersionMigrations: all objects of a resource are written once more, so that they are stored as is usual today.

Nothing in them changes but the resourceVersion, of those that were stored in another version. Of the migrations of one
resource, one runs at a time, the oldest first:

    (new) ──▶ Running ──▶ with the resourceVersion of a list ──▶ Succeeded or Failed ──▶ no longer Running

What was written after that list is stored as it should be. A CRD says in its status that its objects are migrated, and
in the end that none are left in other versions, so that those can be taken out of it.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from windvane import (
    After,
    APIError,
    Client,
    Condition,
    Conflict,
    Context,
    InternalError,
    Kind,
    NotFound,
    ObjectMeta,
    Operator,
    ServerTimeout,
    TooManyRequests,
    Unavailable,
    View,
    Watch,
    ambient,
    dynamic,
    find_condition,
    format_time,
    kind_of,
    only_metadata,
    set_condition,
)
from windvane.cluster.controllers.workloads.status_steps import StatusSteps
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.storagemigration import StorageVersionMigration

MIGRATOR = "storage-version-migrator-controller"
RUNNER = "migration-runner-controller"
VERBS = ("update", "patch", "list")
PATIENCE = timedelta(minutes=1)
"""How long we wait for a kind that is not served: its CRD may have just been made."""
LOOK_AGAIN = 5.0
LONGEST_PASS = 3600.0
PASSING = (InternalError, ServerTimeout, TooManyRequests, Unavailable)
"""What is tried again, and says nothing about the object."""


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(
        StorageVersionMigration,
        watches=[Watch(StorageVersionMigration, to=_others)],
        timeout=LONGEST_PASS,
        events_from=MIGRATOR,
    )
    async def migrate(migration: StorageVersionMigration, ctx: Context) -> After | None:
        steps = StatusSteps(migration.status)
        try:
            if _has_ended(migration):
                await _finish(migration, ctx)
            elif not _is(migration, "Running"):
                await _begin(migration, ctx)
            elif (later := await _go_on(migration, ctx)) is not None:
                return later
        except Conflict:  # its CRD has changed since we read it
            return After(seconds=LOOK_AGAIN)
        return steps.after(migration.status)


async def _begin(migration: StorageVersionMigration, ctx: Context) -> None:
    """Have it run, unless others of its resource do, or have waited for longer."""
    waiting = [each for each in _same_resource(migration, ctx.list(StorageVersionMigration)) if not _has_ended(each)]
    if any(_is(each, "Running") or _age(each) < _age(migration) for each in waiting):
        return
    if (definition := await _definition(migration, ctx.client)) is not None:
        words = f"Migration {migration.metadata.name} is running"
        await _tell(ctx.client, definition, "True", "MigrationRunning", words)
    _set(migration, "Running", "True", "MigrationRunning", "The migration is running")


async def _go_on(migration: StorageVersionMigration, ctx: Context) -> After | None:
    kind = await _kind(migration, ctx.client)
    made, version = migration.metadata.creation_timestamp, migration.status.resource_version
    if kind is None and made is not None and ambient.now() < made + PATIENCE:
        return After(seconds=LOOK_AGAIN)
    if kind is None:
        unknown = "migration encountered unhandled error: unable to obtain GVR from discovery"
        _fail(migration, unknown if version else "resource does not exist in discovery")
    elif version:
        await _migrate(migration, kind, int(version), ctx.client)
    elif kind in await ctx.client.discover(verbs=VERBS):
        first = await anext(aiter(ctx.client.list(only_metadata(dynamic(kind)), page_size=1).pages()))
        migration.status.resource_version = first.resource_version
    else:
        resource = f"{kind.group}/{kind.version}, Resource={kind.plural}"
        _fail(migration, f'resource "{resource}" does not support discovery operations: [{" ".join(VERBS)}]')
    return None


async def _migrate(migration: StorageVersionMigration, kind: Kind, version: int, client: Client) -> None:
    """Write every object that is older than the list, as it is: an apply that states nothing."""
    async for each in client.list(only_metadata(dynamic(kind))):
        known = each.metadata
        if int(known.resource_version) > version:
            continue
        # With uid and version: one that was changed or made anew meanwhile is stored as it should be already, and one
        # that has gone must not come back.
        identity = ObjectMeta(
            name=known.name, namespace=known.namespace, uid=known.uid, resource_version=known.resource_version
        )
        try:
            await client.apply(dynamic(kind)(metadata=identity), field_manager=MIGRATOR)
        except Conflict:
            continue
        except PASSING:
            raise
        except APIError as error:
            _fail(migration, f"migration encountered unhandled error: {error.status.message}")
            return
    _set(migration, "Succeeded", "True", "StorageVersionMigrationSucceeded", "")


async def _finish(migration: StorageVersionMigration, ctx: Context) -> None:
    """Let the next one run. A CRD that is as it was in the beginning has objects in one version only now."""
    if not _is(migration, "Running"):
        return
    if (definition := await _definition(migration, ctx.client)) is not None:
        seen = [each for each in definition.status.conditions if each.type == "StorageMigrating"]
        same = any(each.observed_generation == definition.metadata.generation for each in seen)
        # If it has failed, there may be objects in other versions, which must stay: here Kubernetes 1.36 forgets them.
        stored: list[str] = []
        reason, words = "MigrationFailed", "The migration has failed"
        if _is(migration, "Succeeded"):
            outcome = (
                "and the stored versions have been updated"
                if same
                else "but the stored versions have not been updated due to a generation mismatch"
            )
            reason, words = "MigrationSucceeded", f"The migration has succeeded {outcome}"
            stored = [each.name for each in definition.spec.versions if each.storage and same]
        await _tell(ctx.client, definition, "False", reason, words, stored)
    _set(migration, "Running", "False", "MigrationCompleted", "Migration completed")


async def _definition(migration: StorageVersionMigration, client: Client) -> CustomResourceDefinition | None:
    resource = migration.spec.resource
    try:
        return await client.get(CustomResourceDefinition, f"{resource.resource}.{resource.group}")
    except NotFound:
        return None


async def _tell(
    client: Client,
    definition: CustomResourceDefinition,
    status: str,
    reason: str,
    message: str,
    stored: Sequence[str] = (),
) -> None:
    """Say in a CRD's status how its migration stands; `Conflict` if the CRD has changed."""
    condition = {
        "type": "StorageMigrating",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": format_time(ambient.now()),
        "observedGeneration": definition.metadata.generation,
    }
    known = definition.metadata
    content: dict[str, Any] = {"status": {"conditions": [condition], **({"storedVersions": stored} if stored else {})}}
    stated = dynamic(kind_of(CustomResourceDefinition))(
        metadata=ObjectMeta(name=known.name, resource_version=known.resource_version), content=content
    )
    await client.apply(stated, subresource="status", field_manager=RUNNER, force=True)


async def _kind(migration: StorageVersionMigration, client: Client) -> Kind | None:
    """What is to be stored anew, in the version that the server prefers."""
    resource = migration.spec.resource
    served = [each for each in await client.discover() if each.plural == resource.resource]
    return next((each for each in served if each.group == resource.group), None)


def _others(migration: StorageVersionMigration, view: View) -> list[str]:
    """Those that may run now that this one has changed."""
    return [each.metadata.name for each in _same_resource(migration, view.list(StorageVersionMigration))]


def _same_resource(
    migration: StorageVersionMigration, all_of_them: Sequence[StorageVersionMigration]
) -> list[StorageVersionMigration]:
    of_it = [each for each in all_of_them if each.spec.resource == migration.spec.resource]
    return [each for each in of_it if each.metadata.name != migration.metadata.name]


def _age(migration: StorageVersionMigration) -> tuple[str, str]:
    made = migration.metadata.creation_timestamp
    return ("" if made is None else format_time(made), migration.metadata.name)


def _has_ended(migration: StorageVersionMigration) -> bool:
    return _is(migration, "Succeeded") or _is(migration, "Failed")


def _is(migration: StorageVersionMigration, type_: str) -> bool:
    condition = find_condition(migration.status.conditions, type_)
    return condition is not None and condition.status == "True"


def _fail(migration: StorageVersionMigration, words: str) -> None:
    _set(migration, "Failed", "True", "StorageVersionMigrationFailed", words)


def _set(migration: StorageVersionMigration, type_: str, status: Any, reason: str, message: str) -> None:
    set_condition(migration.status.conditions, Condition(type=type_, status=status, reason=reason, message=message))
