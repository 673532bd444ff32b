"""The admission plugin ResourceQuota: refuses objects that exceed a quota, and counts those that are stored.

It comes last and is not in the chain: a quota is written together with the object that it counts. The controller counts
what is no longer used. Until it has written a quota's first status, objects that the quota counts are refused.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.quantity import Quantity
from windvane.cluster import quota
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Store, Write
from windvane.cluster.pod_resources import Amounts, add, read_amounts

COLLECTION = "/resourcequotas"


class ResourceQuota:
    """Charges objects to the quotas of their namespace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def charges(self, kind: Kind, subresource: str, wire: Wire, current: Wire | None) -> list[Write]:
        """The changed quotas, to be written together with an object; a `Failure` if it exceeds one.

        `current` is the object so far. Write them at once: after an await, another write may have used the quota.
        """
        namespace = wire["metadata"].get("namespace", "")
        if not namespace or not self._store.count(COLLECTION, namespace) or kind.resource in quota.NOT_COUNTED:
            return []
        if not quota.may_change_usage(kind.resource, subresource, wire, current):
            return []
        there = [entry for entry in self._store.entries_ahead(COLLECTION) if entry.key.namespace == namespace]
        there.sort(key=lambda entry: entry.key.name)
        # Missing fields are reported before exceeded quotas.
        concerned = [found for entry in there if (found := _concerned(entry, kind, wire)) is not None]
        return [write for found in concerned for write in _charge(found, kind, wire, current)]


class _Concerned(NamedTuple):
    """A quota that counts an object."""

    entry: Entry
    wire: Wire
    hard: Amounts
    used: Amounts


def _concerned(entry: Entry, kind: Kind, wire: Wire) -> _Concerned | None:
    """A quota, if it counts such objects; a `Failure` if the object lacks a required field."""
    resource = kind.resource
    found: Wire = msgspec.json.decode(entry.value)
    status = found.get("status") or {}
    hard, used = read_amounts(status.get("hard")), read_amounts(status.get("used"))
    names = {name for name in hard if quota.resource_counted_by(name) == resource}
    if not names or not quota.is_in_scope(resource, wire, found):
        return None
    if resource == "pods" and (missing := quota.unstated(wire, names)):
        raise _refusal(kind, wire, f"failed quota: {entry.key.name}: {missing}")
    if names - used.keys():
        raise _refusal(kind, wire, f"status unknown for quota: {entry.key.name}, resources: {','.join(sorted(names))}")
    return _Concerned(entry, found, hard, used)


def _charge(concerned: _Concerned, kind: Kind, wire: Wire, current: Wire | None) -> Iterable[Write]:
    """The change of one quota; a `Failure` if it is exceeded."""
    entry, found, hard, used = concerned
    resource = kind.resource
    more = quota.usage(resource, wire, ambient.now())
    if current is not None and quota.is_in_scope(resource, current, found):
        more = _difference(more, quota.usage(resource, current, ambient.now()))
    more = {name: amount for name, amount in more.items() if amount > quota.NONE and name in hard}
    if not more:
        return
    after = dict(used)
    add(after, more)
    if exceeded := [name for name in more if after[name] > hard[name]]:
        requested, so_far, limited = (_words(each, exceeded) for each in (more, used, hard))
        why = f"exceeded quota: {entry.key.name}, requested: {requested}, used: {so_far}, limited: {limited}"
        raise _refusal(kind, wire, why)
    found["status"]["used"] = {name: amount.to_wire() for name, amount in after.items()}
    yield Write(entry.key, entry.revision, _packer(found))


def _difference(after: Amounts, before: Amounts) -> dict[str, Quantity]:
    """By how much each amount grows; the controller counts what shrinks."""
    return {name: amount - before[name] if name in before else amount for name, amount in after.items()}


def _words(amounts: Amounts, names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(names))


def _refusal(kind: Kind, wire: Wire, why: str) -> Failure:
    return forbidden(kind, wire["metadata"].get("name", ""), why)


def _packer(found: Wire) -> Callable[[int], bytes]:
    def pack(revision: int) -> bytes:
        return msgspec.json.encode({**found, "metadata": {**found["metadata"], "resourceVersion": str(revision)}})

    return pack
