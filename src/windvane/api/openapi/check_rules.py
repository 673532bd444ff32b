"""The validation rules of a CRD: whether they can be compiled, and whether they could ever cost too much."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from windvane import ambient
from windvane.api.cel.declared_types import declared
from windvane.api.cel.rule import CompiledRule, compiled_rules, most_occurrences, normal_field_path
from windvane.api.cel.rules import RULES
from windvane.api.cel.values import MOST_UINT
from windvane.api.custom_resources.schema import Schema
from windvane.api.openapi.internal import internal_rule
from windvane.api.status import StatusCause
from windvane.api.wording import forbidden, internal, invalid, required, unsupported

RULE_LIMIT = 10_000_000
"""What one rule may cost for one object."""
TOTAL_LIMIT = 100_000_000
"""What all rules of a schema together may."""
_EMBEDDED = "x-kubernetes-embedded-resource"
_WORTH_NAMING, _MOST_NAMED = TOTAL_LIMIT // 100, 4
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def rule_form_causes(of: Schema, path: str) -> list[StatusCause]:
    """What is wrong with the rules on one part of a schema that can be seen without reading them."""
    return [
        cause
        for index, rule in enumerate(of.get(RULES) or ())
        for cause in _form_causes(rule, of, f"{path}.{RULES}[{index}]")
    ]


def _form_causes(rule: Mapping[str, str], of: Schema, here: str) -> Iterator[StatusCause]:
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not text:
        yield required(f"{here}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{here}.message", message, "must be non-empty if specified")
    elif _has_line_breaks(message.strip()):
        yield invalid(f"{here}.message", message, "must not contain line breaks")
    elif _has_line_breaks(text) and not message.strip():
        yield required(f"{here}.message", "message must be specified if rule contains line breaks")
    if (expression := rule.get("messageExpression")) and not expression.strip():
        yield required(f"{here}.messageExpression", "messageExpression must be non-empty if specified")
    if (reason := rule.get("reason")) is not None and reason not in _REASONS:
        yield unsupported(f"{here}.reason", reason, _REASONS)
    if place := rule.get("fieldPath"):
        if not place.strip():
            yield invalid(f"{here}.fieldPath", place, "must be non-empty if specified")
        if _has_line_breaks(place):
            yield invalid(f"{here}.fieldPath", place, "must not contain line breaks")
        if normal_field_path(place, of) is None:
            yield invalid(f"{here}.fieldPath", place, "must be a valid path")


def _has_line_breaks(text: str) -> bool:
    return re.search(r"[\n\r]", text) is not None


@dataclass(slots=True)
class _Total:
    """What all rules cost together, and which of them cost most."""

    cost: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def add(self, cost: int, path: str) -> None:
        self.cost = min(self.cost + cost, MOST_UINT)
        if cost >= _WORTH_NAMING:
            self.expensive.append((cost, path))
            self.expensive.sort(key=lambda each: -each[0])
            del self.expensive[_MOST_NAMED:]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a schema the check is: the path, how often that can be in one object, and what forbids `oldSelf`."""

    path: str
    occurrences: int | None = 1
    uncorrelated: str = ""


def expression_causes(
    of: Schema, path: str, known: list[StatusCause], *, is_unchanged: bool = False
) -> list[StatusCause]:
    """What is wrong with the expressions in a whole schema.

    Where there are `known` causes at or below a part, its expressions are not looked at. An unchanged schema may have
    a rule that is too expensive, because it was there before there were limits.
    """
    check = _Check({cause.field for cause in known}, is_unchanged)
    found = check.causes(of, _Place(path), is_resource=True)
    if check.total.cost > TOTAL_LIMIT:
        why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        found += [forbidden(place, why) for _, place in check.total.expensive]
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        found.append(forbidden(path, _too_expensive(what, check.total.cost, TOTAL_LIMIT)))
    return found


