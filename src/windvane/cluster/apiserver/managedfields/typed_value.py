"""Which fields a value states, and the value without some of its fields."""

from typing import Any

from windvane.cluster.apiserver.managedfields.comparison import by_step
from windvane.cluster.apiserver.managedfields.field_set import SELF, FieldSet, is_member, outside, union
from windvane.cluster.apiserver.managedfields.shape import DEDUCED, Shape


def stated_fields(shape: Shape, value: Any) -> FieldSet:
    """The fields that an applied object states. A struct is not stated by itself, only by what it has."""
    form = shape.form_of(value)
    if form == "map" and not shape.whole_map and type(value) is dict:
        return _stated_entries(shape, value)
    if form == "list" and not shape.whole_list and type(value) is list:
        stated: FieldSet = {}
        item = shape.item()
        for step, items in by_step(shape, value).items():
            below = _stated_below(item, items[0]) if len(items) == 1 else None
            stated[step] = {SELF: {}, **below} if below else {}
        return stated
    return {}


def _stated_entries(shape: Shape, value: dict[str, Any]) -> FieldSet:
    stated: FieldSet = {}
    for name, inner in value.items():
        plain = type(inner) is not dict and type(inner) is not list
        below = None if plain else _stated_below(shape.field(name) or DEDUCED, inner)
        if below is None:
            stated[f"f:{name}"] = {}
        elif not below:
            # An empty list that is merged by its items says nothing; anything else that is empty is a value.
            if inner == {} or not shape.has_field(name):
                stated[f"f:{name}"] = {}
        else:
            stated[f"f:{name}"] = below if shape.has_field(name) else {SELF: {}, **below}
    return stated


def _stated_below(shape: Shape, value: Any) -> FieldSet | None:
    """The fields below a value, or None if it is one value."""
    form = shape.form_of(value)
    if form == "scalar" or (form == "map" and shape.whole_map) or (form == "list" and shape.whole_list):
        return None
    return stated_fields(shape, value)


def without(shape: Shape, value: Any, fields: FieldSet) -> Any:
    """The value without these fields and all that is below them; None where nothing is left."""
    form = shape.form_of(value)
    if form == "map":
        if type(value) is not dict or not value or shape.whole_map:
            return None
        left = {}
        for name, inner in value.items():
            node = fields.get(f"f:{name}")
            if node is None:
                left[name] = inner
            elif not is_member(node):
                left[name] = without(shape.field(name) or DEDUCED, inner, node)
        return left or None
    if form == "list":
        if type(value) is not list or not value or shape.whole_list:
            return None
        items = []
        for item in value:
            node = fields.get(shape.step_to(item))
            if node is None:
                items.append(item)
            elif not is_member(node):
                items.append(without(shape.item(), item, node))
        return items or None
    return value


def with_structs(shape: Shape, fields: FieldSet) -> FieldSet:
    """The set with every named field in it that it has something below of: structs come and go with their fields."""
    full: FieldSet = {}
    for step, node in fields.items():
        if not node or step == SELF:
            full[step] = node
            continue
        part = _part(shape, step)
        below = with_structs(part, node)
        named = step.startswith("f:") and "map" in shape.forms and shape.has_field(step[2:])
        full[step] = {SELF: {}, **below} if named else below
    return full


def follow_schema(shape: Shape, fields: FieldSet) -> FieldSet:
    """The set as it is under the schema of today: what has become one value is owned as one, or not at all."""
    whole = _now_whole(shape, fields)
    return union(outside(fields, whole), whole) if whole else fields


def _now_whole(shape: Shape, fields: FieldSet) -> FieldSet:
    found: FieldSet = {}
    for step, node in fields.items():
        if step == SELF or not node:
            continue
        if step.startswith("f:"):
            named = shape.field(step[2:]) if "map" in shape.forms else None
            if named is None:
                continue  # nothing is known about such a field
            part = named
        else:
            part = _part(shape, step)
        if len(part.forms) > 1:
            continue
        if (part.forms[0] == "map" and part.whole_map) or (part.forms[0] == "list" and part.whole_list):
            found[step] = {}
        elif below := _now_whole(part, node):
            found[step] = below
    return found


def _part(shape: Shape, step: str) -> Shape:
    if step.startswith("f:"):
        return (shape.field(step[2:]) if "map" in shape.forms else None) or DEDUCED
    return shape.item() if "list" in shape.forms else DEDUCED
