"""Create, update, patch and delete: each reads what is there, decides what should be, and swaps it in.

A write is a compare-and-swap in the store. One that names the version it is based on fails if that is no longer the
current one; one that doesn't is tried again on what was faster. That is a loop without a limit: whenever one writer
has to try again, another has got through.

What is done, in the real server's order: the place of the object is checked; admission plugins may change it, or refuse
it; it becomes what its kind makes of it, and is checked by the rules of that; admission plugins look at it as it will
be; and then it is counted in quotas and stored, with no wait in between. A dry run differs from a real one in nothing
but that the store is left alone.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from windvane import ambient
from windvane.api.json_value import json_copy
from windvane.api.status import APIStatus, StatusCause
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.admission.resource_quota import ResourceQuota
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.conversion.known import Unconverted
from windvane.cluster.apiserver.failure import (
    Failure,
    already_exists,
    conflict,
    failure,
    forbidden,
    invalid,
    not_found,
)
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.pipeline import object_meta as metadata
from windvane.cluster.apiserver.pipeline.deletion import Deletion, Next, next_step
from windvane.cluster.apiserver.pipeline.preconditions import (
    check_address,
    check_identity,
    check_name,
    check_version,
    unmet_precondition,
)
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.scale import ScaleStrategy
from windvane.cluster.apiserver.registry.service_addresses import ServiceAddresses
from windvane.cluster.apiserver.registry.storage_codec import headed, key_of, pack, restamped, unpack
from windvane.cluster.apiserver.registry.strategy import Strategy
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Stale, Store, Write
from windvane.cluster.apiserver.target import Target

Wire = dict[str, Any]
AFTER_MUTATING = " after mutating admission happens"


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left behind: the object as it is now, or as it was when it went."""

    value: bytes
    gone: bool = False
    made: bool = False
    """Whether the object was not there before."""


class Missing(Failure):
    """The object is not there. A webhook may well say 404 about one that is, and means something else."""


class Taken(Failure):
    """The name of a new object is taken, by the store's own account."""

    def __init__(self, status: APIStatus, name: str) -> None:
        super().__init__(status)
        self.name = name


