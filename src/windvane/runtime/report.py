"""The status at the end of a pass: what the author set, the conditions, and which generation they speak of."""

from collections.abc import Sequence
from typing import Any

from windvane.api import codec
from windvane.api.condition import Condition, Status, find_condition, set_condition
from windvane.api.resource import Object


def status_of(obj: Object) -> dict[str, Any] | None:
    """The status as it goes over the wire; None for kinds whose status is not the operator's to write."""
    status = getattr(obj, "status", None)
    wire: dict[str, Any] | None = codec.to_wire(status) if isinstance(status, Status) else None
    return wire


def report(obj: Object, said: Sequence[Condition]) -> dict[str, Any] | None:
    """The status once everything is in it that was said in a pass.

    Who says nothing about Ready is ready: the pass came to its end.
    """
    status = getattr(obj, "status", None)
    if not isinstance(status, Status):
        return None
    generation = obj.metadata.generation
    status.observed_generation = generation
    conditions = list(said)
    if find_condition(conditions, "Ready") is None:
        conditions.append(Condition(type="Ready", status="True", reason="Reconciled"))
    for condition in conditions:
        condition.observed_generation = generation
        set_condition(status.conditions, condition)
    return status_of(obj)
