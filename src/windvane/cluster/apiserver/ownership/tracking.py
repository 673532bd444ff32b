"""How ownership moves when objects are written: from what was there, and what is wanted, to who owns what.

An update takes what it changes, and loses nobody's fields but those. Applying states fields: they become the applier's
too, next to other owners who want the same, and a conflict if another owner wants something else. What an applier had
stated before, and states no longer, goes away unless somebody else owns it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from windvane.cluster.apiserver.ownership.comparison import Comparison, compare
from windvane.cluster.apiserver.ownership.fields import (
    Fields,
    Path,
    difference,
    fields_at,
    intersection,
    outside,
    paths,
    union,
)
from windvane.cluster.apiserver.ownership.managers import Manager, Share, Shares
from windvane.cluster.apiserver.ownership.merging import merged
from windvane.cluster.apiserver.ownership.parts import follow_schema, stated_fields, with_structs, without
from windvane.cluster.apiserver.ownership.shape import Shape
from windvane.cluster.apiserver.wire.same_json import same_json

Wire = dict[str, Any]

# What the server itself says about an object is nobody's.
NOBODYS = fields_at(
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


@dataclass(frozen=True)
class Terms:
    """By what the fields of a kind are told apart and counted, at one of its doors."""

    api_version: str
    shape_of: Callable[[str], Shape | None]
    """The shape of the kind in a version, or None if there is no such version any more."""
    ignored: Fields = field(default_factory=dict)
    """Fields that nobody can write through this door."""
    ignored_in_others: Fields = field(default_factory=dict)
    """The same fields as other versions have them, where the real server knows that about others."""
    convert: Callable[[Wire, str, str], Wire] = _as_it_is
    """An object in another version: what it is, the version that it is in, and the one that is wanted."""

    @property
    def shape(self) -> Shape:
        """The shape in the version that is written."""
        found = self.shape_of(self.api_version)
        if found is None:
            raise LookupError(f"{self.api_version} is not served")
        return found


class Conflicts(Exception):
    """Others own some of the applied fields, and want something else there."""

    def __init__(self, found: list[tuple[Manager, Path]]) -> None:
        super().__init__(f"{len(found)} conflicts")
        self.found = found


def updated(terms: Terms, live: Wire, new: Wire, shares: Shares, manager: Manager, now: str) -> Shares:
    """The shares after `manager` has put `new` in place of `live`."""
    shares = _followed(terms, shares)
    changes = compare(terms.shape, live, new).outside(terms.ignored)
    if not (changes.removed or changes.modified or changes.added):
        return _taken(shares, {}, {})  # what an update leaves as it is stays with those who have it
    after = _taken(shares, _conflicts(terms, live, new, shares, changes), _removals(terms, live, new, shares, changes))
    if mine := difference(changes.written, NOBODYS):
        before = after.get(manager)
        after[manager] = Share(union(mine, before.fields) if before else mine, terms.api_version, now)
    return after


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying leads to."""

    wire: Wire
    shares: Shares
    changed: bool
    """Whether the object is another one now; who owns it may have changed even if it isn't."""


def applied(terms: Terms, live: Wire, config: Wire, shares: Shares, manager: Manager, *, force: bool) -> Applied:
    """What becomes of `live` when `manager` applies `config`; `Conflicts` if others object and it isn't forced."""
    shape = terms.shape
    shares = _followed(terms, shares)
    last = shares.get(manager)
    mine = outside(stated_fields(shape, config), terms.ignored)
    after = {**shares, manager: Share(mine, terms.api_version, last.time if last else "")}
    new = _without_abandoned(terms, merged(shape, live, config), after, last, mine)
    changes = compare(shape, live, new).outside(terms.ignored)
    others = {each: share for each, share in after.items() if each != manager}
    conflicts = _conflicts(terms, live, new, others, changes)
    if conflicts and not force:
        raise Conflicts([(each, path) for each, fields in conflicts.items() for path in paths(fields)])
    left = _taken(others, conflicts, _removals(terms, live, new, others, changes))
    if kept := difference(mine, NOBODYS):
        left[manager] = after[manager].of(kept)
    return Applied(new, left, not same_json(new, live))


