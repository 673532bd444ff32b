"""The status at the end of a pass: what the author set, the conditions, and which generation they speak of."""

from collections.abc import Mapping, Sequence
from typing import Any

from windvane.api import codec
from windvane.api.condition import Condition, Status, find_condition, set_condition
from windvane.api.resource import Object
from windvane.api.struct import Struct


def status_of(obj: Object) -> dict[str, Any] | None:
    """The status as it goes over the wire; None for kinds that have none."""
    status = getattr(obj, "status", None)
    wire: dict[str, Any] | None = codec.to_wire(status) if isinstance(status, Struct) else None
    return wire


def report(obj: Object, said: Sequence[Condition]) -> dict[str, Any] | None:
    """The status once everything is in it that was said in a pass.

    Who says nothing about Ready is ready: the pass came to its end. The built-in kinds, whose status does not derive
    from `Status`, have conditions of their own kind, and get what the author put there and nothing else.
    """
    status = getattr(obj, "status", None)
    if not isinstance(status, Status):
        return status_of(obj)
    generation = obj.metadata.generation
    status.observed_generation = generation
    conditions = list(said)
    if find_condition(conditions, "Ready") is None:
        conditions.append(Condition(type="Ready", status="True", reason="Reconciled"))
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
