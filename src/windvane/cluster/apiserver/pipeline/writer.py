"""Create, update, patch, apply and delete: each passes a draft through `stages`, and stores the result.

A write is a compare-and-swap in the store. If it names the resourceVersion that it is based on, it fails when that is
not the current one; otherwise it is retried on the newer object. The loop needs no limit: whenever one writer retries,
another has succeeded.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from windvane import ambient
from windvane.api.json_value import Wire, json_copy
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.conversion.cache import NotConvertedYet
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.failure import already_exists, not_found
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.pipeline import object_meta
from windvane.cluster.apiserver.pipeline.deletion import Deletion, Next, next_step
from windvane.cluster.apiserver.pipeline.draft import (
    Draft,
    Existing,
    Merge,
    NameTaken,
    ObjectNotFound,
    ScaleRequest,
    WriteRequest,
    Written,
)
from windvane.cluster.apiserver.pipeline.preconditions import check_address, check_identity, unmet_precondition
from windvane.cluster.apiserver.pipeline.stages import Pipeline, Stages, warn
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.service_addresses import ServiceAddresses
from windvane.cluster.apiserver.registry.storage_codec import key_of, pack, restamped, unpack
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Stale, Store
from windvane.cluster.apiserver.target import Target


class Writer:
    """Changes the store by the rules of the API.

    `by` is the field manager. The server's own writes have no `admission`.
    """

    def __init__(
        self, store: Store, addresses: ServiceAddresses, field_manager: FieldManager, conversions: Conversions
    ) -> None:
        self._store = store
        self._conversions = conversions
        self._stages = Stages(store, addresses, field_manager, conversions)

    async def create(
        self, target: Target, wire: Wire, *, by: str = "", dry_run: bool = False, admission: Admission | None = None
    ) -> Written:
        """Store a new object."""
        request = WriteRequest(target, lambda _: wire, by, dry_run, admission)
        try:
            return await self._stages.create.run(Draft(request, None, wire))
        except Stale as stale:
            raise _taken(target.type, stale.entry) from None

    async def update(
        self, target: Target, wire: Wire, *, by: str = "", dry_run: bool = False, admission: Admission | None = None
    ) -> Written:
        """Replace an object; kinds with `allow_create_on_update` may also be created."""
        check_address(target, wire)
        warn(admission, object_meta.drop_repeated_owners(wire))

        def replacing(current: Wire) -> Wire:
            check_identity(target, wire, current)
            return json_copy(wire)

        while True:
            try:
                return await self.modify(target, replacing, by=by, dry_run=dry_run, admission=admission)
            except ObjectNotFound:
                if target.subresource or not target.type.strategy.allow_create_on_update:
                    raise
            if uid := wire["metadata"].get("uid"):
                raise unmet_precondition(target, "UID", uid, "")
            first = json_copy(wire)
            first["metadata"].pop("resourceVersion", None)
            try:
                return await self.create(target, first, by=by, dry_run=dry_run, admission=admission)
            except NameTaken as taken:
                if taken.name != target.name:  # a webhook has renamed it
                    raise
            await ambient.sleep(0)  # another client was first, so this becomes an update

    async def modify(
        self, target: Target, change: Merge, *, by: str = "", dry_run: bool = False, admission: Admission | None = None
    ) -> Written:
        """Store what `change` makes of the current object. It is called again if another client was faster."""
        request = WriteRequest(target, lambda current: change(json_copy(current)), by, dry_run, admission)
        return await self._swap(self._stages.update, request, self._there(target))

    async def apply(
        self,
        target: Target,
        merge: Callable[[Wire | None], Wire],
        *,
        dry_run: bool = False,
        admission: Admission | None = None,
    ) -> Written:
        """Store what `merge` makes of the current object, or of nothing."""
        change = WriteRequest(target, merge, "", dry_run, admission)
        begin = WriteRequest(target, lambda _: merge(None), "", dry_run, admission)
        entry = self._there(target)
        while True:
            try:
                if entry is not None or target.subresource:
                    return await self._swap(self._stages.apply, change, entry)
                return await self._stages.apply_new.run(Draft(begin, None, {}))
            except Stale as stale:
                if stale.entry is not None and stale.entry.key.name != target.name:
                    raise _taken(target.type, stale.entry) from None  # a webhook has renamed it
                entry = stale.entry  # another client has created it: merge into that
            except ObjectNotFound:
                if entry is None:
                    raise
                entry = None  # it was deleted: create it

    async def scale(
        self,
        target: Target,
        rescale: Callable[[Wire, Wire], Wire],
        *,
        dry_run: bool = False,
        admission: Admission | None = None,
    ) -> Written:
        """Store an object with the replicas of the Scale that `rescale` makes of its current one.

        Admission sees the Scale.
        """
        request = ScaleRequest(target, json_copy, dry_run=dry_run, rescale=rescale, scale_admission=admission)
        return await self._swap(self._stages.scale, request, self._there(target))

    async def amend(self, target: Target, change: Merge, *, dry_run: bool = False) -> Written:
        """Store a change of the server itself: of spec and status at once, unchecked, without a manager."""
        request = WriteRequest(target, lambda current: change(json_copy(current)), dry_run=dry_run)
        return await self._swap(self._stages.amend, request, self._there(target))

    def _there(self, target: Target) -> Entry | None:
        return self._store.get(key_of(target.type, target.namespace, target.name))

    async def _swap(self, stages: Pipeline[Draft, Written], request: WriteRequest, entry: Entry | None) -> Written:
        """Pass the current object through the stages, until no other client is faster."""
        type_ = request.target.type
        while True:
            if entry is None:
                raise ObjectNotFound(not_found(type_.kind, request.target.name).status)
            shown = await self._conversions.to_version(type_, entry.value)
            existing = Existing(entry, shown, unpack(type_, shown))
            try:
                return await self._supplied(stages, Draft(request, existing, existing.wire))
            except Stale as stale:
                entry = stale.entry

    async def _supplied(self, stages: Pipeline[Draft, Written], draft: Draft) -> Written:
        """The same, with the conversions that a merge needs."""
        while True:
            try:
                return await stages.run(draft)
            except NotConvertedYet as missing:
                await self._conversions.supply(missing)

    async def delete(self, target: Target, how: Deletion, *, admission: Admission | None = None) -> Written:
        """Delete an object, or mark it if finalizers or a grace period hold it."""
        type_ = target.type
        key = key_of(type_, target.namespace, target.name)
        entry, marked = self._store.get(key), b""
        while True:
            if entry is None and marked:
                return Written(marked, gone=True)  # another client took the last step
            if entry is None:
                raise not_found(type_.kind, target.name)
            before = await self._conversions.to_version(type_, entry.value)
            current = unpack(type_, before)
            step = next_step(type_, current, how)
            if step.next is Next.WAIT:
                return Written(before)
            if admission and not marked:
                await admission.delete(current, step.granted)
            goes = step.next is Next.GO
            if not goes and object_meta.same(step.wire, current):
                return Written(before)
            # A deleted object is not converted again.
            make = (
                partial(restamped, entry.value)
                if goes
                else partial(pack, type_, await self._conversions.stored(type_, step.wire))
            )
            if how.dry_run:
                shown = await self._conversions.to_version(type_, make(entry.revision))
                return Written(shown, gone=step.next is not Next.MARK)
            try:
                record = await self._store.commit(key, entry.revision, make, delete=goes)
            except Stale as stale:
                entry = stale.entry
                continue
            if goes:
                return Written(record.value, gone=True)
            if step.next is not Next.MARK_THEN_GO:
                return Written(await self._conversions.to_version(type_, record.value))
            entry, marked = self._store.get(key), record.value
            if how.resource_version:
                how = replace(how, resource_version=str(record.revision))


def _taken(type_: ResourceType, entry: Entry | None) -> NameTaken:
    """The 409 for a new object whose name is taken."""
    name = entry.key.name if entry else ""
    refusal = NameTaken(already_exists(type_.kind, name).status, name)
    if entry is not None and object_meta.is_terminating(unpack(type_, entry.value)):
        refusal.status.message = f"object is being deleted: {refusal.status.message}"
    return refusal
