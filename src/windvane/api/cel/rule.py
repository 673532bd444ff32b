"""One rule, compiled: the expression, the one that makes its message, and the field it blames."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from windvane.api.cel.declared_types import MOST_BYTES, Declared, named
from windvane.api.cel.types import BOOL, STRING
from windvane.api.cel.values import CompileError

if TYPE_CHECKING:
    from windvane.api.cel.expression import Expression, Scope

Schema = Mapping[str, Any]


@dataclass(slots=True)
class CompiledRule:
    """One rule, or why it can't be run."""

    rule: Mapping[str, Any]
    expression: "Expression | None" = None
    problem: str = ""
    message: "Expression | None" = None
    message_problem: str = ""
    field_path: str = ""

    @property
    def shown(self) -> str:
        """The rule as messages about it call it."""
        return str(self.rule.get("message") or self.rule.get("rule") or "").strip()

    @property
    def uses_old_self(self) -> bool:
        """Whether it compares with what was before."""
        return self.expression is not None and self.expression.uses_old_self


def compiled_rules(
    rules: Sequence[Mapping[str, Any]], schema: Schema, of: Declared | None, name: str = "selfType"
) -> list[CompiledRule]:
    """The rules on one part of a schema; `name` is what messages call the type of `self`."""
    if not rules or of is None:
        return []
    # The engine takes long to import, and most servers and programs never see a rule.
    from windvane.api.cel.expression import Scope

    scope = Scope(named(of, name))
    return [_compiled(rule, schema, scope) for rule in rules]


def _compiled(rule: Mapping[str, Any], schema: Schema, scope: "Scope") -> CompiledRule:
    made = CompiledRule(rule)
    text = str(rule.get("rule") or "")
    if not text.strip():
        return made
    optional = rule.get("optionalOldSelf") is True
    try:
        expression = scope.compile(text, optional_old_self=optional)
    except CompileError as error:
        made.problem = str(error)
        return made
    if expression.type != BOOL:
        made.problem = "cel expression must evaluate to a bool"
        return made
    made.expression = expression
    if rule.get("messageExpression"):
        try:
            message = scope.compile(rule["messageExpression"], optional_old_self=optional)
        except CompileError as error:
            made.message_problem = f"messageExpression {error}".replace("program instantiation", "instantiation", 1)
            return made
        if message.type != STRING:
            made.message_problem = "messageExpression must evaluate to a string"
            return made
        made.message = message
    if rule.get("fieldPath"):
        made.field_path = normal_field_path(rule["fieldPath"], schema) or ""
    return made


_PATH_STEP = re.compile(r"'(?:\\.|[^'\\])*'|[.\[\]]|[^.\[\]']+(?:[^.\[\]])*")
_PATH_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\",
}  # fmt: skip


def normal_field_path(path: str, schema: Schema) -> str | None:
    """A path such as `.spec['a-b']` from a part of a schema, as messages write it; None if it leads nowhere."""
    shown = ""
    at: Schema | None = schema
    steps = _PATH_STEP.findall(path)
    while steps:
        sign = steps.pop(0)
        if not steps or at is None or sign not in (".", "["):
            return None
        name = steps.pop(0)
        if sign == "[":
            if len(name) < 2 or name[0] != "'" or not steps or steps.pop(0) != "]":
                return None
            if not set(re.findall(r"\\(.)", name)) <= _PATH_ESCAPES.keys():
                return None
            name = re.sub(r"\\(.)", lambda found: _PATH_ESCAPES[found[1]], name[1:-1])
        properties = at.get("properties")
        if properties:
            shown += f".{name}" if shown else name
            at = properties.get(name)
        elif isinstance(additional := at.get("additionalProperties"), Mapping):
            shown += f"[{name}]"
            at = additional
        else:
            return None
        if at is None:
            return None
    return shown


def most_occurrences(of: Declared) -> int:
    """How often a part can be in one object, if nothing around it says: as often as it fits into a request."""
    return MOST_BYTES // (of.least_size + 1)