class Writer:
    """Changes the store by the rules of the API.

    `by` is the manager, as managedFields will name it. The server's own writes need no `admission`.
    """

    def __init__(
        self, store: Store, addresses: ServiceAddresses, field_manager: FieldManager, conversions: Conversions
    ) -> None:
        self._store = store
        self._addresses = addresses
        self._field_manager = field_manager
        self._conversions = conversions
        self._resource_quota = ResourceQuota(store)

    async def create(
        self, target: Target, wire: Wire, *, by: str = "", dry_run: bool = False, admission: Admission | None = None
    ) -> Written:
        """Store a new object."""
        type_ = target.type
        metadata.check_placement(type_, wire, target.namespace)
        _warn(admission, metadata.drop_repeated_owners(wire))
        metadata.wipe(wire)
        drop_status(type_.strategy, wire)
        stated = wire["metadata"].get("managedFields")
        type_.strategy.decode(wire)
        _restore(wire, stated)
        await self._note_creator(type_, wire, by)
        try:
            return await self._add(target, wire, admission, dry_run=dry_run)
        except Stale as stale:
            raise _taken(type_, stale.entry) from None

    async def _note_creator(self, type_: ResourceType, wire: Wire, by: str) -> None:
        stated = wire["metadata"].get("managedFields")
        while True:
            try:
                self._field_manager.record_create(type_, wire, by)
                return
            except Unconverted as missing:  # it came with managers of other versions
                await self._conversions.supply(missing)
                wire["metadata"]["managedFields"] = stated

    async def update(
        self, target: Target, wire: Wire, *, by: str = "", dry_run: bool = False, admission: Admission | None = None
    ) -> Written:
        """Put an object in place of the one that is there; there are kinds of which it may also be the first."""
        check_address(target, wire)
        _warn(admission, metadata.drop_repeated_owners(wire))

        def replacing(current: Wire) -> Wire:
            check_identity(target, wire, current)
            return json_copy(wire)

        while True:
            try:
                return await self.modify(target, replacing, by=by, dry_run=dry_run, admission=admission)
            except Missing:
                if target.subresource or not target.type.strategy.allow_create_on_update:
                    raise
            if uid := wire["metadata"].get("uid"):
                raise unmet_precondition(target, "UID", uid, "")
            first = json_copy(wire)
            first["metadata"].pop("resourceVersion", None)
            try:
                return await self.create(target, first, by=by, dry_run=dry_run, admission=admission)
            except Taken as taken:
                if taken.name != target.name:  # who was asked gave it the name of another
                    raise
            await ambient.sleep(0)  # another client was first; when that is committed, this is an update

    async def modify(
        self,
        target: Target,
        change: Callable[[Wire], Wire],
        *,
        by: str = "",
        dry_run: bool = False,
        admission: Admission | None = None,
    ) -> Written:
        """Store what `change` makes of the object that is there. `change` may be called again if others are faster."""
        type_ = target.type

        async def changed(current: Wire) -> Wire:
            wire = change(json_copy(current))
            metadata.check_placement(type_, wire, target.namespace)
            check_name(target, wire)
            stated = wire["metadata"].get("managedFields")
            type_.strategy.decode(wire)
            _restore(wire, stated)
            self._field_manager.record_update(type_, target.subresource, wire, current, by)
            return await self._admitted(target, wire, current, admission)

        return await self._swap(target, self._there(target), changed, dry_run=dry_run)

    async def apply(
        self,
        target: Target,
        merge: Callable[[Wire | None], Wire],
        *,
        dry_run: bool = False,
        admission: Admission | None = None,
    ) -> Written:
        """Store what `merge` makes of the object that is there, or of nothing."""
        type_ = target.type

        async def merged(current: Wire) -> Wire:
            wire = merge(current)
            metadata.check_placement(type_, wire, target.namespace)
            check_name(target, wire)
            type_.strategy.decode_merged(wire)
            return await self._admitted(target, wire, current, admission)

        entry = self._there(target)
        while True:
            try:
                if entry is not None or target.subresource:
                    return await self._swap(target, entry, merged, dry_run=dry_run)
                return await self._add(target, self._begun(target, merge(None)), admission, dry_run=dry_run)
            except Stale as stale:
                if stale.entry is not None and stale.entry.key.name != target.name:
                    raise _taken(type_, stale.entry) from None  # who was asked gave it the name of another
                entry = stale.entry  # another client was faster: there is something to merge into now
            except Missing:
                if entry is None:
                    raise
                entry = None  # it is gone: there is nothing to merge into any more

    async def scale(
        self,
        target: Target,
        rescale: Callable[[Wire, Wire], Wire],
        *,
        dry_run: bool = False,
        admission: Admission | None = None,
    ) -> Written:
        """Store an object with the replicas of the Scale that `rescale` makes of its own, and of the object.

        Admission sees Scales.
        """
        type_ = target.type

        async def scaled(current: Wire) -> Wire:
            strategy = scale_of(type_)
            before = strategy.read(current)
            before["metadata"]["managedFields"] = self._field_manager.scale_managed_fields(type_, current)
            scale = rescale(json_copy(before), current)
            if admission:
                await admission.mutate(scale, before)
            wire = strategy.write(json_copy(current), scale)
            type_.strategy.decode(wire)
            self._field_manager.record_scale(type_, wire, current, scale)
            changed = await self._prepared(target, wire, current)
            if admission:
                await admission.validate(strategy.read(changed), strategy.read(current))
            return changed

        return await self._swap(target, self._there(target), scaled, dry_run=dry_run)

    async def amend(self, target: Target, change: Callable[[Wire], Wire], *, dry_run: bool = False) -> Written:
        """Store a change of the server's own: of spec and status at once, unchecked, and with no manager."""

        async def changed(current: Wire) -> Wire:
            wire = change(json_copy(current))
            check_version(target, wire, current)
            metadata.keep_identity(wire, current)
            return wire

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
        metadata.wipe(wire)
        drop_status(type_.strategy, wire)
        type_.strategy.decode_merged(wire)
        return wire

    async def _admitted(self, target: Target, wire: Wire, current: Wire, admission: Admission | None) -> Wire:
        """A changed object as it will be stored, once admission has not refused it."""
        type_ = target.type
        if admission is None:
            return await self._prepared(target, wire, current)
        await admission.mutate(wire, current)
        metadata.check_placement(type_, wire, target.namespace)
        changed = await self._prepared(target, wire, current, admission)
        await admission.validate(changed, current)
        return changed

    async def _prepared(self, target: Target, wire: Wire, current: Wire, admission: Admission | None = None) -> Wire:
        """A changed object as its kind makes it; or a `Failure`."""
        type_, subresource = target.type, target.subresource
        check_version(target, wire, current)
        _warn(admission, metadata.drop_repeated_owners(wire, AFTER_MUTATING))
        metadata.keep_identity(wire, current)
        if admission:
            admission.guard(wire, current)
        managed_fields = wire["metadata"].pop("managedFields", None)
        wire = type_.strategy.reset(wire, current, subresource)
        wire["metadata"].pop("managedFields", None)
        if managed_fields:
            wire["metadata"]["managedFields"] = managed_fields
        type_.strategy.prepare_for_update(wire, current, subresource)
        causes = [] if subresource else type_.strategy.allocate(wire, current, self._addresses)
        verdict = await type_.strategy.validate_update(wire, current, subresource)
        refuse(type_, wire, causes + verdict.causes, verdict.warnings)
        _warn(admission, verdict.warnings)
        metadata.count_generation(type_, wire, current, subresource)
        if not subresource:
            _warn(admission, type_.strategy.warnings(wire, current))
        return wire

    async def _add(self, target: Target, wire: Wire, admission: Admission | None, *, dry_run: bool) -> Written:
        """Store a new object, once admission has not refused it; `Stale` if there is one already."""
        type_ = target.type
        if admission:
            status = wire.get("status")
            await admission.mutate(wire, None)
            metadata.check_placement(type_, wire, target.namespace)
            keep_status(type_.strategy, wire, status)
            type_.strategy.record_user(wire, admission.user)
            _warn(admission, metadata.drop_repeated_owners(wire, AFTER_MUTATING))
            admission.guard(wire, None)  # what others made of it counts, not what was sent
        metadata.begin(type_, wire)
        metadata.give_name(wire)
        name = wire["metadata"].get("name", "")
        if type_.leaving:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(type_.kind, name, why)
        type_.strategy.prepare_for_create(wire)
        verdict = await type_.strategy.validate_create(wire)
        # What is allocated is not lost to an object that is refused for something else.
        refuse(type_, wire, verdict.causes or type_.strategy.allocate(wire, None, self._addresses))
        _warn(admission, type_.strategy.warnings(wire, None))
        if admission:
            admission.check_create()
            await admission.validate(wire, None)
        type_.strategy.after_create(wire)
        # While webhooks were called, others may have been given what this one was to have.
        refuse(type_, wire, type_.strategy.allocate(wire, None, self._addresses))
        key = key_of(type_, target.namespace, name)
        stored = await self._conversions.stored(type_, wire)
        charges = self._resource_quota.charges(type_.kind, "", wire, None)
        if dry_run:
            if (entry := self._store.get(key)) is not None:
                raise Stale(key, 0, entry)
            shown = await self._conversions.shown(type_, _unversioned(type_, stored))
            return Written(shown, made=True)
        if wire["metadata"].get("resourceVersion"):
            raise failure(500, "", "resourceVersion should not be set on objects to be created")
        record, *_ = await self._store.commit_together([Write(key, 0, partial(pack, type_, stored)), *charges])
        return Written(await self._conversions.shown(type_, record.value), made=True)

    async def _packed(self, type_: ResourceType, wire: Wire) -> Callable[[int], bytes]:
        """What makes the bytes to store of an object, once its revision is known."""
        return partial(pack, type_, await self._conversions.stored(type_, wire))

    def _there(self, target: Target) -> Entry | None:
        return self._store.get(key_of(target.type, target.namespace, target.name))

    async def _swap(
        self, target: Target, entry: Entry | None, change: Callable[[Wire], Awaitable[Wire]], *, dry_run: bool
    ) -> Written:
        """Store what `change` makes of the object that is there, unless it stays the same."""
        type_ = target.type
        while True:
            if entry is None:
                raise Missing(not_found(type_.kind, target.name).status)
            before = await self._conversions.shown(type_, entry.value)
            current = unpack(type_, before)
            wire = await self._supplied(change, current)
            goes = _goes(type_, wire, current)
            # What is stored as it would not be stored today is written again, changed or not.
            if metadata.same(wire, current) and not goes and self._conversions.is_current(type_, entry.value):
                return Written(before)
            make = await self._packed(type_, wire)
            charges = [] if goes else self._resource_quota.charges(type_.kind, target.subresource, wire, current)
            if dry_run:
                shown = await self._conversions.shown(type_, make(entry.revision))
                return Written(shown, gone=goes)
            write = Write(entry.key, entry.revision, make, delete=goes)
            try:
                record, *_ = await self._store.commit_together([write, *charges])
            except Stale as stale:
                entry = stale.entry
                continue
            return Written(await self._conversions.shown(type_, record.value), gone=goes)

    async def _supplied(self, change: Callable[[Wire], Awaitable[Wire]], current: Wire) -> Wire:
        """What `change` makes of an object, with all that it must know of it in other versions."""
        while True:
            try:
                return await change(current)
            except Unconverted as missing:
                await self._conversions.supply(missing)

    async def delete(self, target: Target, how: Deletion, *, admission: Admission | None = None) -> Written:
        """Delete an object, or begin to: finalizers and grace periods keep it until they are done."""
        type_ = target.type
        key = key_of(type_, target.namespace, target.name)
        entry, marked = self._store.get(key), b""
        while True:
            if entry is None and marked:
                return Written(marked, gone=True)  # another client took the last step
            if entry is None:
                raise not_found(type_.kind, target.name)
            before = await self._conversions.shown(type_, entry.value)
            current = unpack(type_, before)
            step = next_step(type_, current, how)
            if step.next is Next.WAIT:
                return Written(before)
            if admission and not marked:
                await admission.delete(current, step.granted)
            goes = step.next is Next.GO
            if not goes and metadata.same(step.wire, current):
                return Written(before)
            # What goes is not converted once more for that.
            make = partial(restamped, entry.value) if goes else await self._packed(type_, step.wire)
            if how.dry_run:
                shown = await self._conversions.shown(type_, make(entry.revision))
                return Written(shown, gone=step.next is not Next.MARK)
            try:
                record = await self._store.commit(key, entry.revision, make, delete=goes)
            except Stale as stale:
                entry = stale.entry
                continue
            if goes:
                return Written(record.value, gone=True)
            if step.next is not Next.MARK_THEN_GO:
                return Written(await self._conversions.shown(type_, record.value))
            entry, marked = self._store.get(key), record.value
            if how.resource_version:
                how = replace(how, resource_version=str(record.revision))


