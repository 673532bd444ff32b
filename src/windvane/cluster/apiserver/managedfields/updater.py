"""How managed fields change when an object is updated or applied.

An update takes the fields that it changes from their managers. An apply makes its manager an owner of all fields that
it states, besides other managers with the same value; another manager's different value is a conflict. A field that its
manager no longer applies is removed, unless another manager owns it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from windvane.api.json_value import Wire, same_json
from windvane.cluster.apiserver.managedfields.comparison import Comparison, compare
from windvane.cluster.apiserver.managedfields.field_set import (
    FieldSet,
    Path,
    difference,
    fields_at,
    intersection,
    outside,
    paths,
    union,
)
from windvane.cluster.apiserver.managedfields.managed_fields import ManagedFields, Manager, VersionedSet
from windvane.cluster.apiserver.managedfields.merge import merge
from windvane.cluster.apiserver.managedfields.shape import Shape
from windvane.cluster.apiserver.managedfields.typed_value import follow_schema, stated_fields, with_structs, without

# What the server itself says about an object: no manager owns it.
UNMANAGED = fields_at(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
            "resourceVersion",
        )
    ),
)  # fmt: skip


def _as_it_is(wire: Wire, _from: str, _to: str) -> Wire:
    return wire


class Conflicts(Exception):
    """Other managers own some of the applied fields, with other values."""

    def __init__(self, found: list[tuple[Manager, Path]]) -> None:
        super().__init__(f"{len(found)} conflicts")
        self.found = found


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of an apply."""

    wire: Wire
    managed: ManagedFields
    changed: bool
    """Whether the object changed; its managers may change even if it did not."""


