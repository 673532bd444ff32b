"""What differs between two values of one shape: which fields are gone, which are new, and which say something else."""

from dataclasses import dataclass
from typing import Any

from windvane.api.json_value import same_json
from windvane.cluster.apiserver.managedfields.field_set import SELF, FieldSet, field_step, outside, union
from windvane.cluster.apiserver.managedfields.shape import DEDUCED, Shape


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields by which a new value differs from an old one."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    @property
    def written(self) -> FieldSet:
        """All that the new value has and the old one didn't have like that."""
        return union(self.modified, self.added)

    def outside(self, ignored: FieldSet) -> "Comparison":
        """The same without the fields that don't count."""
        if not ignored:
            return self
        return Comparison(outside(self.removed, ignored), outside(self.modified, ignored), outside(self.added, ignored))


def compare(shape: Shape, old: Any, new: Any) -> Comparison:
    """How `new` differs from `old`, both whole objects."""
    walk = _Walk()
    walk.compare(shape, old, new, walk.removed, walk.modified, walk.added)
    return Comparison(walk.removed, walk.modified, walk.added)


class _Walk:
    """One comparison. Sets grow along with the walk: below a step, each is found or made only if it is needed."""

    def __init__(self) -> None:
        self.removed: FieldSet = {}
        self.modified: FieldSet = {}
        self.added: FieldSet = {}

    def compare(self, shape: Shape, old: Any, new: Any, removed: FieldSet, modified: FieldSet, added: FieldSet) -> bool:
        """Compare two values that are both there. Says whether they differ as one value; parts go into the sets."""
        form, before = shape.form_of(new), shape.form_of(old)
        differs = False
        if before != form:
            differs = self._compare_as(before, shape, old, new, removed, modified, added)
        return self._compare_as(form, shape, old, new, removed, modified, added) or differs

    def _compare_as(
        self, form: str, shape: Shape, old: Any, new: Any, removed: FieldSet, modified: FieldSet, added: FieldSet
    ) -> bool:
        if form == "map" and not shape.whole_map:
            mine = old if type(old) is dict else {}
            theirs = new if type(new) is dict else {}
            if mine or theirs:
                self._compare_maps(shape, mine, theirs, removed, modified, added)
                return False
        elif form == "list" and not shape.whole_list:
            listed = old if type(old) is list else []
            relisted = new if type(new) is list else []
            if listed or relisted:
                self._compare_lists(shape, listed, relisted, removed, modified, added)
                return False
        return not same_json(old, new)

    def _compare_maps(
        self,
        shape: Shape,
        old: dict[str, Any],
        new: dict[str, Any],
        removed: FieldSet,
        modified: FieldSet,
        added: FieldSet,
    ) -> None:
        for name, value in new.items():
            # Most of what there is is plain, and looking things up is what takes time here.
            plain = type(value) not in _CONTAINERS
            if name not in old:
                added[field_step(name)] = {} if plain else everything(shape.field(name) or DEDUCED, value)
            elif plain and type(old[name]) is type(value):
                if old[name] != value:
                    modified[field_step(name)] = {}
            else:
                below = shape.field(name) or DEDUCED
                self._compare_part(field_step(name), below, old[name], value, removed, modified, added)
        for name, value in old.items():
            if name not in new:
                removed[field_step(name)] = everything(shape.field(name) or DEDUCED, value)

    def _compare_lists(
        self, shape: Shape, old: list[Any], new: list[Any], removed: FieldSet, modified: FieldSet, added: FieldSet
    ) -> None:
        below = shape.item()
        mine, theirs = by_step(shape, old), by_step(shape, new)
        for step, items in theirs.items():
            before = mine.get(step, ())
            if len(before) == 1 and len(items) == 1:
                self._compare_part(step, below, before[0], items[0], removed, modified, added)
            elif not before:
                added[step] = everything(below, items[0]) if len(items) == 1 else {}
            elif len(items) == 1:  # no longer there twice
                added[step] = everything(below, items[0])
                removed[step] = {}
            elif len(before) == 1:  # now there twice
                removed[step] = everything(below, before[0])
                added[step] = {}
            elif not same_json(list(before), list(items)):
                modified[step] = {}
        for step, items in mine.items():
            if step not in theirs:
                removed[step] = everything(below, items[0]) if len(items) == 1 else {}

    def _compare_part(
        self, step: str, shape: Shape, old: Any, new: Any, removed: FieldSet, modified: FieldSet, added: FieldSet
    ) -> None:
        gone: FieldSet = {}
        changed: FieldSet = {}
        came: FieldSet = {}
        if self.compare(shape, old, new, gone, changed, came):
            changed = {SELF: {}, **changed} if changed else changed
            modified[step] = changed
        elif changed:
            modified[step] = changed
        if gone:
            removed[step] = gone
        if came:
            added[step] = came


def everything(shape: Shape, value: Any) -> FieldSet:
    """All fields of a value that has no counterpart, itself included."""
    kind = type(value)
    if kind is dict:
        if value and not shape.whole_map and "map" in shape.forms:
            below: FieldSet = {SELF: {}}
            for name, inner in value.items():
                plain = type(inner) not in _CONTAINERS
                below[f"f:{name}"] = {} if plain else everything(shape.field(name) or DEDUCED, inner)
            return below
    elif kind is list and value and not shape.whole_list and "list" in shape.forms:
        below = {SELF: {}}
        item = shape.item()
        for step, items in by_step(shape, value).items():
            below[step] = everything(item, items[0]) if len(items) == 1 else {}
        return below
    return {}


_CONTAINERS = frozenset({dict, list})


def by_step(shape: Shape, items: list[Any]) -> dict[str, list[Any]]:
    """The items of a list by the step that leads to each; more than one only if the list is broken."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(shape.step_to(item), []).append(item)
    return found
