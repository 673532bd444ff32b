"""The managers of an object's fields, from metadata.managedFields and back.

A manager is told apart by its name, by whether it applied or updated, by the subresource it wrote through, and, if it
updated, by the version it did that in. A manager that applies has one set of fields, whatever the version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from windvane.api.json_value import Wire
from windvane.api.time import format_time, parse_time
from windvane.api.wording import quoted
from windvane.cluster.apiserver.managedfields.field_set import FieldSet, read_fields, union

APPLY = "Apply"
UPDATE = "Update"
MOST_UPDATERS = 10
ANCIENT = "ancient-changes"


class Manager(NamedTuple):
    """A client that owns fields."""

    name: str
    operation: str
    api_version: str = ""
    """Empty for those that apply."""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class VersionedSet:
    """The fields that one manager owns, as one version has them."""

    fields: FieldSet
    api_version: str
    time: str = ""
    """When it last changed something; empty if it never has."""

    def with_fields(self, fields: FieldSet) -> "VersionedSet":
        """The same with other fields."""
        return self if fields is self.fields else replace(self, fields=fields)


ManagedFields: TypeAlias = dict[Manager, VersionedSet]


def update_manager(name: str, api_version: str, subresource: str) -> Manager:
    """The manager that creates, updates or patches."""
    return Manager(name or "unknown", UPDATE, api_version, subresource)


def apply_manager(name: str, subresource: str) -> Manager:
    """The manager that applies."""
    return Manager(name, APPLY, "", subresource)


def stored_managed_fields(entries: Sequence[Wire]) -> ManagedFields:
    """What managedFields say that this server wrote."""
    return {
        _manager(entry): VersionedSet(entry.get("fieldsV1") or {}, entry.get("apiVersion", ""), entry.get("time") or "")
        for entry in entries
    }


def stated_managed_fields(entries: Any) -> ManagedFields:
    """What managedFields say that came with a request; a `ValueError` if they can't be read."""
    if not isinstance(entries, list):
        raise ValueError("managedFields are a list")
    managed: ManagedFields = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if not entry.get("apiVersion"):
            raise ValueError("apiVersion must not be empty")
        if (kind := entry.get("fieldsType")) != "FieldsV1":
            stated = f"invalid fieldsType {quoted(str(kind))}" if kind else "missing fieldsType"
            raise ValueError(f"{stated} in managed fields entry {index}")
        time = entry.get("time")
        managed[_manager(entry)] = VersionedSet(
            read_fields(entry.get("fieldsV1") or {}), entry["apiVersion"], format_time(parse_time(time)) if time else ""
        )
    return managed


def is_reset(entries: Any) -> bool:
    """Whether managedFields in a request ask that all of them be forgotten."""
    return entries in ([], [{}])


def entries_of(managed: ManagedFields) -> list[Wire]:
    """The managed fields as the entries of metadata.managedFields."""
    entries = [_entry(manager, versioned) for manager, versioned in managed.items()]
    entries.sort(key=_place)
    return entries


def capped(managed: ManagedFields) -> ManagedFields:
    """The managed fields with the oldest updates as one, if too many managers have updated."""
    updaters = [manager for manager in managed if manager.operation == UPDATE]
    surplus = len(updaters) - MOST_UPDATERS
    if surplus <= 0:
        return managed
    capped = dict(managed)
    # To tell managers with the same time apart, the real server compares them as the JSON that it knows them by.
    updaters.sort(key=lambda manager: (managed[manager].time, manager.name, manager.api_version, manager.subresource))
    first: dict[str, Manager] = {}
    for manager in updaters:
        if surplus <= 0:
            break
        versioned = managed[manager]
        if versioned.api_version not in first:
            first[versioned.api_version] = manager
            continue
        bucket = Manager(ANCIENT, UPDATE, versioned.api_version)
        if bucket not in capped:
            capped[bucket] = capped.pop(first[versioned.api_version])
        capped[bucket] = VersionedSet(
            union(versioned.fields, capped[bucket].fields), versioned.api_version, versioned.time
        )
        if manager != bucket:
            del capped[manager]
        surplus -= 1
    return capped


def _manager(entry: Wire) -> Manager:
    operation = entry.get("operation", "")
    version = "" if operation == APPLY else entry.get("apiVersion", "")
    return Manager(entry.get("manager", ""), operation, version, entry.get("subresource", ""))


def _entry(manager: Manager, versioned: VersionedSet) -> Wire:
    entry: Wire = {}
    if manager.name:
        entry["manager"] = manager.name
    entry["operation"] = manager.operation
    entry["apiVersion"] = versioned.api_version
    if versioned.time:
        entry["time"] = versioned.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = versioned.fields
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry


def _place(entry: Wire) -> tuple[str, str, str, str, str]:
    """Entries are sorted by operation, then from the oldest to the newest."""
    return (
        entry["operation"],
        entry.get("time", ""),
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )
