"""Create, update, patch and delete: each reads what is there, decides what should be, and swaps it in.

A write is a compare-and-swap in the store. One that names the version it is based on fails if that is no longer the
current one; one that doesn't is tried again on whatever is current by then.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from windvane.api.kind import Kind
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.wording import invalid
from windvane.cluster.apiserver import metadata
from windvane.cluster.apiserver.catalog import ResourceType
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
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.store.record import Entry, Key
from windvane.cluster.apiserver.store.store import Stale, Store
from windvane.cluster.apiserver.target import Target
from windvane.cluster.apiserver.wire.stored import key_of, pack, unpack

Wire = dict[str, Any]
ATTEMPTS = 10
PERMANENT = frozenset({"default", "kube-system", "kube-public"})
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
    }
)
# Built-in kinds that, as custom ones, can only be updated by who knows their version.
NEEDS_VERSION = frozenset({"leases.coordination.k8s.io", "apiservices.apiregistration.k8s.io"})
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


@dataclass(frozen=True, slots=True)
class Deletion:
    """How an object is to be deleted."""

    uid: str = ""
    resource_version: str = ""
    propagation: str = ""
    grace: int | None = None
    dry_run: bool = False


class Writer:
    """Changes the store by the rules of the API."""

    def __init__(self, store: Store, rules: Rules) -> None:
        self._store = store
        self._rules = rules

    async def create(self, target: Target, wire: Wire, *, dry_run: bool = False) -> Written:
        """Store a new object."""
        type_ = target.type
        metadata.check_placement(type_, wire, target.namespace)
        metadata.begin(type_, wire)
        self._rules.prepare_create(type_, wire)
        name = wire["metadata"]["name"]
        self._check_namespace(target, name)
        key = key_of(type_, target.namespace, name)
        if dry_run:
            if self._store.get(key) is not None:
                raise already_exists(type_.kind, name)
            return Written(_unversioned(type_, wire))
        try:
            record = await self._store.commit(key, 0, _packer(type_, wire))
        except Stale as stale:
            refusal = already_exists(type_.kind, name)
            if stale.entry is not None and b'"deletionTimestamp"' in stale.entry.value:
                refusal.status.message = f"object is being deleted: {refusal.status.message}"
            raise refusal from None
        return Written(record.value)

    async def update(self, target: Target, wire: Wire, *, dry_run: bool = False) -> Written:
        """Put an object in place of the one that is there."""
        metadata.check_placement(target.type, wire, target.namespace)

        def replace(current: Wire) -> Wire:
            _check_identity(target, wire, current)
            return deepcopy(wire)

        check_name(target, wire)
        try:
            return await self.modify(target, replace, dry_run=dry_run)
        except Failure as refusal:
            missing = refusal.status.code == 404 and not target.subresource
            if not missing or target.type.kind.resource not in MADE_BY_UPDATE or dry_run:
                raise
        return Written((await self.create(target, wire)).value, made=True)

    async def modify(
        self, target: Target, change: Callable[[Wire], Wire], *, dry_run: bool = False, whole: bool = False
    ) -> Written:
        """Store what `change` makes of the object that is there. `change` may be called again if others are faster.

        With `whole`, the change is the server's own: it may be of spec and status at once, and is not checked.
        """
        type_ = target.type
        key = key_of(type_, target.namespace, target.name)
        entry = self._store.get(key)
        for _ in range(ATTEMPTS):
            if entry is None:
                raise not_found(type_.kind, target.name)
            current = unpack(type_, entry.value)
            wire = change(deepcopy(current))
            metadata.check_placement(type_, wire, target.namespace)
            check_name(target, wire)
            _check_version(type_, wire, entry)
            metadata.keep_identity(wire, current)
            warnings: tuple[str, ...] = ()
            if not whole:
                wire = self._rules.restrict(type_, wire, current, target.subresource)
                warnings = tuple(self._rules.prepare_update(type_, wire, current, target.subresource))
            metadata.count_generation(type_, wire, current)
            last_finalizer = is_leaving(current) and not holds(type_, wire)
            if metadata.same(wire, current) and not last_finalizer:
                return Written(entry.value, warnings=warnings)
            if dry_run:
                return Written(pack(type_, wire, entry.revision), warnings=warnings)
            try:
                record = await self._store.commit(key, entry.revision, _packer(type_, wire), delete=last_finalizer)
            except Stale as stale:
                entry = stale.entry  # what is about to be there: reading again would show what was, until that is saved
                continue
            return Written(record.value, gone=last_finalizer, warnings=warnings)
        raise conflict(type_.kind, target.name, MODIFIED)

    async def delete(self, target: Target, how: Deletion) -> Written:
        """Delete an object, or begin to: finalizers and grace periods keep it until they are done."""
        type_ = target.type
        key = key_of(type_, target.namespace, target.name)
        entry = self._store.get(key)
        for _ in range(ATTEMPTS):
            if entry is None:
                raise not_found(type_.kind, target.name)
            current = unpack(type_, entry.value)
            _check_deletion_preconditions(type_, target.name, how, current)
            if type_.kind.resource == "namespaces" and target.name in PERMANENT:
                raise forbidden(type_.kind, target.name, "this namespace may not be deleted")
            wire = deepcopy(current)
            _apply_propagation(wire, how.propagation)
            grace = _grace(type_, wire, how)
            stays = holds(type_, wire) or grace > 0
            if stays and is_leaving(current) and not _hastens(current, grace):
                return Written(entry.value)
            if stays:
                wire = metadata.mark_deleted(wire, grace)
                if type_.kind.resource == "namespaces":
                    wire.setdefault("status", {})["phase"] = "Terminating"
            if how.dry_run:
                return Written(pack(type_, wire, entry.revision), gone=not stays)
            try:
                record = await self._store.commit(key, entry.revision, _packer(type_, wire), delete=not stays)
            except Stale as stale:
                entry = stale.entry  # what is about to be there: reading again would show what was, until that is saved
                continue
            return Written(record.value, gone=not stays)
        raise conflict(type_.kind, target.name, MODIFIED)

    def _check_namespace(self, target: Target, name: str) -> None:
        """Nothing is created in a namespace that isn't there or is going away."""
        if not target.type.kind.namespaced:
            return
        entry = self._store.get(Key("/namespaces", "", target.namespace))
        if entry is None:
            raise not_found(NAMESPACE, target.namespace)
        if b'"deletionTimestamp"' in entry.value:
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


