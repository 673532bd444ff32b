"""A value is a Python type that travels as a JSON string or number: `Quantity`, `Duration`, `Cron`, ..."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, TypeGuard


class Value(Protocol):
    """What a class offers so that `codec` can read and write it and `schema` can describe it."""

    wire_schema: ClassVar[Mapping[str, Any]]
    """The structural OpenAPI schema of the value, such as `{"type": "string"}`."""

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Read what JSON holds; raise ValueError that says what is wrong and what is expected."""
        ...

    def to_wire(self) -> str | int | float:
        """What JSON holds for this value."""
        ...


def unshown(pattern: str) -> dict[str, Any]:
    """A schema that asks for a pattern without showing it.

    The server complains with the whole pattern, and one that admits nothing unreadable is too long to be read. So the
    `pattern` of a value is an outline that people can learn from, and the exact one stands under `not`, twice.
    """
    return {"not": {"pattern": pattern}}


def is_value(type_: type[Any]) -> TypeGuard[type[Value]]:
    """Whether `type_` is such a class."""
    return hasattr(type_, "from_wire") and hasattr(type_, "to_wire") and hasattr(type_, "wire_schema")
