"""Create, update, patch and delete: each reads what is there, decides what should be, and swaps it in.

A write is a compare-and-swap in the store. One that names the version it is based on fails if that is no longer the
current one; one that doesn't is tried again on what was faster. That is a loop without a limit: whenever one writer
has to try again, another has got through.

What is checked, in the real server's order: the place of the object, its namespace, admission, the rules of its kind,
and only then whether it can be stored. A dry run differs from a real one in nothing but that the store is left alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.wording import invalid
from windvane.cluster.apiserver import metadata
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.deletion import Deletion, Next, next_step
from windvane.cluster.apiserver.failure import (
    MODIFIED,
    Failure,
    already_exists,
    bad_request,
    conflict,
    failure,
    forbidden,
    not_found,
)
from windvane.cluster.apiserver.ownership.owners import Owners
from windvane.cluster.apiserver.quotas import Quotas
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.scale import read_scale, write_scale
from windvane.cluster.apiserver.store.record import Entry, Key
from windvane.cluster.apiserver.store.store import Stale, Store, Write
from windvane.cluster.apiserver.target import Target
from windvane.cluster.apiserver.wire.json_copy import json_copy
from windvane.cluster.apiserver.wire.stored import key_of, pack, unpack

Wire = dict[str, Any]
Changed = tuple[Wire, tuple[str, ...]]
"""An object that was changed, and warnings about it."""
# Kinds that a PUT may create.
MADE_BY_UPDATE = frozenset(
    {
        "clusterrolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "endpoints",
        "events",
        "events.events.k8s.io",
        "leases.coordination.k8s.io",
        "limitranges",
        "rolebindings.rbac.authorization.k8s.io",
        "roles.rbac.authorization.k8s.io",
        "runtimeclasses.node.k8s.io",
        "services",
    }
)
# Built-in kinds that, as custom ones, can only be updated by who knows their version.
NEEDS_VERSION = frozenset(
    {
        "apiservices.apiregistration.k8s.io",
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "leases.coordination.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "poddisruptionbudgets.policy",
        "runtimeclasses.node.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "volumeattachments.storage.k8s.io",
    }
)
Guard = Callable[[Wire, Wire | None], None]
"""Asked before a change is made, with the object as it shall be and as it is; it says no by raising a `Failure`."""
NAMESPACE = Kind(group="", version="v1", name="Namespace", plural="namespaces", namespaced=False)


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left behind: the object as it is now, or as it was when it went."""

    value: bytes
    gone: bool = False
    made: bool = False
    """Whether the object was not there before."""
    warnings: tuple[str, ...] = ()
    """What whoever wrote it should know."""


