"""Whether an object is what its kind's schema and its rules say, in the API server's words.

A schema is compiled once into a `Validator`.
"""

from collections.abc import Mapping
from typing import Any

from windvane.api.cel.rules import RuleVerdict, rule_tree
from windvane.api.cel.values import ABSENT as NOT_THERE
from windvane.api.custom_resources.schema import Schema
from windvane.api.openapi.embedded import EmbeddedCheck
from windvane.api.openapi.keywords import ABSENT, Part
from windvane.api.openapi.list_types import UniquenessCheck
from windvane.api.status import StatusCause
from windvane.api.wording import NOWHERE, as_json, invalid

MOST_REPLICAS = 2**31 - 1
_IN_GO = {
    str: "string",
    int: "int64",
    bool: "bool",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}

RULES_NOT_CHECKED = StatusCause(
    reason="FieldValueInvalid",
    message="Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
    field=NOWHERE,
)
_STOPS_RULES = frozenset(
    {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}
)


class Validator:
    """A kind's schema, ready to judge objects."""

    def __init__(self, of: Schema, scale: Mapping[str, str] | None = None) -> None:
        """`scale` is the scale subresource of the version, if it has one."""
        self._part = Part(of)
        self._scale = scale or {}
        self._embedded = EmbeddedCheck.of(of)
        self._uniqueness = UniquenessCheck.of(of)
        self._rules = rule_tree(of)
        status = of.get("properties", {}).get("status")
        self._status = Part(status) if status is not None else None

    def validate(self, value: dict[str, Any], old: dict[str, Any] | None = None) -> RuleVerdict:
        """What is wrong with an object; what was wrong with `old` already and is unchanged may stay."""
        found = self._part.causes(value)
        if found and old is not None:  # most objects are valid, and then it does not matter what they were
            found = self._part.causes(value, old)
        found += _count_causes(value, self._scale.get("specReplicasPath"))
        found += self._status_causes(value)
        if self._embedded:
            found += self._embedded.causes(value)
        return self._finished(found, value, old)

    def validate_status(self, value: dict[str, Any], old: dict[str, Any]) -> RuleVerdict:
        """What is wrong with an object whose status alone was written. Paths in messages start below the status."""
        found: list[StatusCause] = []
        if self._status is not None and "status" in value:
            found = self._status.causes(value["status"], old.get("status", ABSENT), under="status")
        found += self._status_causes(value)
        return self._finished(found, value, old)

    def _status_causes(self, value: dict[str, Any]) -> list[StatusCause]:
        """What is wrong with what a Scale says of the object's status."""
        found = _count_causes(value, self._scale.get("statusReplicasPath"))
        path = self._scale.get("labelSelectorPath")
        if path and (selector := _at(value, path)) is not None and not isinstance(selector, str):
            found.append(invalid(path, "", _wrong_type(path, selector, "string")))
        return found

    def _finished(self, found: list[StatusCause], value: dict[str, Any], old: dict[str, Any] | None) -> RuleVerdict:
        repeats = self._uniqueness.causes(value) if self._uniqueness else []
        if self._uniqueness and repeats and not (old is not None and self._uniqueness.causes(old)):
            found += repeats
        if self._rules is None:
            return RuleVerdict(found)
        if any(cause.reason in _STOPS_RULES for cause in found):
            return RuleVerdict([*found, RULES_NOT_CHECKED])
        verdict = self._rules.judge(value, NOT_THERE if old is None else old)
        verdict.causes = found + verdict.causes
        return verdict


def validate(value: dict[str, Any], of: Schema, old: dict[str, Any] | None = None) -> list[StatusCause]:
    """What is wrong with an object by a schema that is used once; compile a `Validator` for more."""
    return Validator(of).validate(value, old).causes


def _count_causes(value: Any, path: str | None) -> list[StatusCause]:
    """What is wrong with the number of replicas that a path leads to. Here the field is the path, dot and all."""
    if not path:
        return []
    value = _at(value, path)
    if value is None:
        return []
    if type(value) is not int:
        return [invalid(path, 0, _wrong_type(path, value, "int64"))]
    if value < 0:
        return [invalid(path, value, "should be a non-negative integer")]
    return [invalid(path, value, f"should be less than or equal to {MOST_REPLICAS}")] if value > MOST_REPLICAS else []


def _at(value: Any, path: str) -> Any:
    for name in path.removeprefix(".").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _wrong_type(path: str, value: Any, expected: str) -> str:
    shown = value if isinstance(value, str) else as_json(value)
    return f"{path} accessor error: {shown} is of the type {_IN_GO[type(value)]}, expected {expected}"