def holds(type_: ResourceType, wire: Wire) -> bool:
    """Whether something must be done before the object can go."""
    if wire["metadata"].get("finalizers"):
        return True
    return type_.kind.resource == "namespaces" and bool(wire.get("spec", {}).get("finalizers"))


def _packer(type_: ResourceType, wire: Wire) -> Callable[[int], bytes]:
    return lambda revision: pack(type_, wire, revision)


def _unversioned(type_: ResourceType, wire: Wire) -> bytes:
    return pack(type_, wire, 0).replace(b',"resourceVersion":"0"', b"", 1)


def check_name(target: Target, wire: Wire) -> None:
    """An object can't be renamed by what is written to its path."""
    stated = wire["metadata"].get("name")
    if not stated:
        why = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if stated != target.name:
        raise bad_request(f"the name of the object ({stated}) does not match the name on the URL ({target.name})")


def _check_identity(target: Target, wire: Wire, current: Wire) -> None:
    """What a whole new object says about which old one it replaces."""
    kind, there = target.type.kind, current["metadata"]
    if (uid := wire["metadata"].get("uid")) and uid != there["uid"]:
        place = f"{kind.group}/{kind.plural}" if target.type.custom else kind.plural
        key = "/".join(part for part in ("/registry", place, target.namespace, target.name) if part)
        why = (
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {there['uid']}"
        )
        raise conflict(kind, target.name, why)
    if wire["metadata"].get("resourceVersion"):
        return
    if target.type.custom or kind.resource in NEEDS_VERSION:
        cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, causes=[cause])
        problem = f"{cause.field}: {cause.message}"
        raise failure(422, "Invalid", f'{kind.resource} "{target.name}" is invalid: {problem}', details)


def _check_version(type_: ResourceType, wire: Wire, entry: Entry) -> None:
    version = wire["metadata"].get("resourceVersion")
    if version in (None, "", "0", str(entry.revision)):
        return
    if not str(version).isdecimal():
        raise failure(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    raise conflict(type_.kind, entry.key.name, MODIFIED)


def _check_deletion_preconditions(type_: ResourceType, name: str, how: Deletion, current: Wire) -> None:
    there = current["metadata"]
    for word, stated, found, explanation in (
        ("UID", how.uid, there["uid"], "deleted and then recreated"),
        ("ResourceVersion", how.resource_version, there["resourceVersion"], "modified"),
    ):
        if stated and stated != found:
            why = (
                f"the {word} in the precondition ({stated}) does not match the {word} in record ({found}). "
                f"The object might have been {explanation}"
            )
            refusal = conflict(type_.kind, name, why)
            # Here, and only here, the real server names the kind and not the resource.
            refusal.status.message = f'Operation cannot be fulfilled on {type_.kind.name} "{name}": {why}'
            if refusal.status.details is not None:
                refusal.status.details.kind = type_.kind.name
            raise refusal


def _apply_propagation(wire: Wire, propagation: str) -> None:
    """Foreground and orphan deletion are finalizers that the garbage collector removes when it is done."""
    finalizers = [
        each for each in wire["metadata"].get("finalizers", ()) if each not in ("foregroundDeletion", "orphan")
    ]
    if propagation == "Foreground":
        finalizers.append("foregroundDeletion")
    elif propagation == "Orphan":
        finalizers.append("orphan")
    elif not propagation:
        return
    if finalizers:
        wire["metadata"]["finalizers"] = finalizers
    else:
        wire["metadata"].pop("finalizers", None)


def _grace(type_: ResourceType, wire: Wire, how: Deletion) -> int:
    """How long the object may take to go. Only pods take time, and only those that are somewhere."""
    if type_.kind.resource != "pods":
        return 0
    spec, status = wire.get("spec", {}), wire.get("status", {})
    if not spec.get("nodeName") or status.get("phase") in ("Failed", "Succeeded"):
        return 0
    if how.grace is not None:
        return how.grace if how.grace >= 0 else 1
    asked: int = spec.get("terminationGracePeriodSeconds", 30)
    return asked


def _hastens(current: Wire, grace: int) -> bool:
    left: int = current["metadata"].get("deletionGracePeriodSeconds", 0)
    return grace < left
