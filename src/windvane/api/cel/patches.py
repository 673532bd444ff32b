"""What expressions can make that are to change an object: `Object{spec: Object.spec{...}}`, and `JSONPatch{op: ...}`.

Nothing is known of the fields of an Object. Its type only says where it is to be: `Object.spec.template` in the field
`template` of an `Object.spec`.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.environment import object_type
from windvane.api.cel.functions import Functions, merged, plain
from windvane.api.cel.library import FUNCTIONS
from windvane.api.cel.times import show_duration, show_timestamp
from windvane.api.cel.types import DYN, STRING, struct
from windvane.api.cel.values import CelError, Duration, MapValue, ObjectValue, Timestamp, is_list, items_of

OBJECT, JSON_PATCH = struct("Object"), struct("JSONPatch")
_CONTAINER = 200  # bytes, of a list or an object without what is in it


class _AnyField(Mapping[str, Declared]):
    """Fields of any name, of which nothing is known."""

    def __getitem__(self, name: str) -> Declared:
        return _ANYTHING

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_ANYTHING = Declared(DYN, 0, 0, {}, False)
_TEXT = Declared(STRING, 0, 0, {}, False)
_OPERATION = object_type("JSONPatch", {"op": _TEXT, "path": _TEXT, "from": _TEXT, "value": _ANYTHING})


def constructible(name: str) -> Declared | None:
    """The types of patches."""
    if name == "JSONPatch":
        return _OPERATION
    if name == "Object" or name.startswith("Object."):
        return Declared(struct(name), 0, 0, {}, False, fields=_AnyField())
    return None


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


PATCH_FUNCTIONS: Functions = merged(
    FUNCTIONS,
    {"jsonpatch.escapeKey": (plain("string_jsonpatch_escapeKey_string", [STRING], STRING, _escaped),)},
)


def misplaced(value: Any, path: str) -> Iterator[str]:
    """The Objects in a value that are not where their types say; `path` is the type that belongs here."""
    room_for(ITEM)
    if isinstance(value, ObjectValue):
        if value.type_name != path:
            room_for(_CONTAINER)
            why = "which matches field name path from root Object type"
            yield f'unexpected type name "{value.type_name}", expected "{path}", {why}'
        for name, inner in value.fields.items():
            yield from misplaced(inner, f"{path}.{name}")
    elif is_list(value):
        for inner in items_of(value):
            yield from misplaced(inner, path)
    elif isinstance(value, MapValue):
        for key in value.keys():  # noqa: SIM118 - not a dict
            yield from misplaced(value.find(key), path)


def as_json(value: Any) -> Any:
    """A value as plain JSON; raises a CelError if it can't be that.

    What is there once in the value may be there a million times in the JSON, so this may raise `TooMuch`.
    """
    room_for(_weight(value))
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, ObjectValue):
        return {name: as_json(inner) for name, inner in value.fields.items()}
    if is_list(value):
        return [as_json(inner) for inner in items_of(value)]
    if isinstance(value, MapValue):
        return {_key(key): as_json(value.find(key)) for key in value.keys()}  # noqa: SIM118 - not a dict
    if isinstance(value, Duration):
        return show_duration(value)
    if isinstance(value, Timestamp):
        return show_timestamp(value)
    raise CelError("unsupported type")


def _weight(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return _CONTAINER if isinstance(value, ObjectValue | MapValue) or is_list(value) else ITEM


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise CelError(f"map key {key} is not a string")