class Writer:
    """Changes the store by the rules of the API. `by` is who writes, as managedFields will name it."""

    def __init__(self, store: Store, rules: Rules, owners: Owners) -> None:
        self._store = store
        self._rules = rules
        self._owners = owners
        self._quotas = Quotas(store)

    async def create(
        self, target: Target, wire: Wire, *, by: str = "", dry_run: bool = False, guard: Guard | None = None
    ) -> Written:
        """Store a new object."""
        type_ = target.type
        metadata.check_placement(type_, wire, target.namespace)
        repeated = tuple(metadata.drop_repeated_owners(wire))
        metadata.begin(type_, wire)
        self._rules.drop_status(type_, wire)
        stated = wire["metadata"].get("managedFields")
        self._rules.decode(type_, wire)
        _restore(wire, stated)
        self._owners.created(type_, wire, by)
        await self._rules.wait(type_, wire)
        self._check_new(target, wire, guard)
        metadata.give_name(wire)
        try:
            made = await self._add(target, wire, dry_run=dry_run)
        except Stale as stale:
            raise _taken(type_, stale.entry) from None
        return replace(made, warnings=repeated + made.warnings)

    async def update(
        self, target: Target, wire: Wire, *, by: str = "", dry_run: bool = False, guard: Guard | None = None
    ) -> Written:
        """Put an object in place of the one that is there; there are kinds of which it may also be the first."""
        check_address(target, wire)
        repeated = tuple(metadata.drop_repeated_owners(wire))

        def replacing(current: Wire) -> Wire:
            _check_identity(target, wire, current)
            return json_copy(wire)

        while True:
            try:
                written = await self.modify(target, replacing, by=by, dry_run=dry_run, guard=guard)
                return replace(written, warnings=repeated + written.warnings)
            except Failure as refusal:
                missing = refusal.status.code == 404 and not target.subresource
                if not missing or target.type.kind.resource not in MADE_BY_UPDATE:
                    raise
            if uid := wire["metadata"].get("uid"):
                raise _unmet_precondition(target, "UID", uid, "")
            first = json_copy(wire)
            first["metadata"].pop("resourceVersion", None)
            try:
                made = await self.create(target, first, by=by, dry_run=dry_run, guard=guard)
                return replace(made, warnings=repeated + made.warnings)
            except Failure as refusal:
                if refusal.status.reason != "AlreadyExists":
                    raise
            await ambient.sleep(0)  # somebody else was first; when that is committed, this is an update

    async def modify(
        self,
        target: Target,
        change: Callable[[Wire], Wire],
        *,
        by: str = "",
        dry_run: bool = False,
        guard: Guard | None = None,
    ) -> Written:
        """Store what `change` makes of the object that is there. `change` may be called again if others are faster."""
        type_ = target.type

        def changed(current: Wire) -> Changed:
            wire = change(json_copy(current))
            metadata.check_placement(type_, wire, target.namespace)
            check_name(target, wire)
            stated = wire["metadata"].get("managedFields")
            self._rules.decode(type_, wire)
            _restore(wire, stated)
            self._owners.updated(type_, target.subresource, wire, current, by)
            return self._prepared(target, wire, current, guard)

        return await self._swap(target, self._there(target), changed, dry_run=dry_run)

    async def apply(
        self,
        target: Target,
        merge: Callable[[Wire | None], Wire],
        *,
        dry_run: bool = False,
        guard: Guard | None = None,
    ) -> Written:
        """Store what `merge` makes of the object that is there, or of nothing."""
        type_ = target.type

        def merged(current: Wire) -> Changed:
            wire = merge(current)
            metadata.check_placement(type_, wire, target.namespace)
            check_name(target, wire)
            self._rules.decode_merged(type_, wire)
            return self._prepared(target, wire, current, guard)

        entry = self._there(target)
        while True:
            try:
                if entry is not None or target.subresource:
                    return await self._swap(target, entry, merged, dry_run=dry_run)
                begun = self._begun(target, merge(None))
                await self._rules.wait(type_, begun)
                self._check_new(target, begun, guard)
                return await self._add(target, begun, dry_run=dry_run)
            except Stale as stale:
                entry = stale.entry  # somebody else was faster: there is something to merge into now
            except Failure as refusal:
                if refusal.status.code != 404 or entry is None:
                    raise
                entry = None  # it is gone: there is nothing to merge into any more

    async def scale(self, target: Target, rescale: Callable[[Wire, Wire], Wire], *, dry_run: bool = False) -> Written:
        """Store an object with the replicas of the Scale that `rescale` makes of its own, and of the object."""
        type_ = target.type

        def scaled(current: Wire) -> Changed:
            scale = read_scale(type_, current)
            scale["metadata"]["managedFields"] = self._owners.scale_entries(type_, current)
            scale = rescale(scale, current)
            wire = write_scale(type_, json_copy(current), scale)
            self._rules.decode(type_, wire)
            self._owners.scaled(type_, wire, current, scale)
            return self._prepared(target, wire, current)

        return await self._swap(target, self._there(target), scaled, dry_run=dry_run)

    async def amend(self, target: Target, change: Callable[[Wire], Wire], *, dry_run: bool = False) -> Written:
        """Store a change of the server's own: of spec and status at once, unchecked, and owned by nobody else."""

        def changed(current: Wire) -> Changed:
            wire = change(json_copy(current))
            _check_version(target, wire, current)
            metadata.keep_identity(wire, current)
            return wire, ()

        return await self._swap(target, self._there(target), changed, dry_run=dry_run)

    def _begun(self, target: Target, wire: Wire) -> Wire:
        """A new object out of what was applied."""
        type_ = target.type
        stated = metadata.check_placement(type_, wire, target.namespace)
        if uid := stated.get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(type_.kind, target.name, why)
        check_name(target, wire)
        stated.pop("resourceVersion", None)  # there is nothing that it could be the version of
        metadata.begin(type_, wire)
        self._rules.drop_status(type_, wire)
        self._rules.decode_merged(type_, wire)
        return wire

    def _prepared(self, target: Target, wire: Wire, current: Wire, guard: Guard | None = None) -> Changed:
        """A changed object as it will be stored, and warnings about it; or a `Failure`."""
        type_, subresource = target.type, target.subresource
        _check_version(target, wire, current)
        warnings = metadata.drop_repeated_owners(wire, " after mutating admission happens")
        metadata.keep_identity(wire, current)
        if guard:
            guard(wire, current)
        owners = wire["metadata"].pop("managedFields", None)
        wire = self._rules.restrict(type_, wire, current, subresource)
        wire["metadata"].pop("managedFields", None)
        if owners:
            wire["metadata"]["managedFields"] = owners
        warnings += self._rules.prepare_update(type_, wire, current, subresource)
        metadata.count_generation(type_, wire, current, subresource)
        warnings += self._rules.warnings(type_, wire, current, subresource)
        return wire, tuple(warnings)

    async def _add(self, target: Target, wire: Wire, *, dry_run: bool) -> Written:
        """Store a new object that is all but finished; `Stale` if there is one already."""
        type_ = target.type
        name = wire["metadata"].get("name", "")
        if type_.leaving:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(type_.kind, name, why)
        self._rules.prepare_create(type_, wire)
        warnings = tuple(self._rules.warnings(type_, wire, None))
        key = key_of(type_, target.namespace, name)
        charges = self._quotas.charges(type_.kind, "", wire, None)
        if dry_run:
            if (entry := self._store.get(key)) is not None:
                raise Stale(key, 0, entry)
            return Written(_unversioned(type_, wire), made=True, warnings=warnings)
        if wire["metadata"].get("resourceVersion"):
            raise failure(500, "", "resourceVersion should not be set on objects to be created")
        record, *_ = await self._store.commit_together([Write(key, 0, _packer(type_, wire)), *charges])
        return Written(record.value, made=True, warnings=warnings)

    def _there(self, target: Target) -> Entry | None:
        return self._store.get(key_of(target.type, target.namespace, target.name))

    async def _swap(
        self, target: Target, entry: Entry | None, change: Callable[[Wire], Changed], *, dry_run: bool
    ) -> Written:
        """Store what `change` makes of the object that is there, unless it stays the same."""
        type_ = target.type
        while True:
            if entry is None:
                raise not_found(type_.kind, target.name)
            current = unpack(type_, entry.value)
            wire, warnings = change(current)
            goes = _goes(type_, wire, current)
            if metadata.same(wire, current) and not goes:
                return Written(entry.value, warnings=warnings)
            charges = [] if goes else self._quotas.charges(type_.kind, target.subresource, wire, current)
            if dry_run:
                return Written(pack(type_, wire, entry.revision), gone=goes, warnings=warnings)
            write = Write(entry.key, entry.revision, _packer(type_, wire), delete=goes)
            try:
                record, *_ = await self._store.commit_together([write, *charges])
            except Stale as stale:
                entry = stale.entry
                continue
            return Written(record.value, gone=goes, warnings=warnings)

    async def delete(self, target: Target, how: Deletion) -> Written:
        """Delete an object, or begin to: finalizers and grace periods keep it until they are done."""
        type_ = target.type
        key = key_of(type_, target.namespace, target.name)
        entry, marked = self._store.get(key), b""
        while True:
            if entry is None and marked:
                return Written(marked, gone=True)  # somebody else took the last step
            if entry is None:
                raise not_found(type_.kind, target.name)
            step = next_step(type_, unpack(type_, entry.value), how)
            if step.next is Next.WAIT:
                return Written(entry.value)
            goes = step.next is Next.GO
            if not goes and metadata.same(step.wire, unpack(type_, entry.value)):
                return Written(entry.value)
            if how.dry_run:
                return Written(pack(type_, step.wire, entry.revision), gone=step.next is not Next.MARK)
            try:
                record = await self._store.commit(key, entry.revision, _packer(type_, step.wire), delete=goes)
            except Stale as stale:
                entry = stale.entry
                continue
            if step.next is not Next.MARK_THEN_GO:
                return Written(record.value, gone=goes)
            entry, marked = self._store.get(key), record.value
            if how.resource_version:
                how = replace(how, resource_version=str(record.revision))

    def _check_new(self, target: Target, wire: Wire, guard: Guard | None) -> None:
        """Whether something new may be there, and by whoever makes it."""
        stated = wire["metadata"]
        self.check_namespace(target, stated.get("name") or stated.get("generateName") or "Unknown")
        if guard:
            guard(wire, None)

    def check_namespace(self, target: Target, name: str) -> None:
        """Refuse to create something of that name in a namespace that isn't there, or is going away."""
        if not target.type.kind.namespaced:
            return
        entry = self._store.get(Key("/namespaces", "", target.namespace))
        if entry is None:
            raise not_found(NAMESPACE, target.namespace)
        if is_leaving(msgspec.json.decode(entry.value)):
            why = f"unable to create new content in namespace {target.namespace} because it is being terminated"
            refusal = forbidden(target.type.kind, name, why)
            if refusal.status.details is not None:
                cause = f"namespace {target.namespace} is being terminated"
                refusal.status.details.causes = [
                    StatusCause(reason="NamespaceTerminating", message=cause, field="metadata.namespace")
                ]
            raise refusal


