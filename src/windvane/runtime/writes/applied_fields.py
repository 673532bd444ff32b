"""Whether an object already is as we would state it: by the fields that the server says are ours, not by guessing.

Comparing a desired object with the one that is there goes wrong: the server fills in defaults, others own other fields,
and `1000m` comes back as `1`. But the object itself says, in managedFields, which fields are ours: we look whether they
are what we state now.

Where the server stores something in other words than ours, an annotation on the object says what we stated, and which
fields were ours after that. If both are as they were, so are the values: a manager that changes one takes it from us.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from windvane.api.resource import Object

Wire = dict[str, Any]
Fields = Mapping[str, "Fields"]

IDENTITY = ("apiVersion", "kind")

RECORD = "windvane.dev/applied"
"""The annotation that says what was stated of an object, where the server stores that in other words."""


def our_fields(wire: Wire, manager: str) -> Fields | None:
    """The fields that `manager` owns by applying them, in the form of FieldsV1; None if there are none."""
    for entry in wire["metadata"].get("managedFields") or ():
        if (entry.get("manager"), entry.get("operation"), entry.get("subresource", "")) == (manager, "Apply", ""):
            fields: Fields = entry.get("fieldsV1") or {}
            return fields
    return None


def our_part(value: Any, fields: Fields) -> Any:
    """What is at those fields of a value, and nothing else of it."""
    if not fields or fields.keys() == _ITSELF:
        return value
    if isinstance(value, dict):
        return {
            name: our_part(value[name], inner)
            for step, inner in fields.items()
            if step.startswith("f:") and (name := step[2:]) in value
        }
    if isinstance(value, list):
        return [part for part in (_our_item(item, fields) for item in value) if part is not _NOT_OURS]
    return value


_ITSELF = {"."}
_NOT_OURS = object()


def _our_item(item: Any, fields: Fields) -> Any:
    for step, inner in fields.items():
        if step.startswith("v:") and item == msgspec.json.decode(step[2:]):
            return item
        if step.startswith("k:") and isinstance(item, dict) and _keys(step).items() <= item.items():
            return our_part(item, inner)
    return _NOT_OURS


def _keys(step: str) -> dict[str, Any]:
    """The fields that tell an item of a list from others: `k:{"uid":"1"}`."""
    keys: dict[str, Any] = msgspec.json.decode(step[2:])
    return keys


def is_applied(stated: Wire, there: Wire, manager: str) -> bool:
    """Whether what we own of an object is exactly what we state, in the very same words."""
    if (fields := our_fields(there, manager)) is None:
        return False
    bare = {key: value for key, value in stated.items() if key not in IDENTITY}
    bare["metadata"] = {key: value for key, value in stated["metadata"].items() if key not in ("name", "namespace")}
    ours = our_part(there, fields)
    return _digest(_without_nothing(bare)) == _digest(_without_nothing({"metadata": {}, **ours}))


def is_recorded(stated: Wire, there: Wire, manager: str) -> bool:
    """Whether the object's own record says that this is what we stated, and nothing of it was taken from us since."""
    recorded = _recorded(there)
    return recorded is not None and recorded == _record(stated, there, manager)


def record(child: Object, stated: Wire, there: Wire, manager: str, *, only_again: bool = False) -> bool:
    """Have `child` say what we state, and which fields are ours by what is there; whether it does.

    With `only_again`, only if what is there has such a record: it would be removed if we did not state it again.
    """
    if (only_again and _recorded(there) is None) or our_fields(there, manager) is None:
        return False
    child.metadata.annotations = {**child.metadata.annotations, RECORD: _record(stated, there, manager)}
    return True


def drop_record(child: Object) -> None:
    """Forget the record of an object that was read, and is stated again."""
    if RECORD in child.metadata.annotations:
        child.metadata.annotations = {k: v for k, v in child.metadata.annotations.items() if k != RECORD}


def _recorded(there: Wire) -> str | None:
    recorded: str | None = (there["metadata"].get("annotations") or {}).get(RECORD)
    return recorded


def _record(stated: Wire, there: Wire, manager: str) -> str:
    fields = our_fields(there, manager) or {}
    return f"{_digest(stated).hex()}-{_digest(_without_record(fields)).hex()}"


def _without_record(fields: Fields) -> Fields:
    """Our fields but for the record itself, which is not there yet when it is made."""
    metadata = dict(fields.get("f:metadata") or {})
    annotations = {
        step: inner for step, inner in (metadata.get("f:annotations") or {}).items() if step != f"f:{RECORD}"
    }
    if annotations.keys() <= _ITSELF:
        metadata.pop("f:annotations", None)
    else:
        metadata["f:annotations"] = annotations
    return {**fields, "f:metadata": metadata}


def _without_nothing(wire: Wire) -> Wire:
    if not wire["metadata"]:
        wire = {key: value for key, value in wire.items() if key != "metadata"}
    return wire


def _digest(value: Any) -> bytes:
    return blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=12).digest()
