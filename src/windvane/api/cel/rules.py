"""The rules of a whole schema, compiled once, and what they say about objects.

`RuleTree` has the shape of the schema, without the parts that have no rules. It judges an object from the outside in,
and gives up when that gets too expensive.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from windvane.api.cel.correlation import below, is_unchanged, item_key, list_keys, old_items
from windvane.api.cel.cost.limits import OBJECT_BUDGET, PER_CALL_LIMIT, TooExpensive
from windvane.api.cel.declared_types import Declared, declared
from windvane.api.cel.grammar.names import escaped_name
from windvane.api.cel.rule import CompiledRule, compiled_rules
from windvane.api.cel.values import ABSENT, CelError
from windvane.api.status import StatusCause
from windvane.api.wording import NOWHERE, duplicate, forbidden, invalid, required

if TYPE_CHECKING:
    from windvane.api.cel.program import Program

Schema = Mapping[str, Any]

RULES = "x-kubernetes-validations"
_LONGEST_MESSAGE = 5 * 1024
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_LIMIT_EXCEEDED = "operation cancelled: actual cost limit exceeded"
_EMBEDDED = "x-kubernetes-embedded-resource"


@dataclass(slots=True)
class RuleVerdict:
    """What is wrong, and what would be wrong if it weren't unchanged."""

    causes: list[StatusCause] = field(default_factory=list)
    tolerated: list[StatusCause] = field(default_factory=list)
    budget: int = OBJECT_BUDGET


@dataclass(frozen=True, slots=True)
class _Before:
    """How the part that is judged relates to the object before: `None` stands for what can't be found there."""

    tree: "RuleTree | None" = None
    value: Any = ABSENT
    old: Any = ABSENT
    parent: "_Before | None" = None

    def is_unchanged(self) -> bool:
        """Whether this part, or what it is in, is as it was."""
        if self.tree is not None:
            return self.old is not ABSENT and is_unchanged(self.value, self.old, self.tree.schema)
        return self.parent is not None and self.parent.is_unchanged()