@dataclass(frozen=True)
class Updater:
    """Updates managed fields for writes of one version of a kind, through one subresource or none."""

    api_version: str
    shape_of: Callable[[str], Shape | None]
    """The shape of the kind in a version, or None if there is no such version any more."""
    ignored: FieldSet = field(default_factory=dict)
    """The fields that such a write resets."""
    ignored_in_others: FieldSet = field(default_factory=dict)
    """The same fields in other versions, where the real server knows them."""
    convert: Callable[[Wire, str, str], Wire] = _as_it_is
    """An object in another version: what it is, the version that it is in, and the one that is wanted."""

    @property
    def shape(self) -> Shape:
        """The shape in the version that is written."""
        found = self.shape_of(self.api_version)
        if found is None:
            raise LookupError(f"{self.api_version} is not served")
        return found

    def update(self, live: Wire, new: Wire, managed: ManagedFields, manager: Manager, now: str) -> ManagedFields:
        """The managed fields after `manager` has put `new` in place of `live`."""
        managed = self._followed(managed)
        changes = compare(self.shape, live, new).outside(self.ignored)
        if not (changes.removed or changes.modified or changes.added):
            return _taken(managed, {}, {})  # what an update leaves as it is stays with its managers
        conflicts, removals = self._conflicts(live, new, managed, changes), self._removals(live, new, managed, changes)
        after = _taken(managed, conflicts, removals)
        if mine := difference(changes.written, UNMANAGED):
            before = after.get(manager)
            after[manager] = VersionedSet(union(mine, before.fields) if before else mine, self.api_version, now)
        return after

    def apply(self, live: Wire, config: Wire, managed: ManagedFields, manager: Manager, *, force: bool) -> Applied:
        """Apply `config` to `live`; `Conflicts` if there are some and it isn't forced."""
        shape = self.shape
        managed = self._followed(managed)
        last = managed.get(manager)
        mine = outside(stated_fields(shape, config), self.ignored)
        after = {**managed, manager: VersionedSet(mine, self.api_version, last.time if last else "")}
        new = self._without_abandoned(merge(shape, live, config), after, last, mine)
        changes = compare(shape, live, new).outside(self.ignored)
        others = {each: versioned for each, versioned in after.items() if each != manager}
        conflicts = self._conflicts(live, new, others, changes)
        if conflicts and not force:
            raise Conflicts([(each, path) for each, fields in conflicts.items() for path in paths(fields)])
        left = _taken(others, conflicts, self._removals(live, new, others, changes))
        if kept := difference(mine, UNMANAGED):
            left[manager] = after[manager].with_fields(kept)
        return Applied(new, left, not same_json(new, live))

    def _followed(self, managed: ManagedFields) -> ManagedFields:
        """The managed fields that still mean something under the schemas of today."""
        followed = {}
        for manager, versioned in managed.items():
            if shape := self.shape_of(versioned.api_version):
                followed[manager] = versioned.with_fields(follow_schema(shape, versioned.fields))
        return followed

    def _changes_in(self, version: str, live: Wire, new: Wire, changes: Comparison) -> Comparison:
        """The changes as another version of the kind has them."""
        shape = self.shape_of(version)
        if version == self.api_version or shape is None:
            return changes
        here = self.api_version
        before, after = self.convert(live, here, version), self.convert(new, here, version)
        return compare(shape, before, after).outside(self.ignored_in_others)

    def _conflicts(self, live: Wire, new: Wire, managed: ManagedFields, changes: Comparison) -> dict[Manager, FieldSet]:
        """What of each manager's fields is changed."""
        found = {}
        for manager, versioned in managed.items():
            written = self._changes_in(versioned.api_version, live, new, changes).written
            if written and (theirs := intersection(versioned.fields, written)):
                found[manager] = theirs
        return found

    def _removals(self, live: Wire, new: Wire, managed: ManagedFields, changes: Comparison) -> dict[Manager, FieldSet]:
        """What is removed, in the version of each manager."""
        return {
            manager: self._changes_in(versioned.api_version, live, new, changes).removed
            for manager, versioned in managed.items()
        }

    def _without_abandoned(self, new: Wire, managed: ManagedFields, last: VersionedSet | None, mine: FieldSet) -> Wire:
        """The merged object without the fields that its manager no longer applies and no other manager owns."""
        if last is None or not last.fields:
            return new
        shape = self.shape_of(last.api_version)
        if shape is None or (last.api_version == self.api_version and not difference(last.fields, mine)):
            return new
        here = last.api_version
        converted = self.convert(new, self.api_version, here)
        before = with_structs(shape, last.fields)
        pruned, merged_there, there_version = without(shape, converted, before) or {}, converted, here
        for version in sorted({versioned.api_version for versioned in managed.values()}, key=lambda each: each != here):
            if (theirs := self.shape_of(version)) is None:
                continue
            owned: FieldSet = {}
            for versioned in managed.values():
                if versioned.api_version == version:
                    owned = union(owned, versioned.fields)
            merged_there = self.convert(merged_there, there_version, version)
            pruned = self.convert(pruned, there_version, version)
            there_version = version
            kept = union(with_structs(theirs, stated_fields(theirs, pruned)), with_structs(theirs, owned))
            everything = with_structs(theirs, stated_fields(theirs, merged_there))
            pruned = without(theirs, merged_there, difference(everything, kept)) or {}
        pruned = self.convert(pruned, there_version, here)
        there = with_structs(shape, stated_fields(shape, converted))
        gone = difference(there, with_structs(shape, stated_fields(shape, pruned)))
        left: Wire = without(shape, converted, intersection(gone, before)) or {}
        return self.convert(left, here, self.api_version)


def dated(managed: ManagedFields, manager: Manager, now: str) -> ManagedFields:
    """The managed fields, with `now` as the time at which that manager last changed something."""
    if manager not in managed:
        return managed
    return {**managed, manager: replace(managed[manager], time=now)}


def _taken(
    managed: ManagedFields, conflicts: dict[Manager, FieldSet], removals: dict[Manager, FieldSet]
) -> ManagedFields:
    """The managed fields without those that were taken over; managers without fields are dropped."""
    left = {}
    for manager, versioned in managed.items():
        fields = versioned.fields
        for lost in (conflicts.get(manager), removals.get(manager)):
            if lost:
                fields = difference(fields, lost)
        if fields:
            left[manager] = versioned.with_fields(fields)
    return left
