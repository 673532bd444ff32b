"""CEL rules, on a struct or on one field: what the API server checks beyond types and bounds.

    class StoreSpec(Spec, rules=[Rule("self.low <= self.high", "too low"), ExactlyOneOf("git", "bucket")]):
        host: Annotated[str, MaxLength(253), Rule("self != 'localhost'", "must be reachable")]

CEL sees the wire: write `self.clusterIP`, not `self.cluster_ip`. `ExactlyOneOf` and its kin take Python names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from windvane.api.cel.grammar.names import escaped_name
from windvane.api.markers import Marker

Reason = Literal["", "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]


@dataclass(frozen=True, slots=True)
class Rule(Marker):
    """A CEL rule that must hold; a rule that names `oldSelf` is checked on updates only."""

    rule: str
    message: str = ""
    message_expression: str = ""
    """CEL that makes the message from the value; `message` is the fallback."""
    reason: Literal["", "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"] = ""
    field_path: str = ""
    """Which field to blame, relative to where the rule stands, such as `.replicas`."""
    optional_old_self: bool = False
    """Check on creation as well; `oldSelf` is then an optional."""

    def keywords(self) -> Mapping[str, Any]:
        wire = {
            "rule": self.rule,
            "message": self.message,
            "messageExpression": self.message_expression,
            "reason": self.reason,
            "fieldPath": self.field_path,
            "optionalOldSelf": self.optional_old_self,
        }
        return {"x-kubernetes-validations": [{key: value for key, value in wire.items() if value}]}


@dataclass(frozen=True, slots=True, init=False)
class FieldCount:
    """How many of some fields of a struct may be set; `fields` are Python names."""

    fields: tuple[str, ...]
    operator: ClassVar[str]
    words: ClassVar[str]

    def __init__(self, *fields: str) -> None:
        if len(fields) < 2:
            raise TypeError(f'{type(self).__name__} needs two fields or more: {type(self).__name__}("a", "b")')
        object.__setattr__(self, "fields", fields)

    def rule(self, wire_names: list[str]) -> Rule:
        """The CEL rule that counts the fields, which are called `wire_names` on the wire."""
        present = ", ".join(f"has(self.{cel_name(name)})" for name in wire_names)
        return Rule(
            f"[{present}].filter(set, set).size() {self.operator} 1",
            f"{self.words} one of {', '.join(wire_names)} must be set",
        )


class ExactlyOneOf(FieldCount):
    """One of these fields must be set, and no other of them."""

    __slots__ = ()
    operator = "=="
    words = "exactly"


class AtMostOneOf(FieldCount):
    """None or one of these fields may be set."""

    __slots__ = ()
    operator = "<="
    words = "at most"


class AtLeastOneOf(FieldCount):
    """One or more of these fields must be set."""

    __slots__ = ()
    operator = ">="
    words = "at least"


def cel_name(wire_name: str) -> str:
    """A field's name as CEL rules must write it: reserved words and signs are spelled out."""
    spelled = escaped_name(wire_name)
    if spelled is None:
        raise TypeError(
            f"rules can't name the field {wire_name!r}: only letters, digits and _ . - / can be spelled out"
        )
    return spelled
