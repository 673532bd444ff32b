"""What a function did to an object, said as a JSON patch onto the object as it came.

The object as it came may have more in it than its class knows, and less than Python shows: a field that has its default
is not on the wire. So what the function changed is found between two typed objects, and put onto the untyped one:

    raw ──read──▶ before            what differs between `before` and `after` is changed in `raw`;
     └────read──▶ after ◀─ function   all else in it stays as it is, known or not
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from windvane.api import codec
from windvane.api.resource import Dynamic, Object, object_to_wire

Patch: TypeAlias = list[dict[str, Any]]
"""The operations of a JSON patch (RFC 6902)."""


class _Absent:
    """Nothing is there, or nothing was changed."""


_ABSENT = _Absent()


def patch_of(raw: dict[str, Any], before: Object, after: Object) -> Patch:
    """The patch that does to `raw`, which `before` was read from, what was done to it to become `after`."""
    changed = _changed_object(raw, before, after) if isinstance(after, Dynamic) else _changed(raw, before, after)
    return [] if changed is _ABSENT else list(_operations(raw, changed, ""))


def _changed_object(raw: Any, before: Any, after: Dynamic) -> Any:
    """What is not metadata is not in one field of a Dynamic on the wire, but beside it."""
    known = {name: (getattr(before, name), getattr(after, name)) for name in ("api_version", "kind", "metadata")}
    pairs = {"apiVersion": known["api_version"], "kind": known["kind"], "metadata": known["metadata"]}
    return _changed_fields(raw, pairs | _pairs(before.content, after.content))


def _changed(raw: Any, before: Any, after: Any) -> Any:
    """`raw` with what differs; absent if nothing does."""
    if type(before) is not type(after):
        return _wire(after)
    if isinstance(after, msgspec.Struct):
        # Most are as they were, and this is the fastest way to see that. By `==`, 1 would be True.
        if codec.encode(before) == codec.encode(after):
            return _ABSENT
        pairs = {
            wire_name: (_or_absent(getattr(before, name)), _or_absent(getattr(after, name)))
            for name, wire_name in zip(after.__struct_fields__, after.__struct_encode_fields__, strict=True)
        }
        return _changed_fields(raw, pairs)
    if isinstance(after, dict):
        return _changed_fields(raw, _pairs(before, after))
    if isinstance(after, list):
        return _changed_items(raw, before, after)
    return _ABSENT if before == after else _wire(after)


def _pairs(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {key: (before.get(key, _ABSENT), after.get(key, _ABSENT)) for key in {**before, **after}}


def _or_absent(value: Any) -> Any:
    return _ABSENT if value is None else value


def _changed_fields(raw: Any, pairs: dict[str, tuple[Any, Any]]) -> Any:
    there: dict[str, Any] = raw if isinstance(raw, dict) else {}
    merged = dict(there)
    touched = False
    for name, (before, after) in pairs.items():
        if after is _ABSENT:
            touched |= before is not _ABSENT
            if before is not _ABSENT:
                merged.pop(name, None)
            continue
        value = _changed(there.get(name), before, after)
        if value is not _ABSENT:
            merged[name] = value
            touched = True
    return merged if touched else _ABSENT


def _changed_items(raw: Any, before: list[Any], after: list[Any]) -> Any:
    if before == after:
        return _ABSENT
    if not isinstance(raw, list) or len(raw) != len(before):
        return _wire(after)
    # Items that were there keep what their class does not know of them, also if others come or go beside them.
    first = _agreeing(zip(before, after, strict=False))
    last = _agreeing(zip(reversed(before[first:]), reversed(after[first:]), strict=False))
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if len(old) == len(new):
        theirs = raw[first : len(raw) - last]
        middle = [
            there if (item := _changed(there, one, other)) is _ABSENT else item
            for there, one, other in zip(theirs, old, new, strict=True)
        ]
    else:
        middle = [_wire(item) for item in new]
    return [*raw[:first], *middle, *raw[len(raw) - last :]]


def _agreeing(pairs: Iterable[tuple[Any, Any]]) -> int:
    """How many of these are the same, until the first that is not."""
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _wire(value: Any) -> Any:
    if isinstance(value, Object):
        return object_to_wire(value)
    if isinstance(value, list):
        return [_wire(item) for item in value]
    return codec.to_wire(value)


def _operations(before: Any, after: Any, path: str) -> Iterable[dict[str, Any]]:
    """The JSON patch from one plain value to another. Lists that grow or shrink are replaced as a whole."""
    if before is after:  # as all is that was not touched
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        for key, value in after.items():
            if key not in before:
                yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}
            else:
                yield from _operations(before[key], value, f"{path}/{_escaped(key)}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _operations(one, other, f"{path}/{index}")
    elif type(before) is not type(after) or before != after:
        yield {"op": "replace", "path": path, "value": after}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
