"""The stages of each kind of write, in the real server's order.

`Stages` has the lists first, and then each stage. A stage takes a draft and returns it one step further, or raises a
`Failure`; mypy checks that stages fit together. Nothing may be awaited between `charge` and `commit`, or another write
could come in between.

A dry run passes all of them; only `commit` leaves the store alone.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

from windvane.api.json_value import Wire, json_copy
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.admission.resource_quota import ResourceQuota
from windvane.cluster.apiserver.conversion.cache import NotConvertedYet
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.failure import conflict, failure, forbidden, invalid
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.pipeline import object_meta
from windvane.cluster.apiserver.pipeline.draft import (
    Admitted,
    Charged,
    Converted,
    Decoded,
    Draft,
    Merged,
    Mutated,
    Prepared,
    ScaleRequest,
    Valid,
    Written,
)
from windvane.cluster.apiserver.pipeline.preconditions import check_name, check_version
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.scale import ScaleStrategy
from windvane.cluster.apiserver.registry.service_addresses import ServiceAddresses
from windvane.cluster.apiserver.registry.storage_codec import key_of, pack
from windvane.cluster.apiserver.registry.strategy import ValidationResult
from windvane.cluster.apiserver.storage.store import Stale, Store, Write

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
AFTER_MUTATING = " after mutating admission happens"


class Pipeline(Generic[A, B]):
    """A list of stages."""

    def __init__(self, stages: tuple[Callable[[Any], Awaitable[Any]], ...]) -> None:
        self._stages = stages

    def then(self, stage: Callable[[B], Awaitable[C]]) -> "Pipeline[A, C]":
        """The same with one more stage."""
        return Pipeline((*self._stages, stage))

    async def run(self, draft: A) -> B:
        """Pass a draft through all stages."""
        found: Any = draft
        for stage in self._stages:
            found = await stage(found)
        return found  # type: ignore[no-any-return]


def begin_with(stage: Callable[[A], Awaitable[B]]) -> Pipeline[A, B]:
    """A pipeline of one stage."""
    return Pipeline((stage,))


class Stages:
    """The stages, and the lists of them for each sort of write."""

    def __init__(
        self, store: Store, addresses: ServiceAddresses, field_manager: FieldManager, conversions: Conversions
    ) -> None:
        self._store = store
        self._addresses = addresses
        self._field_manager = field_manager
        self._conversions = conversions
        self._resource_quota = ResourceQuota(store)
        # A POST, or a PUT that makes an object.
        self.create = self._created(begin_with(self.place_new).then(self.decode).then(self.record_creator))
        # An applied configuration of an object that is not there.
        self.apply_new = self._created(begin_with(self.merge).then(self.place_applied).then(self.decode_applied))
        # A PUT or a patch.
        self.update = self._changed(begin_with(self.merge).then(self.place).then(self.decode).then(self.record_updater))
        # An applied configuration of an object that is there.
        self.apply = self._changed(begin_with(self.merge).then(self.place).then(self.decode_applied))
        # A Scale.
        self.scale = (
            begin_with(self.merge_scale)
            .then(self.reset)
            .then(self.validate_change)
            .then(self.admit_scale)
            .then(self.convert)
            .then(self.charge)
            .then(self.commit)
        )
        # A change of the server's own, of spec and status at once.
        self.amend = begin_with(self.merge).then(self.identify).then(self.convert).then(self.charge).then(self.commit)

    def _created(self, begun: Pipeline[Draft, Decoded]) -> Pipeline[Draft, Written]:
        return (
            begun.then(self.mutate_new)
            .then(self.prepare_new)
            .then(self.validate_new)
            .then(self.admit_new)
            .then(self.convert_new)
            .then(self.charge)
            .then(self.commit_new)
        )

    def _changed(self, begun: Pipeline[Draft, Decoded]) -> Pipeline[Draft, Written]:
        return (
            begun.then(self.mutate)
            .then(self.reset)
            .then(self.validate_change)
            .then(self.admit)
            .then(self.convert)
            .then(self.charge)
            .then(self.commit)
        )

    # From the request to an object

    async def merge(self, draft: Draft) -> Merged:
        """Make the new object from the current one."""
        return draft.to(Merged, draft.request.merge(draft.wire))

    async def place(self, draft: Merged) -> Merged:
        """Check that a changed object belongs to the path of the request."""
        target = draft.request.target
        object_meta.check_placement(target.type, draft.wire, target.namespace)
        check_name(target, draft.wire)
        return draft

    async def place_new(self, draft: Draft) -> Merged:
        """The same for a new object, without what only the server may set."""
        target, wire = draft.request.target, draft.wire
        object_meta.check_placement(target.type, wire, target.namespace)
        warn(draft.request.admission, object_meta.drop_repeated_owners(wire))
        object_meta.clear_system_fields(wire)
        object_meta.drop_status(target.type, wire)
        return draft.to(Merged)

    async def place_applied(self, draft: Merged) -> Merged:
        """The same for a new object from an apply configuration."""
        target, wire = draft.request.target, draft.wire
        stated = object_meta.check_placement(target.type, wire, target.namespace)
        if uid := stated.get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(target.type.kind, target.name, why)
        check_name(target, wire)
        stated.pop("resourceVersion", None)  # a new object has no version yet
        object_meta.clear_system_fields(wire)
        object_meta.drop_status(target.type, wire)
        return draft

    async def decode(self, draft: Merged) -> Decoded:
        """Prune unknown fields, and fill in defaults."""
        stated = draft.wire["metadata"].get("managedFields")
        draft.request.target.type.strategy.decode(draft.wire)
        if stated == []:
            draft.wire["metadata"]["managedFields"] = stated  # decoding drops the empty list, which means a reset
        return draft.to(Decoded)

    async def decode_applied(self, draft: Merged) -> Decoded:
        """The same after an apply, which prunes and tracks managers itself."""
        draft.request.target.type.strategy.decode_merged(draft.wire)
        return draft.to(Decoded)

    async def record_creator(self, draft: Decoded) -> Decoded:
        """Record the manager of a new object in managedFields."""
        wire, type_ = draft.wire, draft.request.target.type
        stated = wire["metadata"].get("managedFields")
        while True:
            try:
                self._field_manager.record_create(type_, wire, draft.request.by)
                return draft
            except NotConvertedYet as missing:  # it came with managers of other versions
                await self._conversions.supply(missing)
                wire["metadata"]["managedFields"] = stated

    async def record_updater(self, draft: Decoded) -> Decoded:
        """Record the manager of the changed fields in managedFields."""
        target = draft.request.target
        self._field_manager.record_update(target.type, target.subresource, draft.wire, draft.current, draft.request.by)
        return draft

    async def merge_scale(self, draft: Draft) -> Mutated:
        """Pass a Scale through mutating admission, and write it into the object."""
        request, current = _scale_request(draft), draft.current
        type_ = request.target.type
        strategy = scale_of(type_)
        before = strategy.read(current)
        before["metadata"]["managedFields"] = self._field_manager.scale_managed_fields(type_, current)
        scale = request.rescale(json_copy(before), current)
        if request.scale_admission:
            await request.scale_admission.mutate(scale, before)
        wire = strategy.write(json_copy(current), scale)
        type_.strategy.decode(wire)
        self._field_manager.record_scale(type_, wire, current, scale)
        return await self.identify(draft.to(Merged, wire))

    # Mutating admission

    async def mutate_new(self, draft: Decoded) -> Mutated:
        """Pass a new object through mutating admission, and set its server-side metadata."""
        target, wire, admission = draft.request.target, draft.wire, draft.request.admission
        if admission:
            status = wire.get("status")
            await admission.mutate(wire, None)
            object_meta.check_placement(target.type, wire, target.namespace)
            object_meta.keep_status(target.type, wire, status)
            target.type.strategy.record_user(wire, admission.user)
            warn(admission, object_meta.drop_repeated_owners(wire, AFTER_MUTATING))
            admission.guard(wire, None)  # the object as mutated counts, not as sent
        object_meta.fill_system_fields(target.type, wire)
        object_meta.set_generated_name(wire)
        if target.type.leaving:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(target.type.kind, wire["metadata"].get("name", ""), why)
        return draft.to(Mutated)

    async def mutate(self, draft: Decoded) -> Mutated:
        """Pass a changed object through mutating admission."""
        target, admission = draft.request.target, draft.request.admission
        if admission:
            await admission.mutate(draft.wire, draft.current)
            object_meta.check_placement(target.type, draft.wire, target.namespace)
        return await self.identify(draft)

    async def identify(self, draft: Draft) -> Mutated:
        """Check the identity of a changed object, and whether this client may change it."""
        admission = draft.request.admission
        check_version(draft.request.target, draft.wire, draft.current)
        warn(admission, object_meta.drop_repeated_owners(draft.wire, AFTER_MUTATING))
        object_meta.keep_identity(draft.wire, draft.current)
        if admission:
            admission.guard(draft.wire, draft.current)
        return draft.to(Mutated)

    # What the kind makes of it

    async def prepare_new(self, draft: Mutated) -> Prepared:
        """Let the strategy complete a new object."""
        draft.request.target.type.strategy.prepare_for_create(draft.wire)
        return draft.to(Prepared)

    async def reset(self, draft: Mutated) -> Prepared:
        """Restore what this subresource does not write, and let the strategy complete the rest."""
        target, current = draft.request.target, draft.current
        strategy = target.type.strategy
        managed_fields = draft.wire["metadata"].pop("managedFields", None)
        wire = strategy.reset(draft.wire, current, target.subresource)
        wire["metadata"].pop("managedFields", None)
        if managed_fields:
            wire["metadata"]["managedFields"] = managed_fields
        strategy.prepare_for_update(wire, current, target.subresource)
        return draft.to(Prepared, wire)

    async def validate_new(self, draft: Prepared) -> Valid:
        """Validate a new object, then allocate its addresses: a refused object takes none."""
        type_, wire = draft.request.target.type, draft.wire
        verdict = await type_.strategy.validate_create(wire)
        _refuse(type_, wire, ValidationResult(verdict.causes or type_.strategy.allocate(wire, None, self._addresses)))
        warn(draft.request.admission, type_.strategy.warnings(wire, None))
        return draft.to(Valid)

    async def validate_change(self, draft: Prepared) -> Valid:
        """Validate a changed object, and allocate what it needs now."""
        target, wire, current, admission = draft.request.target, draft.wire, draft.current, draft.request.admission
        strategy, subresource = target.type.strategy, target.subresource
        causes = [] if subresource else strategy.allocate(wire, current, self._addresses)
        verdict = await strategy.validate_update(wire, current, subresource)
        _refuse(target.type, wire, ValidationResult(causes + verdict.causes, verdict.warnings))
        warn(admission, verdict.warnings)
        object_meta.count_generation(target.type, wire, current, subresource)
        if not subresource:
            warn(admission, strategy.warnings(wire, current))
        return draft.to(Valid)

    # Validating admission

    async def admit_new(self, draft: Valid) -> Admitted:
        """Pass a new object through validating admission."""
        type_, wire, admission = draft.request.target.type, draft.wire, draft.request.admission
        if admission:
            admission.check_create()
            await admission.validate(wire, None)
        type_.strategy.after_create(wire)
        # While webhooks were called, another object may have been given the same address.
        _refuse(type_, wire, ValidationResult(type_.strategy.allocate(wire, None, self._addresses)))
        return draft.to(Admitted)

    async def admit(self, draft: Valid) -> Admitted:
        """Pass a changed object through validating admission."""
        if draft.request.admission:
            await draft.request.admission.validate(draft.wire, draft.current)
        return draft.to(Admitted)

    async def admit_scale(self, draft: Valid) -> Admitted:
        """Pass a Scale through validating admission."""
        request = _scale_request(draft)
        if request.scale_admission:
            strategy = scale_of(request.target.type)
            await request.scale_admission.validate(strategy.read(draft.wire), strategy.read(draft.current))
        return draft.to(Admitted)

    # Into the store

    async def convert_new(self, draft: Admitted) -> Converted:
        """Convert a new object to the storage version."""
        type_, wire = draft.request.target.type, draft.wire
        stored = await self._conversions.stored(type_, wire)
        return Converted(draft.request, None, wire, stored, partial(pack, type_, stored))

    async def convert(self, draft: Draft) -> Converted:
        """The same for a changed object; and find out whether it changes at all, or is deleted."""
        type_, wire, existing = draft.request.target.type, draft.wire, draft.existing
        if existing is None:
            raise ValueError("only an object that is there can be changed")
        gone = _is_released(type_, wire, existing.wire)
        # An object in an old version, or without new defaults, is written even if nothing changed.
        is_current = self._conversions.is_current(type_, existing.entry.value)
        same = object_meta.same(wire, existing.wire) and not gone and is_current
        stored = wire if same else await self._conversions.stored(type_, wire)
        return Converted(draft.request, existing, wire, stored, partial(pack, type_, stored), gone, same)

    async def charge(self, draft: Converted) -> Charged:
        """Count the object in the quotas of its namespace, unless it is deleted."""
        target, existing = draft.request.target, draft.existing
        if draft.gone or draft.same:
            return Charged(draft, [])
        current = existing.wire if existing else None
        return Charged(draft, self._resource_quota.charges(target.type.kind, target.subresource, draft.wire, current))

    async def commit_new(self, charged: Charged) -> Written:
        """Store a new object; `Stale` if the name is taken."""
        draft = charged.converted
        target, wire = draft.request.target, draft.wire
        type_ = target.type
        key = key_of(type_, target.namespace, wire["metadata"].get("name", ""))
        if draft.request.dry_run:  # what is not stored has no version but the one it was sent with
            if (entry := self._store.get(key)) is not None:
                raise Stale(key, 0, entry)
            return Written(await self._conversions.to_version(type_, type_.strategy.encode(draft.stored)), made=True)
        if wire["metadata"].get("resourceVersion"):
            raise failure(500, "", "resourceVersion should not be set on objects to be created")
        record, *_ = await self._store.commit_together([Write(key, 0, draft.make), *charged.quotas])
        return Written(await self._conversions.to_version(type_, record.value), made=True)

    async def commit(self, charged: Charged) -> Written:
        """Store a changed object; `Stale` if another client was faster."""
        draft = charged.converted
        existing, type_ = draft.existing, draft.request.target.type
        if existing is None:
            raise ValueError("only an object that is there can be changed")
        if draft.same:
            return Written(existing.shown)
        entry = existing.entry
        if draft.request.dry_run:
            return Written(await self._conversions.to_version(type_, draft.make(entry.revision)), gone=draft.gone)
        write = Write(entry.key, entry.revision, draft.make, delete=draft.gone)
        record, *_ = await self._store.commit_together([write, *charged.quotas])
        return Written(await self._conversions.to_version(type_, record.value), gone=draft.gone)


def scale_of(type_: ResourceType) -> ScaleStrategy:
    """The scale strategy of a type that has one."""
    if type_.strategy.scale is None:
        raise ValueError(f"{type_.kind.resource} has no subresource scale")
    return type_.strategy.scale


def _scale_request(draft: Draft) -> ScaleRequest:
    if not isinstance(draft.request, ScaleRequest):
        raise TypeError("this is no write of a Scale")
    return draft.request


def _is_released(type_: ResourceType, wire: Wire, current: Wire) -> bool:
    """Whether a change removes the last thing that held an object that is being deleted."""
    if not object_meta.is_terminating(current) or current["metadata"].get("deletionGracePeriodSeconds"):
        return False
    held = wire["metadata"].get("finalizers")
    if type_.strategy.spec_finalizers:
        held = held or wire.get("spec", {}).get("finalizers")
    return not held


def _refuse(type_: ResourceType, wire: Wire, verdict: ValidationResult) -> None:
    if verdict.causes:
        refusal = invalid(type_.strategy.stored_kind, wire["metadata"].get("name", ""), verdict.causes)
        refusal.warnings += verdict.warnings
        raise refusal


def warn(admission: Admission | None, warnings: Iterable[str]) -> None:
    """Add warnings, which are sent even if the object is refused later."""
    if admission:
        admission.warnings.extend(warnings)