def dated(shares: Shares, manager: Manager, now: str) -> Shares:
    """The shares, with `now` as the time at which that manager last changed something."""
    if manager not in shares:
        return shares
    return {**shares, manager: replace(shares[manager], time=now)}


def _followed(terms: Terms, shares: Shares) -> Shares:
    """The shares that still mean something under the schemas of today."""
    followed = {}
    for manager, share in shares.items():
        if shape := terms.shape_of(share.api_version):
            followed[manager] = share.of(follow_schema(shape, share.fields))
    return followed


def _changes_in(terms: Terms, version: str, live: Wire, new: Wire, changes: Comparison) -> Comparison:
    """The changes as another version of the kind tells them."""
    shape = terms.shape_of(version)
    if version == terms.api_version or shape is None:
        return changes
    here = terms.api_version
    before, after = terms.convert(live, here, version), terms.convert(new, here, version)
    return compare(shape, before, after).outside(terms.ignored_in_others)


def _conflicts(terms: Terms, live: Wire, new: Wire, shares: Shares, changes: Comparison) -> dict[Manager, Fields]:
    """What of each manager's fields is changed."""
    found = {}
    for manager, share in shares.items():
        written = _changes_in(terms, share.api_version, live, new, changes).written
        if written and (theirs := intersection(share.fields, written)):
            found[manager] = theirs
    return found


def _removals(terms: Terms, live: Wire, new: Wire, shares: Shares, changes: Comparison) -> dict[Manager, Fields]:
    """What is removed, as each manager would call it."""
    return {
        manager: _changes_in(terms, share.api_version, live, new, changes).removed for manager, share in shares.items()
    }


def _taken(shares: Shares, conflicts: dict[Manager, Fields], removals: dict[Manager, Fields]) -> Shares:
    """The shares without what was taken from them; who has nothing left is gone."""
    left = {}
    for manager, share in shares.items():
        fields = share.fields
        for lost in (conflicts.get(manager), removals.get(manager)):
            if lost:
                fields = difference(fields, lost)
        if fields:
            left[manager] = share.of(fields)
    return left


def _without_abandoned(terms: Terms, new: Wire, shares: Shares, last: Share | None, mine: Fields) -> Wire:
    """The merged object without what its applier has stated before, states no longer, and nobody else owns."""
    if last is None or not last.fields:
        return new
    shape = terms.shape_of(last.api_version)
    if shape is None or (last.api_version == terms.api_version and not difference(last.fields, mine)):
        return new
    here = last.api_version
    converted = terms.convert(new, terms.api_version, here)
    before = with_structs(shape, last.fields)
    pruned, merged_there, there_version = without(shape, converted, before) or {}, converted, here
    for version in sorted({share.api_version for share in shares.values()}, key=lambda each: each != here):
        if (theirs := terms.shape_of(version)) is None:
            continue
        owned: Fields = {}
        for share in shares.values():
            if share.api_version == version:
                owned = union(owned, share.fields)
        merged_there = terms.convert(merged_there, there_version, version)
        pruned = terms.convert(pruned, there_version, version)
        there_version = version
        kept = union(with_structs(theirs, stated_fields(theirs, pruned)), with_structs(theirs, owned))
        everything = with_structs(theirs, stated_fields(theirs, merged_there))
        pruned = without(theirs, merged_there, difference(everything, kept)) or {}
    pruned = terms.convert(pruned, there_version, here)
    there = with_structs(shape, stated_fields(shape, converted))
    gone = difference(there, with_structs(shape, stated_fields(shape, pruned)))
    left: Wire = without(shape, converted, intersection(gone, before)) or {}
    return terms.convert(left, here, terms.api_version)
