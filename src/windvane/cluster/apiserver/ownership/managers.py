"""The managers of an object's fields, from metadata.managedFields and back.

A manager is told apart by its name, by whether it applied or updated, by the subresource it wrote through, and, if it
updated, by the version it did that in. Whoever applies has one share only, whatever the version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from windvane.api.time import format_time, parse_time
from windvane.api.wording import quoted
from windvane.cluster.apiserver.ownership.fields import Fields, read_fields, union

Wire = dict[str, Any]

APPLY = "Apply"
UPDATE = "Update"
MOST_UPDATERS = 10
ANCIENT = "ancient-changes"


class Manager(NamedTuple):
    """Who owns fields."""

    name: str
    operation: str
    api_version: str = ""
    """Empty for those who apply."""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """The fields that one manager owns, in the terms of one version."""

    fields: Fields
    api_version: str
    time: str = ""
    """When it last changed something; empty if it never has."""

    def of(self, fields: Fields) -> "Share":
        """The same with other fields."""
        return self if fields is self.fields else replace(self, fields=fields)


Shares: TypeAlias = dict[Manager, Share]


def updater(name: str, api_version: str, subresource: str) -> Manager:
    """Who creates, updates or patches."""
    return Manager(name or "unknown", UPDATE, api_version, subresource)


def applier(name: str, subresource: str) -> Manager:
    """Who applies."""
    return Manager(name, APPLY, "", subresource)


def stored_shares(entries: Sequence[Wire]) -> Shares:
    """What managedFields say that this server wrote."""
    return {
        _manager(entry): Share(entry.get("fieldsV1") or {}, entry.get("apiVersion", ""), entry.get("time") or "")
        for entry in entries
    }


def stated_shares(entries: Any) -> Shares:
    """What managedFields say that came with a request; a `ValueError` if they can't be read."""
    if not isinstance(entries, list):
        raise ValueError("managedFields are a list")
    shares: Shares = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if not entry.get("apiVersion"):
            raise ValueError("apiVersion must not be empty")
        if (kind := entry.get("fieldsType")) != "FieldsV1":
            stated = f"invalid fieldsType {quoted(str(kind))}" if kind else "missing fieldsType"
            raise ValueError(f"{stated} in managed fields entry {index}")
        time = entry.get("time")
        shares[_manager(entry)] = Share(
            read_fields(entry.get("fieldsV1") or {}), entry["apiVersion"], format_time(parse_time(time)) if time else ""
        )
    return shares


def is_reset(entries: Any) -> bool:
    """Whether managedFields in a request ask that all of them be forgotten."""
    return entries in ([], [{}])


def entries_of(shares: Shares) -> list[Wire]:
    """The shares as managedFields."""
    entries = [_entry(manager, share) for manager, share in shares.items()]
    entries.sort(key=_place)
    return entries


def capped(shares: Shares) -> Shares:
    """The shares with the oldest updates as one, if too many managers have updated."""
    updaters = [manager for manager in shares if manager.operation == UPDATE]
    surplus = len(updaters) - MOST_UPDATERS
    if surplus <= 0:
        return shares
    capped = dict(shares)
    # To tell managers with the same time apart, the real server compares them as the JSON that it knows them by.
    updaters.sort(key=lambda manager: (shares[manager].time, manager.name, manager.api_version, manager.subresource))
    first: dict[str, Manager] = {}
    for manager in updaters:
        if surplus <= 0:
            break
        share = shares[manager]
        if share.api_version not in first:
            first[share.api_version] = manager
            continue
        bucket = Manager(ANCIENT, UPDATE, share.api_version)
        if bucket not in capped:
            capped[bucket] = capped.pop(first[share.api_version])
        capped[bucket] = Share(union(share.fields, capped[bucket].fields), share.api_version, share.time)
        if manager != bucket:
            del capped[manager]
        surplus -= 1
    return capped


def _manager(entry: Wire) -> Manager:
    operation = entry.get("operation", "")
    version = "" if operation == APPLY else entry.get("apiVersion", "")
    return Manager(entry.get("manager", ""), operation, version, entry.get("subresource", ""))


def _entry(manager: Manager, share: Share) -> Wire:
    entry: Wire = {}
    if manager.name:
        entry["manager"] = manager.name
    entry["operation"] = manager.operation
    entry["apiVersion"] = share.api_version
    if share.time:
        entry["time"] = share.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = share.fields
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