class RuleTree:
    """The rules of a part of a schema and of what is in it."""

    def __init__(self, schema: Schema, of: Declared | None) -> None:
        """`of` is what the schema declares."""
        self.schema = schema
        self._rules = compiled_rules(schema.get(RULES) or (), schema, of)
        self._shown_type = schema.get("type") or ""
        self._properties = dict(_property_trees(schema, of))
        inside = of.items if of is not None else None
        self._items = _tree(schema.get("items"), inside)
        self._additional = _tree(schema.get("additionalProperties"), inside)

    def judge(self, value: Any, old: Any = ABSENT, *, path: str = "") -> RuleVerdict:
        """What is wrong with a value that is found at `path`; `old` is what it replaces."""
        verdict = RuleVerdict()
        before = _Before(self, value, old) if old is not ABSENT else _Before()
        self._judge(path, value, old, before, verdict)
        return verdict

    def _judge(self, path: str, value: Any, old: Any, before: _Before, verdict: RuleVerdict) -> None:
        if value is None:
            return  # rules are for values; whether there may be none, a rule further out must say
        self._apply(path, value, ABSENT if old is None else old, before, verdict)
        if type(value) is dict:
            self._judge_fields(path, value, old, before, verdict)
        elif type(value) is list and self._items is not None:
            self._judge_items(path, value, old, before, verdict)

    def _judge_fields(self, path: str, value: dict[str, Any], old: Any, before: _Before, verdict: RuleVerdict) -> None:
        was = old if type(old) is dict else {}
        for key, inner in value.items():
            tree = self._properties.get(key) or self._additional
            if tree is None:
                continue
            if verdict.budget < 0:
                return
            place = f"{path}.{key}" if path else key
            place = place if key in self._properties else f"{path}[{key}]"
            tree._judge(place, inner, was.get(key, ABSENT), self._below(before, key, inner, tree), verdict)

    def _judge_items(self, path: str, value: list[Any], old: Any, before: _Before, verdict: RuleVerdict) -> None:
        tree, keys = self._items, list_keys(self.schema)
        if tree is None:
            return
        known = old_items(self.schema, old)
        for index, inner in enumerate(value):
            if verdict.budget < 0:
                return
            was = known.get(item_key(inner, keys), ABSENT) if keys else ABSENT
            inside = before
            if before.tree is not None:
                found = was is not ABSENT
                inside = _Before(tree if found else None, inner, was, parent=before)
            tree._judge(f"{path}[{index}]", inner, was, inside, verdict)

    def _below(self, before: _Before, key: str, inner: Any, tree: "RuleTree") -> _Before:
        if before.tree is None:
            return before
        if before.parent is None and key in ("apiVersion", "kind"):
            return _Before()  # they may differ by conversion alone
        was = before.old.get(key, ABSENT) if type(before.old) is dict else ABSENT
        known = type(before.old) is dict and below(self.schema, key) is not None
        return _Before(tree if known else None, inner, was, parent=before)

    def _apply(self, path: str, value: Any, old: Any, before: _Before, verdict: RuleVerdict) -> None:
        """Run the rules of this part."""
        field_ = path or NOWHERE
        if not self._rules:
            return
        if verdict.budget <= 0:
            verdict.causes.append(invalid(field_, self._shown_type, _OUT_OF_BUDGET))
            verdict.budget = -1
            return
        for rule in self._rules:
            if verdict.budget < 0:
                return
            if rule.problem:
                verdict.causes.append(invalid(field_, self._shown_type, f"rule compile error: {rule.problem}"))
            elif rule.expression is not None:
                optional = rule.rule.get("optionalOldSelf") is True
                if rule.uses_old_self and old is ABSENT and not optional:
                    continue  # there is nothing to compare with
                result, cost = _evaluated(rule.expression.program, value, old)
                if cost > verdict.budget:
                    verdict.causes.append(invalid(field_, self._shown_type, _OUT_OF_BUDGET))
                    verdict.budget = -1
                    return
                verdict.budget -= cost
                if isinstance(result, CelError):
                    self._failed(rule, field_, str(result), verdict)
                elif result is not True:
                    self._broken(rule, path, value, old, before, verdict)

    def _broken(
        self, rule: CompiledRule, path: str, value: Any, old: Any, before: _Before, verdict: RuleVerdict
    ) -> None:
        """The value is not as the rule says."""
        text = self._message(rule, path, value, old, verdict)
        if verdict.budget < 0:
            return
        blamed = ".".join(part for part in (path, rule.field_path) if part)
        cause = self._cause(rule, blamed or NOWHERE, value, text)
        tolerated = not rule.uses_old_self and before.is_unchanged()
        (verdict.tolerated if tolerated else verdict.causes).append(cause)

    def _failed(self, rule: CompiledRule, field_: str, error: str, verdict: RuleVerdict) -> None:
        """The rule came to no answer."""
        if error.startswith(_LIMIT_EXCEEDED):
            limit = "no further validation rules will be run due to call cost exceeds limit for rule"
            why = f"'{error}': {limit}: {rule.shown}"
            verdict.budget = -1
        elif error.startswith("no such overload"):
            match = "call arguments did not match a supported operator, function or macro signature for rule"
            why = f"'{error}': {match}: {rule.shown}"
        else:
            why = f"{error} evaluating rule: {rule.shown}"
        verdict.causes.append(invalid(field_, self._shown_type, why))

    def _message(self, rule: CompiledRule, path: str, value: Any, old: Any, verdict: RuleVerdict) -> str:
        """What to say about a rule that is broken; the rule's own message if its expression makes none."""
        default = str(rule.rule.get("message") or "").strip() or f"failed rule: {rule.shown}"
        if rule.message is None:
            return default
        text, cost = _evaluated(rule.message.program, value, old)
        problem = ""
        if cost > verdict.budget:
            problem = "messageExpression evaluation failed due to running out of cost budget, no further validation "
            problem += "rules will be run"
        elif isinstance(text, CelError) and str(text).startswith(_LIMIT_EXCEEDED):
            problem = "no further validation rules will be run due to call cost exceeds limit for messageExpression: "
            problem += f'"{rule.rule.get("messageExpression")}"'
        if problem:
            blamed = ".".join(part for part in (path, rule.field_path) if part)
            verdict.causes.append(invalid(blamed or NOWHERE, self._shown_type, problem))
            verdict.budget = -1
            return ""
        verdict.budget -= cost
        made = text.strip() if isinstance(text, str) else ""
        usable = made and len(made.encode()) <= _LONGEST_MESSAGE and "\n" not in made
        return made if usable else default

    def _cause(self, rule: CompiledRule, field_: str, value: Any, text: str) -> StatusCause:
        whole = self._shown_type in ("object", "array")
        match rule.rule.get("reason"):
            case "FieldValueForbidden":
                return forbidden(field_, text)
            case "FieldValueRequired":
                return required(field_, text)
            case "FieldValueDuplicate":
                if whole:
                    return StatusCause(reason="FieldValueDuplicate", message="Duplicate value", field=field_)
                return duplicate(field_, value)
        if whole:
            return StatusCause(reason="FieldValueInvalid", message=f"Invalid value: {text}", field=field_)
        return invalid(field_, value, text)


def _evaluated(program: "Program", value: Any, old: Any) -> tuple[Any, int]:
    try:
        result, cost = program.run(value, old)
    except TooExpensive as error:
        return CelError(_LIMIT_EXCEEDED), error.cost
    return (result, cost) if cost <= PER_CALL_LIMIT else (CelError(_LIMIT_EXCEEDED), cost)


def rule_tree(schema: Schema, *, is_resource: bool = True) -> RuleTree | None:
    """The rules of a kind's schema, or None if it has none. Without `is_resource` it is the schema of a part."""
    if not has_rules(schema):
        return None
    return RuleTree(schema, declared(schema, is_resource=is_resource))


def has_rules(schema: Schema) -> bool:
    """Whether there are rules anywhere in a schema."""
    if schema.get(RULES):
        return True
    inner = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(has_rules(each) for each in inner if isinstance(each, Mapping))


def _property_trees(schema: Schema, of: Declared | None) -> Iterator[tuple[str, RuleTree]]:
    fields = (of.fields if of is not None else None) or {}
    for name, inner in (schema.get("properties") or {}).items():
        called = escaped_name(name)
        # What rules can't name may have rules of its own.
        unnamed = declared(inner, is_resource=inner.get(_EMBEDDED) is True) if called is None else None
        known = unnamed if called is None else fields.get(called)
        if (tree := _tree(inner, known)) is not None:
            yield name, tree


def _tree(schema: Any, of: Declared | None) -> RuleTree | None:
    if not isinstance(schema, Mapping) or of is None or not has_rules(schema):
        return None
    return RuleTree(schema, of)
