"""Which fields of an object a change changed, and which field manager made it, from the bytes before and after.

It is told to people, in the history of passes. So it is a few paths, and values only where they can't be secret:
numbers, booleans, and what a status says in one word. It must cost little: only what differs as bytes is decoded.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

FIELDS = 3
"""So many are told."""
DEPTH = 12
"""Paths are no deeper than that."""
LENGTH = 60
"""So long may a word of a status be."""
QUIET = frozenset({"resourceVersion", "managedFields", "generation", "uid", "creationTimestamp"})
"""What says nothing about a change, in metadata."""
TIMES = frozenset({"lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime", "observedGeneration"})
"""What changes along with all else, and says no more than that something did."""
WORDS = frozenset({"phase", "status", "reason"})
"""What has one word in a status, and no secret."""

_sections: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ABSENT = msgspec.Raw(b"null")


class FieldChange(NamedTuple):
    """What a change was."""

    fields: list[str]
    """The first few that differ: `spec.replicas 3 → 5`."""
    manager: str
    """The one whose entry in managedFields is another; empty if that can't be told."""


NOTHING = FieldChange([], "")


class _Entry(msgspec.Struct):
    """One entry of managedFields."""

    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other entries."""
        return self.manager, self.operation, self.subresource


class _Managed(msgspec.Struct, frozen=True):
    managed_fields: msgspec.Raw = msgspec.field(name="managedFields", default=_ABSENT)


class _Head(msgspec.Struct, frozen=True):
    """What of an object tells which clients have written it."""

    metadata: _Managed = _Managed()


_head: msgspec.json.Decoder[_Head] = msgspec.json.Decoder(_Head)
_entries: msgspec.json.Decoder[list[msgspec.Raw] | None] = msgspec.json.Decoder(list[msgspec.Raw] | None)
_entry: msgspec.json.Decoder[_Entry] = msgspec.json.Decoder(_Entry)


def field_change(before: bytes, after: bytes) -> FieldChange:
    """What differs between two versions of an object; an empty `before` is for one that is new."""
    if not after:
        return NOTHING
    try:
        if not before:
            return FieldChange([], _manager(_ABSENT, _head.decode(after).metadata.managed_fields))
        both = _Both(before, after)
        return FieldChange(both.fields(), both.manager())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return NOTHING  # the reader of the object says what is wrong with it


def changed_fields(before: bytes, after: bytes) -> list[str]:
    """The fields alone."""
    try:
        return _Both(before, after).fields()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []


class _Both:
    """Two versions of an object, decoded no deeper than their metadata."""

    def __init__(self, before: bytes, after: bytes) -> None:
        self._old, self._new = _sections.decode(before), _sections.decode(after)
        self._old_metadata = _sections.decode(self._old.get("metadata", b"{}"))
        self._new_metadata = _sections.decode(self._new.get("metadata", b"{}"))

    def fields(self) -> list[str]:
        fields = [
            *_of_sections(self._old_metadata, self._new_metadata, "metadata.", QUIET),
            *_of_sections(self._old, self._new, "", frozenset({"metadata"})),
        ]
        return fields[:FIELDS]

    def manager(self) -> str:
        old, new = self._old_metadata, self._new_metadata
        return _manager(old.get("managedFields", _ABSENT), new.get("managedFields", _ABSENT))


def _of_sections(
    old: dict[str, msgspec.Raw], new: dict[str, msgspec.Raw], prefix: str, without: frozenset[str]
) -> list[str]:
    fields: list[str] = []
    for name in new | old:
        before, after = old.get(name, _ABSENT), new.get(name, _ABSENT)
        if name in without or before == after:
            continue
        for each in _differences(msgspec.json.decode(before), msgspec.json.decode(after), prefix + name, DEPTH):
            fields.append(each)
            if len(fields) == FIELDS:
                return fields
    return fields


def _differences(old: Any, new: Any, path: str, depth: int) -> Iterator[str]:
    if old == new:
        return
    if isinstance(old, list) and isinstance(new, list):
        old, new, form = _by_name(old), _by_name(new), "{}[{}]"
    else:
        form = "{}.{}"
    if depth and isinstance(old, dict) and isinstance(new, dict):
        for name in new | old:
            if name not in TIMES:
                yield from _differences(old.get(name), new.get(name), form.format(path, name), depth - 1)
    else:
        yield _described(old, new, path)


def _by_name(values: list[Any]) -> dict[str, Any]:
    """A list as a dict: by the type of conditions, by the name of containers, or else by position."""
    for key in ("type", "name"):
        if values and all(isinstance(each, dict) and isinstance(each.get(key), str) for each in values):
            named = {each[key]: each for each in values}
            if len(named) == len(values):
                return named
    return {str(number): each for number, each in enumerate(values)}


def _described(old: Any, new: Any, path: str) -> str:
    if new is None:
        return f"{path} is gone"
    if not _may_be_shown(new, path):
        return path
    if old is None or not _may_be_shown(old, path):
        return f"{path} is {_shown(new)}"
    return f"{path} {_shown(old)} → {_shown(new)}"


def _may_be_shown(value: Any, path: str) -> bool:
    if isinstance(value, bool | int | float):
        return True
    one_word = path.startswith("status.") and path.rpartition(".")[2] in WORDS
    return one_word and isinstance(value, str) and len(value) <= LENGTH


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _manager(before: msgspec.Raw, after: msgspec.Raw) -> str:
    """The field manager whose entry in managedFields is another one."""
    if before == after:
        return ""
    known = {bytes(each) for each in _entries.decode(before) or ()}
    changed = [
        (_entry.decode(each), len(bytes(each))) for each in _entries.decode(after) or () if bytes(each) not in known
    ]
    if len(changed) > 1:
        # A manager that takes a field over changes the entry of the manager that had it as well, which has less in it
        # then.
        sizes = {each.key: len(raw) for raw in known for each in (_entry.decode(raw),)}
        return max(changed, key=lambda each: (each[1] >= sizes.get(each[0].key, 0), each[0].time))[0].manager
    return changed[0][0].manager if changed else ""
