"""What the API server would say about an object of a custom kind, before there is one to ask."""

import math
from functools import cache
from typing import Any

from windvane.api.custom_resources.crd import root_schema, scale_paths
from windvane.api.kind import is_custom
from windvane.api.openapi.structural import Structural
from windvane.api.openapi.validate import Validator
from windvane.api.resource import Dynamic, Object, kind_of, object_to_wire
from windvane.api.status import StatusCause


def causes(thing: Object, old: Object | None = None) -> list[StatusCause]:
    """What is wrong with an object as a new one, or as what replaces `old`."""
    if isinstance(thing, Dynamic) or not is_custom(kind_of(thing)):
        return []
    structural, validator = _compiled(type(thing))
    before = None if old is None else _filled(old, structural)
    return validator.validate(_filled(thing, structural), before).causes


@cache
def _compiled(cls: type[Object]) -> tuple[Structural, Validator]:
    root = root_schema(cls, documented=False)
    return Structural(root), Validator(root, scale_paths(cls))


def _filled(thing: Object, structural: Structural) -> dict[str, Any]:
    """The wire with the defaults that the server fills in: Python doesn't send what it has by default."""
    wire: dict[str, Any] = _as_sent(object_to_wire(thing))
    structural.drop_nulls(wire)
    structural.fill(wire)
    return wire


def _as_sent(value: Any) -> Any:
    """A copy of a value as the server reads it: JSON has no NaN, and Go no integers beyond 64 bits."""
    if type(value) is dict:
        return {key: _as_sent(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_as_sent(inner) for inner in value]
    if type(value) is float and not math.isfinite(value):
        return None
    return float(value) if type(value) is int and not -(2**63) <= value < 2**63 else value
