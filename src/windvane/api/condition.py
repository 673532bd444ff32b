"""Conditions: what is true of an object now, since when, and for which generation of its spec."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from windvane import ambient
from windvane.api.markers import Ge, ListMap, MaxLength, MinLength, Patch, Pattern, Required
from windvane.api.struct import Struct, field


class Condition(Struct):
    """One statement about an object, such as `Ready`."""

    type: Annotated[
        str,
        MaxLength(316),
        Pattern(
            r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
        ),
    ]
    """What is stated, in CamelCase."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[str, MinLength(1), MaxLength(1024), Pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    """Why, as one CamelCase word for programs."""
    # A factory, because a field that has its plain default is not sent, and the server asks for this one.
    message: Annotated[str, MaxLength(32768), Required()] = field(default_factory=lambda: "")
    """Why, as a sentence for people."""
    last_transition_time: Annotated[datetime | None, Required()] = None
    """When `status` last changed; `set_condition` keeps it right."""
    observed_generation: Annotated[int | None, Ge(0)] = None
    """The generation of the object that this was said about."""


class Status(Struct):
    """What is so: the `status` of a resource. Subclasses add fields; each needs a default."""

    observed_generation: int | None = None
    """The generation of the spec that this status speaks of."""
    conditions: Annotated[list[Condition], ListMap("type"), Patch("merge", "type")] = []
    """What is true of the object now."""


def find_condition(conditions: Sequence[Condition], type: str) -> Condition | None:  # noqa: A002 - its name
    """The condition of that type, if it is there."""
    return next((condition for condition in conditions if condition.type == type), None)


def set_condition(conditions: list[Condition], condition: Condition) -> bool:
    """Put `condition` into the list in place of the one of its type; say whether anything changed.

    The transition time moves only when `status` does: a new message alone is no transition. It has whole
    seconds, because that is what the server stores; a finer one would differ from it forever.
    """
    current = find_condition(conditions, condition.type)
    moved = current is None or current.status != condition.status
    if moved or current is None:
        since = condition.last_transition_time or ambient.now()
    else:
        since = current.last_transition_time or ambient.now()
    new = Condition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        observed_generation=condition.observed_generation,
        last_transition_time=since.replace(microsecond=0),
    )
    if current is None:
        conditions.append(new)
        return True
    if current == new:
        return False
    conditions[conditions.index(current)] = new
    return True
