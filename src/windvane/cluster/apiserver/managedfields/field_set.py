"""Sets of fields of an object, in the very form in which managedFields keep them (FieldsV1).

    {"f:spec": {"f:replicas": {}, "f:ports": {'k:{"port":80}': {".": {}, "f:name": {}}}}}

Each key is one step of a path: `f:` leads to a field by its name, `k:` to an item of a list by its key fields, `v:` to
an item of a set by its value. A path is in the set if nothing is below its last step, or if `.` is there as well. So
this set has the fields `.spec.replicas` and `.spec.ports[port=80].name`, and the item `.spec.ports[port=80]` itself.

No function changes its arguments; what it returns may share parts with them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from windvane.api.wording import quoted, shown_float

FieldSet: TypeAlias = dict[str, "FieldSet"]
Path: TypeAlias = tuple[str, ...]
"""Steps from an object's root."""

SELF = "."
# In text that stands inside of other text, Go's JSON escapes what HTML would take for its own.
FOR_HTML = str.maketrans({each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"})


class NotFields(ValueError):
    """A malformed set of fields; the message says why."""


def field_step(name: str) -> str:
    """The step to a field of that name."""
    return f"f:{name}"


def key_step(key: Mapping[str, Any]) -> str:
    """The step to the item of a list that has these key fields."""
    return f"k:{{{','.join([f'{_scalar(name)}:{_json(key[name])}' for name in sorted(key)])}}}"


def value_step(value: Any) -> str:
    """The step to the item of a set that is this value."""
    return f"v:{_json(value)}"


def fields_at(*paths: Path) -> FieldSet:
    """The set of these paths."""
    fields: FieldSet = {}
    for path in paths:
        single: FieldSet = {}
        for step in reversed(path):
            single = {step: single}
        fields = union(fields, single)
    return fields


def is_member(node: FieldSet) -> bool:
    """Whether the path that led to this part of a set is in the set itself."""
    return not node or SELF in node


def contains(fields: FieldSet, path: Path) -> bool:
    """Whether a path is in a set."""
    for step in path:
        if step not in fields:
            return False
        fields = fields[step]
    return bool(path) and is_member(fields)


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """All that is in either."""
    if not one or not other:
        return one or other
    both = dict(one)
    for step, node in other.items():
        mine = both.get(step)
        if mine is None:
            both[step] = node
        elif mine is not node:
            both[step] = union(mine, node) if mine and node else {SELF: {}, **(mine or node)} if mine or node else node
    return both


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """All that is in both."""
    both: FieldSet = {}
    for step, node in one.items():
        if (theirs := other.get(step)) is None:
            continue
        if not node or not theirs:
            if is_member(node) and is_member(theirs):
                both[step] = {}
        elif below := intersection(node, theirs):
            both[step] = _plain(below)
    return both


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """All that is in `one` and not in `other`. A path in `other` does not include those below it."""
    left: FieldSet = {}
    for step, node in one.items():
        theirs = other.get(step)
        if theirs is None:
            left[step] = node
        elif not node:
            if not is_member(theirs):
                left[step] = node
        elif not theirs:
            if below := {inner: each for inner, each in node.items() if inner != SELF}:
                left[step] = below
        elif below := difference(node, theirs):
            left[step] = _plain(below)
    return left


def outside(one: FieldSet, other: FieldSet) -> FieldSet:
    """All that is in `one`, and neither in `other` nor below a path that is."""
    left: FieldSet = {}
    for step, node in one.items():
        theirs = other.get(step)
        if theirs is None:
            left[step] = node
        elif is_member(theirs):
            continue
        elif not node:
            left[step] = node
        elif below := outside(node, theirs):
            left[step] = _plain(below)
    return left


def paths(fields: FieldSet, before: Path = ()) -> Iterator[Path]:
    """Every path in a set, in the order in which the API server lists them: all of one depth before what is deeper."""
    steps = _in_order(fields)
    for step in steps:
        if step != SELF and is_member(fields[step]):
            yield (*before, step)
    for step in steps:
        if step != SELF:
            yield from paths(fields[step], (*before, step))


def words(path: Sequence[str]) -> str:
    """A path as people read it, such as `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(_step_words(step) for step in path)


def read_fields(found: Any) -> FieldSet:
    """A set that came with a request, with every step in the one form that it has here."""
    return _read(found)[0]


def _read(found: Any) -> tuple[FieldSet, bool]:
    """What is below a step, and whether the step is itself in the set."""
    if found is None:
        return {}, True
    if not isinstance(found, dict):
        raise NotFields("a set of fields is written as a JSON object")
    fields: FieldSet = {}
    member = False
    for step, inner in found.items():
        if step == SELF:
            member = True
            continue
        if (known := _known_step(step)) is None:
            continue  # from a later version, perhaps
        below, itself = _read(inner)
        fields[known] = {SELF: {}, **below} if below and itself else below
    return fields, member or not fields


def _known_step(step: str) -> str | None:
    """A step in its one form; None if it is of no known kind."""
    if len(step) < 2:
        raise NotFields("key must be 2 characters long:")
    if step[1] != ":":
        raise NotFields(f"missing colon: {step}")
    kind, text = step[0], step[2:]
    if kind == "f":
        return step
    if kind not in "kvi":
        return None
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise NotFields(f"{step}: {error}") from error
    if kind == "v":
        return value_step(value)
    if kind == "k" and isinstance(value, dict):
        return key_step(value)
    if kind == "i" and isinstance(value, int):
        return f"i:{value}"
    raise NotFields(f"{step} is no step to an item")


def _plain(node: FieldSet) -> FieldSet:
    """A part of a set in its shortest form: what has only itself has nothing."""
    return {} if len(node) == 1 and SELF in node else node


def _json(value: Any) -> str:
    """A value in a step; keys and values are nearly always scalars."""
    if type(value) is not dict and type(value) is not list:
        return _scalar(value)
    return msgspec.json.encode(value, order="sorted").decode()


@lru_cache(maxsize=4096, typed=True)
def _scalar(value: Any) -> str:
    if type(value) is float and value.is_integer() and abs(value) < 1e21:
        value = int(value)
    text = msgspec.json.encode(value).decode()
    if type(value) is str:
        text = text.translate(FOR_HTML)
    return text


def _in_order(fields: FieldSet) -> list[str]:
    steps = list(fields)
    if len(steps) < 2:
        return steps
    # Names are nearly all there is, and they sort as they are; `.` comes before them.
    if all(step[0] in ".f" for step in steps):
        return sorted(steps)
    return sorted(steps, key=_rank)


def _rank(step: str) -> tuple[int, Any]:
    if step == SELF:
        return -1, ""
    kind, text = step[0], step[2:]
    if kind == "f":
        return 0, text
    value = msgspec.json.decode(text)
    if kind == "k":
        return 1, [(name, _value_rank(each)) for name, each in value.items()]
    return (2, _value_rank(value)) if kind == "v" else (3, value)


def _value_rank(value: Any) -> tuple[int, Any]:
    """Numbers come before text, and text before truth."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (3, _json(value))


def _step_words(step: str) -> str:
    kind, text = step[0], step[2:]
    if kind == "f":
        return f".{text}"
    if kind == "k":
        return f"[{','.join(f'{name}={value_words(each)}' for name, each in msgspec.json.decode(text).items())}]"
    return f"[={value_words(msgspec.json.decode(text))}]" if kind == "v" else f"[{text}]"


def value_words(value: Any) -> str:
    """A value in a path, as Go prints it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case float():
            return shown_float(value)
    return str(value)