def is_leaving(wire: Wire) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in wire["metadata"]


def _goes(type_: ResourceType, wire: Wire, current: Wire) -> bool:
    """Whether nothing holds an object any more that is being deleted: what it is changed to is the last of it."""
    if not is_leaving(current) or current["metadata"].get("deletionGracePeriodSeconds"):
        return False
    held = wire["metadata"].get("finalizers")
    if type_.kind.resource == "namespaces":
        held = held or wire.get("spec", {}).get("finalizers")
    return not held


def _restore(wire: Wire, stated: Any) -> None:
    """Decoding drops what is empty, but an empty list of managers asks for something."""
    if stated == []:
        wire["metadata"]["managedFields"] = stated


def _packer(type_: ResourceType, wire: Wire) -> Callable[[int], bytes]:
    return lambda revision: pack(type_, wire, revision)


def _unversioned(type_: ResourceType, wire: Wire) -> bytes:
    """A new object that is not stored, and so has no version but the one it was sent with."""
    rest = {key: value for key, value in wire.items() if key not in ("apiVersion", "kind", "metadata")}
    return msgspec.json.encode({"metadata": wire["metadata"], **type_.to_storage(rest)})


def _taken(type_: ResourceType, entry: Entry | None) -> Failure:
    """The refusal of a new object whose name is taken."""
    refusal = already_exists(type_.kind, entry.key.name if entry else "")
    if entry is not None and "deletionTimestamp" in unpack(type_, entry.value)["metadata"]:
        refusal.status.message = f"object is being deleted: {refusal.status.message}"
    return refusal


