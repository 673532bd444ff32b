"""Whether an object keeps the rules of its class, in the words of the API server, before there is one to ask."""

from copy import deepcopy
from functools import cache
from typing import Any

from windvane.api.cel.rules import RuleTree, rule_tree
from windvane.api.cel.values import ABSENT
from windvane.api.crd import root_schema
from windvane.api.resource import Dynamic, Object, object_to_wire
from windvane.api.schema import Schema
from windvane.api.status import StatusCause


def broken_rules(thing: Object, old: Object | None = None) -> list[StatusCause]:
    """The rules that an object breaks as a new one, or as what replaces `old`."""
    if isinstance(thing, Dynamic):
        return []
    rules, root = _rules_of(type(thing))
    if rules is None:
        return []
    before = ABSENT if old is None else _filled(object_to_wire(old), root)
    return rules.judge(_filled(object_to_wire(thing), root), before).causes


@cache
def _rules_of(cls: type[Object]) -> tuple[RuleTree | None, Schema]:
    root = root_schema(cls, builtin=True)
    return rule_tree(root), root


def _filled(wire: Any, of: Any) -> Any:
    """The wire with the defaults that the server fills in: Python doesn't send what it has by default."""
    if not isinstance(of, dict):
        return wire
    if isinstance(wire, list):
        return [_filled(each, of.get("items")) for each in wire]
    if not isinstance(wire, dict):
        return wire
    properties: dict[str, Any] = of.get("properties") or {}
    found = {name: deepcopy(each["default"]) for name, each in properties.items() if each.get("default") is not None}
    return {
        name: _filled(value, properties.get(name, of.get("additionalProperties")))
        for name, value in (found | wire).items()
    }
