"""The status at the end of a pass: what the author set, the conditions, and which generation they speak of."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from windvane.api import codec
from windvane.api.condition import Condition, Status, find_condition, set_condition
from windvane.api.resource import Object
from windvane.api.struct import Struct


class Unwritable(TypeError):
    """A status that can't be sent; the message names the field, and says what to put there."""


def status_of(obj: Object) -> dict[str, Any] | None:
    """The status as it goes over the wire; None for kinds that have none."""
    status = getattr(obj, "status", None)
    if status is None:
        return None
    if not isinstance(status, Struct):
        raise Unwritable(
            f"`status` was replaced by a {type(status).__name__}: set its fields instead, `obj.status.ready = 3`, say"
        )
    try:
        wire: dict[str, Any] = codec.to_wire(status)
    except Exception as error:
        raise Unwritable(_unwritable(status) or f"`status` can't be written as JSON: {error}") from error
    return wire


def check_type(status: Mapping[str, Any], type_: type[Any]) -> None:
    """`Unwritable` if a field of a status was set to what is not of its type, which Python does not notice."""
    try:
        codec.from_wire(status, type_)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$.")
        where = f"`status.{path}" if path else "`status`"
        raise Unwritable(f"{where} is of the wrong type: {what}") from error


def _unwritable(status: Struct) -> str:
    """Which field can't be written."""
    for name in status.__struct_fields__:
        value = getattr(status, name)
        try:
            codec.to_wire(value)
        except Exception:  # noqa: BLE001 - whatever the value's own methods raise
            return (
                f"`status.{name}` is {value!r}, which can't be written as JSON: put what its type says there, made of "
                "strings, numbers, booleans, times, lists, dicts with strings as keys, and structs of these"
            )
    return ""


def report(obj: Object, said: Sequence[Condition], ready: str = "Ready") -> dict[str, Any] | None:
    """The status once everything is in it that was said in a pass.

    An object of which nothing is said in the condition `ready` is ready: the pass came to its end. The built-in kinds,
    whose status does not derive from `Status`, have conditions of their own kind. They get what the author put there
    and no more.
    """
    status = getattr(obj, "status", None)
    if not isinstance(status, Status):
        return status_of(obj)
    generation = obj.metadata.generation
    status.observed_generation = generation
    conditions = list(said)
    if find_condition(conditions, ready) is None:
        conditions.append(Condition(type=ready, status="True", reason="Reconciled"))
    for condition in conditions:
        condition.observed_generation = generation
        set_condition(status.conditions, condition)
    return status_of(obj)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch that makes `after` of `before`."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        was = before.get(name)
        if isinstance(value, Mapping) and isinstance(was, Mapping):
            if inner := changes(was, value):
                patch[name] = inner
        elif name not in before or value != was:
            patch[name] = value
    return patch