def check_address(target: Target, wire: Wire) -> None:
    """What is to replace something must say what, and be sent to its path."""
    metadata.check_placement(target.type, wire, target.namespace)
    check_name(target, wire)


def check_name(target: Target, wire: Wire) -> None:
    """An object can't be renamed by what is written to its path."""
    stated = wire["metadata"].get("name")
    if not stated:
        why = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if stated != target.name:
        raise bad_request(f"the name of the object ({stated}) does not match the name on the URL ({target.name})")


def check_uid(target: Target, wire: Wire, current: Wire) -> None:
    """Who states a uid means that object, and no later one of the same name."""
    stated, found = wire["metadata"].get("uid"), current["metadata"]["uid"]
    if stated and stated != found:
        raise _unmet_precondition(target, "UID", stated, found)


def check_preconditions(target: Target, wire: Wire, current: Wire) -> None:
    """The same with a version: what is done depends on the object as it was then."""
    check_uid(target, wire, current)
    stated, found = wire["metadata"].get("resourceVersion"), current["metadata"]["resourceVersion"]
    if stated and stated != found:
        raise _unmet_precondition(target, "ResourceVersion", stated, found)


def _unmet_precondition(target: Target, word: str, stated: str, found: str) -> Failure:
    """The refusal of a change to an object that is not the one that was meant."""
    kind = target.type.kind
    place = f"{kind.group}/{kind.plural}" if target.type.custom else kind.plural
    key = "/".join(part for part in ("/registry", place, target.namespace, target.name) if part)
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {word} in precondition: {stated}, {word} in object meta: {found}"
    )
    return conflict(kind, target.name, why)


def _check_identity(target: Target, wire: Wire, current: Wire) -> None:
    """What a whole new object says about which old one it replaces."""
    kind = target.type.kind
    check_uid(target, wire, current)
    if wire["metadata"].get("resourceVersion") not in (None, "", "0"):
        return
    if target.type.custom or kind.resource in NEEDS_VERSION:
        cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, causes=[cause])
        problem = f"{cause.field}: {cause.message}"
        raise failure(422, "Invalid", f'{kind.resource} "{target.name}" is invalid: {problem}', details)


def _check_version(target: Target, wire: Wire, current: Wire) -> None:
    version = wire["metadata"].get("resourceVersion")
    if version in (None, "", "0", current["metadata"]["resourceVersion"]):
        return
    if not str(version).isdecimal():
        raise failure(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    raise conflict(target.type.kind, target.name, MODIFIED)
