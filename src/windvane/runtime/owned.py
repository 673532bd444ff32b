"""Whether an object already is as we would state it: by the fields that the server says are ours, not by guessing.

Comparing a desired object with the one that is there goes wrong: the server fills in defaults, others own other fields,
and `1000m` comes back as `1`. But the object itself says, in managedFields, which fields are ours. So we look at what
those were when we last stated the same, or at whether they are what we state now.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

Wire = dict[str, Any]
Fields = Mapping[str, "Fields"]

IDENTITY = ("apiVersion", "kind")


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


class Memory:
    """What was stated of one object, and what of it was ours after that.

    A later look that finds the same there needs no write, even if the server stores what we state in other words.
    """

    __slots__ = ("_seen", "_stated")

    def __init__(self, stated: Wire, answered: Wire, manager: str) -> None:
        self._stated = _digest(stated)
        self._seen = _digest(_ours(answered, manager))

    def holds(self, stated: Wire, there: Wire, manager: str) -> bool:
        """Whether stating this again, of what is there now, would change nothing."""
        return self._stated == _digest(stated) and self._seen == _digest(_ours(there, manager))


def is_so(stated: Wire, there: Wire, manager: str) -> bool:
    """Whether what we own of an object is exactly what we state, in the very same words."""
    if (fields := our_fields(there, manager)) is None:
        return False
    bare = {key: value for key, value in stated.items() if key not in IDENTITY}
    bare["metadata"] = {key: value for key, value in stated["metadata"].items() if key not in ("name", "namespace")}
    ours = our_part(there, fields)
    return _digest(_without_nothing(bare)) == _digest(_without_nothing({"metadata": {}, **ours}))


def _ours(wire: Wire, manager: str) -> Any:
    fields = our_fields(wire, manager)
    return None if fields is None else [fields, our_part(wire, fields)]


def _without_nothing(wire: Wire) -> Wire:
    if not wire["metadata"]:
        wire = {key: value for key, value in wire.items() if key != "metadata"}
    return wire


def _digest(value: Any) -> bytes:
    return blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=16).digest()