def refuse(type_: ResourceType, wire: Wire, causes: list[StatusCause], warnings: Sequence[str] = ()) -> None:
    """Raise `Failure` if anything is wrong with an object."""
    if causes:
        refusal = invalid(type_.strategy.stored_kind, wire["metadata"].get("name", ""), causes)
        refusal.warnings += warnings
        raise refusal


def drop_status(strategy: Strategy, wire: Wire) -> None:
    """A new object can't bring its status along."""
    if strategy.has_status and not strategy.keeps_status_of_new:
        wire.pop("status", None)


def keep_status(strategy: Strategy, wire: Wire, status: Any) -> None:
    """Nor does it get one in admission: what it had before is what it has, defaults at most."""
    drop_status(strategy, wire)
    if strategy.has_status and status is not None:
        wire["status"] = status


def scale_of(type_: ResourceType) -> ScaleStrategy:
    """How the Scale of a type is read and written; only types that have one are asked."""
    if type_.strategy.scale is None:
        raise ValueError(f"{type_.kind.resource} has no subresource scale")
    return type_.strategy.scale


def is_leaving(wire: Wire) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in wire["metadata"]


def _goes(type_: ResourceType, wire: Wire, current: Wire) -> bool:
    """Whether nothing holds an object any more that is being deleted: what it is changed to is the last of it."""
    if not is_leaving(current) or current["metadata"].get("deletionGracePeriodSeconds"):
        return False
    held = wire["metadata"].get("finalizers")
    if type_.strategy.spec_finalizers:
        held = held or wire.get("spec", {}).get("finalizers")
    return not held


def _warn(admission: Admission | None, warnings: Iterable[str]) -> None:
    """Tell the client what it should know, also if the object is refused later."""
    if admission:
        admission.warnings.extend(warnings)


def _restore(wire: Wire, stated: Any) -> None:
    """Decoding drops what is empty, but an empty list of managers asks for something."""
    if stated == []:
        wire["metadata"]["managedFields"] = stated


def _unversioned(type_: ResourceType, stored: Wire) -> bytes:
    """A new object that is not stored, and so has no version but the one it was sent with."""
    if type_.strategy.is_unstructured:
        return msgspec.json.encode(headed(stored))
    rest = {key: value for key, value in stored.items() if key not in ("apiVersion", "kind")}
    return msgspec.json.encode(type_.strategy.to_storage({"metadata": stored["metadata"], **rest}))


def _taken(type_: ResourceType, entry: Entry | None) -> Taken:
    """The refusal of a new object whose name is taken."""
    name = entry.key.name if entry else ""
    refusal = Taken(already_exists(type_.kind, name).status, name)
    if entry is not None and "deletionTimestamp" in unpack(type_, entry.value)["metadata"]:
        refusal.status.message = f"object is being deleted: {refusal.status.message}"
    return refusal