class _Check:
    def __init__(self, known: set[str], is_unchanged: bool) -> None:
        self.total = _Total()
        self._known = known
        self._is_unchanged = is_unchanged

    def causes(self, of: Schema, place: _Place, *, is_resource: bool) -> list[StatusCause]:
        found: list[StatusCause] = []
        factor = _most_entries(of)
        occurrences = None
        if place.occurrences is not None and factor is not None:
            occurrences = min(place.occurrences * factor, MOST_UINT)
        inside = replace(place, occurrences=occurrences)
        if isinstance(additional := of.get("additionalProperties"), dict):
            found += self._below(additional, inside, "additionalProperties")
        for name, inner in (of.get("properties") or {}).items():
            found += self._below(inner, inside, f"properties[{name}]")
        if isinstance(items := of.get("items"), dict):
            if of.get("x-kubernetes-list-type") != "map" and not place.uncorrelated:
                inside = replace(inside, uncorrelated=place.path)
            found += self._below(items, inside, "items")
        if of.get(RULES) and not any(known.startswith(place.path) for known in self._known):
            found += self._own(of, place, is_resource)
        return found

    def _below(self, of: Schema, place: _Place, step: str) -> list[StatusCause]:
        inside = replace(place, path=f"{place.path}.{step}")
        return self.causes(of, inside, is_resource=of.get(_EMBEDDED) is True)

    def _own(self, of: Schema, place: _Place, is_resource: bool) -> list[StatusCause]:
        here = f"{place.path}.{RULES}"
        known = declared(of, is_resource=is_resource)
        if known is None:
            why = "failed to construct type information for x-kubernetes-validations rules"
            return [internal(here, f"internal error: {why}: unable to convert structural schema to CEL declarations")]
        # No client is to rely on the name of the type, so it is another one each time.
        name = f"selfType{ambient.now().microsecond * 1000 + len(place.path)}"
        found: list[StatusCause] = []
        occurrences = place.occurrences if place.occurrences is not None else most_occurrences(known)
        for index, rule in enumerate(compiled_rules(of[RULES], of, known, name)):
            found += self._rule(rule, f"{here}[{index}]", occurrences, place)
        return found

    def _rule(self, rule: CompiledRule, here: str, occurrences: int, place: _Place) -> Iterator[StatusCause]:
        cost = rule.expression.most_cost if rule.expression is not None else 0
        cost = min(cost * occurrences, MOST_UINT)
        if cost > RULE_LIMIT and not self._is_unchanged:
            yield forbidden(f"{here}.rule", _too_expensive("estimated rule cost", cost, RULE_LIMIT))
        self.total.add(cost, f"{here}.rule")
        if rule.problem:
            yield invalid(f"{here}.rule", internal_rule(dict(rule.rule)), rule.problem)
        if rule.message_problem:
            yield invalid(f"{here}.messageExpression", internal_rule(dict(rule.rule)), rule.message_problem)
        elif rule.message is not None:
            cost = rule.message.most_cost
            if cost > RULE_LIMIT and not self._is_unchanged:
                why = _too_expensive("estimated messageExpression cost", cost, RULE_LIMIT)
                yield forbidden(f"{here}.messageExpression", why)
            self.total.add(cost, f"{here}.messageExpression")
        if rule.uses_old_self:
            if place.uncorrelated:
                why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {place.uncorrelated}"
                yield invalid(f"{here}.rule", rule.rule["rule"], why)
        elif (optional := rule.rule.get("optionalOldSelf")) is not None:
            yield invalid(f"{here}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")


def _most_entries(of: Schema) -> int | None:
    """How many of what is below there can be in one of these; None if nothing says."""
    if of.get("type") == "object" and of.get("additionalProperties") is not None:
        most = of.get("maxProperties")
    elif of.get("type") == "array":
        most = of.get("maxItems")
    else:
        return 1
    return None if most is None else max(most, 0)


def _too_expensive(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {shown} {_ADVICE}"
