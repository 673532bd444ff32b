"""What the keywords of a schema ask of a value: types, lengths, patterns, bounds, enums, alternatives.

Most values are valid, so the walk over one builds no text: paths are tuples until something is wrong. Some of what
follows is odd, such as three complaints about one value, or an error without a field. It is what a real server
answers, and each oddity is compared with one in tests/reference.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from windvane.api.cel.cost.limits import tick
from windvane.api.custom_resources.schema import Schema
from windvane.api.lazy_attribute import LazyAttribute
from windvane.api.openapi.formats import has_format, known_format
from windvane.api.openapi.list_types import map_list_key
from windvane.api.openapi.numbers import NumberRules, is_json_integer
from windvane.api.openapi.patterns import PatternError, pattern
from windvane.api.openapi.structural import Path, path_text
from windvane.api.status import StatusCause
from windvane.api.wording import (
    NOWHERE,
    as_json,
    invalid,
    quoted,
    required,
    too_long,
    too_many,
    unsupported,
    wrong_type,
)

# The schema type of a Python value, and the format that the server infers for it.
_KINDS: dict[type, tuple[str, str]] = {
    bool: ("boolean", ""),
    str: ("string", ""),
    int: ("integer", "int64"),
    float: ("number", "float64"),
    list: ("array", ""),
    dict: ("object", ""),
}
_ACCEPTED: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}

# How many checks the server counts for any value, and for one that needs no look.
_ALWAYS = 4
_SETTLED: dict[type, int] = {bool: _ALWAYS + 2, str: _ALWAYS + 3, int: _ALWAYS + 4, float: _ALWAYS + 4}


class _Absent:
    """Stands for an old value that there is not: None is a value."""


ABSENT = _Absent()
_NOTHING: dict[str, Any] = {}


class Part:
    """The rules for one value, and for what is in it."""

    def __init__(self, of: Schema) -> None:
        tick()
        type_ = of.get("type") or ""
        self._types: tuple[str, ...] = (type_,) if type_ else ()
        if of.get("x-kubernetes-int-or-string"):
            self._types = ("integer", "string")
        self._joined = ",".join(self._types)
        single = self._types[0] if len(self._types) == 1 else ""
        self._format = known_format(single, of.get("format") or "")
        self._accepted = frozenset(kind for name in self._types for kind in _ACCEPTED.get(name, ()))
        self.nullable = of.get("nullable") is True
        self._any_of = [Part(each) for each in of.get("anyOf") or ()]
        self._one_of = [Part(each) for each in of.get("oneOf") or ()]
        self._all_of = [Part(each) for each in of.get("allOf") or ()]
        self._not = Part(of["not"]) if of.get("not") is not None else None
        self._combined = bool(self._any_of or self._one_of or self._all_of or self._not)
        self._max_length, self._min_length = of.get("maxLength"), of.get("minLength")
        self._pattern = of.get("pattern") or ""
        self._numbers = NumberRules(of, single, self._format)
        self._max_items, self._min_items = of.get("maxItems"), of.get("minItems")
        self._max_properties, self._min_properties = of.get("maxProperties"), of.get("minProperties")
        self._ordered: Sequence[str] = of.get("required") or ()
        self._required = frozenset(self._ordered)
        self._enum = of.get("enum") or []
        self._enum_strings = frozenset(each for each in self._enum if isinstance(each, str))
        self._of = of
        self._forbids_other_keys = of.get("additionalProperties") is False
        is_map = of.get("x-kubernetes-list-type") == "map"
        self._list_keys: Sequence[str] = of.get("x-kubernetes-list-map-keys") or () if is_map else ()
        self.settled = self._settled()

    # What is inside is compiled when the first value has it: a schema may describe a thousand fields of pods.

    @LazyAttribute
    def properties(self) -> dict[str, "Part"]:
        """The fields that are known."""
        return {name: Part(inner) for name, inner in (self._of.get("properties") or {}).items()}

    @LazyAttribute
    def additional(self) -> "Part | None":
        """What all other fields are like, if that is known."""
        additional = self._of.get("additionalProperties")
        return Part(additional) if isinstance(additional, dict) else None

    @LazyAttribute
    def items(self) -> "Part | None":
        """What the items of a list are like."""
        return Part(self._of["items"]) if isinstance(self._of.get("items"), dict) else None

    def _settled(self) -> frozenset[type]:
        """The types whose values are right whatever they are, so that nobody need look at them."""
        if self._combined or self._enum or not self._accepted:
            return frozenset()
        settled = set(self._accepted) - {dict, list}
        if self._pattern or self._format or self._max_length is not None or self._min_length is not None:
            settled.discard(str)
        return frozenset(settled - (set() if self._numbers.allow_all else {int, float}))

    def causes(self, value: Any, old: Any = ABSENT, *, under: str = "") -> list[StatusCause]:
        """What is wrong with a value that is found at `under`; the messages speak of paths from there on."""
        found: list[StatusCause] = []
        self.check(value, old, None, found)
        unique = {(cause.field, cause.message): cause for cause in found}
        if not under:
            return list(unique.values())
        return [
            StatusCause(
                reason=cause.reason,
                message=cause.message,
                field=under if cause.field == NOWHERE else f"{under}.{cause.field}",
            )
            for cause in unique.values()
        ]

    def check(self, value: Any, old: Any, path: Path, found: list[StatusCause]) -> int:
        """Add what is wrong with a value to `found`, unless the value is as it was; says how many checks were made.

        Of alternatives that all fail, the server reports on the one in which it got furthest by that number.
        """
        before = len(found)
        kind = type(value)
        passed = _ALWAYS
        if self._types or self._format:
            passed += 2
            if kind not in self._accepted:
                self._check_type(value, path, found)
                passed -= len(found) > before
        if value is None:
            passed = int(len(found) == before)
        else:
            if self._combined:
                passed += self._check_combined(value, old, path, found)
            if kind is str:
                passed += self._check_string(value, path, found)
            elif kind is dict:
                passed += self._check_object(value, old, path, found)
            elif kind is list:
                passed += self._check_list(value, old, path, found)
            elif kind is not bool:
                passed += 2
                if kind is float or value not in self._numbers.easy:
                    found.extend(self._numbers.causes(value, path_text(path)))
        if self._enum and not (kind is str and value in self._enum_strings):
            self._check_enum(value, path, found)
        if len(found) > before and old is not ABSENT and self._is_unchanged(value, old):
            del found[before:]
        return passed

    def _check_enum(self, value: Any, path: Path, found: list[StatusCause]) -> None:
        if not any(_is_enumerated(value, each) for each in self._enum):
            texts = [each if isinstance(each, str) else as_json(each) for each in self._enum]
            found.append(unsupported(_field(path), value, texts))

    def _check_type(self, value: Any, path: Path, found: list[StatusCause]) -> None:
        if value is None:
            if self._types and not self.nullable:
                found.append(self._wrong_type(path, self._joined, "null"))
            return
        kind, inferred = _KINDS[type(value)]
        fits = (
            kind in self._types
            or (kind == "integer" and "number" in self._types)
            or (kind == "number" and "integer" in self._types and is_json_integer(value))
        )
        sequence = kind in ("string", "array")
        if self._format and not sequence and not fits and inferred != self._format:
            found.append(self._wrong_type(path, self._format, inferred))
            return
        if self._format and sequence and "number" not in self._types and "integer" not in self._types:
            return  # so a list passes for a date
        if not fits:
            found.append(self._wrong_type(path, self._joined, kind))

    def _wrong_type(self, path: Path, expected: str, is_: str) -> StatusCause:
        return wrong_type(_field(path), is_, f"{path_text(path)} in body must be of type {expected}: {quoted(is_)}")

    def _check_string(self, value: str, path: Path, found: list[StatusCause]) -> int:
        if self._max_length is not None and len(value) > self._max_length:
            found.append(too_long(_field(path), self._max_length))
        elif self._min_length is not None and len(value) < self._min_length:
            found.append(_should(path, value, f"be at least {self._min_length} chars long"))
        elif self._pattern:
            try:
                if not pattern(self._pattern).found_in(value):
                    found.append(_should(path, value, f"match '{self._pattern}'"))
            except PatternError as error:
                found.append(_should(path, value, f"match '{self._pattern}, but pattern is invalid: {error}'"))
        if not self._format or (self._types and "string" not in self._types):
            return 1
        if not has_format(value, self._format):
            found.append(self._wrong_type(path, self._format, value))
        return 2

    def _check_list(self, value: list[Any], old: Any, path: Path, found: list[StatusCause]) -> int:
        passed = 2
        if self.items is not None:
            old_items = self._correlated(old)
            settled = self.items.settled
            for index, each in enumerate(value):
                if type(each) in settled:
                    passed += _SETTLED[type(each)]
                else:
                    before = old_items.get(map_list_key(each, self._list_keys), ABSENT) if old_items else ABSENT
                    passed += self.items.check(each, before, (path, index), found)
        if self._min_items is not None and len(value) < self._min_items:
            found.append(_should(path, len(value), f"have at least {self._min_items} items"))
        if self._max_items is not None and len(value) > self._max_items:
            found.append(too_many(_field(path), len(value), self._max_items))
        return passed

    def _correlated(self, old: Any) -> dict[str, Any] | None:
        """The old items by their keys; there is nothing to tell the items of other lists than list maps by."""
        if not self._list_keys or type(old) is not list:
            return None
        return {map_list_key(each, self._list_keys): each for each in reversed(old) if type(each) is dict}

    def _check_object(self, value: dict[str, Any], old: Any, path: Path, found: list[StatusCause]) -> int:
        passed = 1
        if self._min_properties is not None and len(value) < self._min_properties:
            found.append(_should(path, len(value), f"have at least {self._min_properties} properties"))
        if self._max_properties is not None and len(value) > self._max_properties:
            found.append(too_many(_field(path), len(value), self._max_properties))
        was = old if type(old) is dict else _NOTHING
        properties, additional = self.properties, self.additional
        for key, inner in value.items():
            part = properties.get(key)
            if part is None:
                if self._forbids_other_keys:
                    why = f"{path_text((path, key))} in body is a forbidden property"
                    found.append(invalid(_field(path), key, why))
                part = additional
            if part is None:
                continue
            if type(inner) in part.settled:
                passed += _SETTLED[type(inner)]
                continue
            before = was.get(key, ABSENT)
            if path is None and key in ("apiVersion", "kind"):
                before = ABSENT  # they may differ by conversion alone
            passed += part.check(inner, before, (path, key), found)
        if not self._required <= value.keys():
            found.extend(required(_field((path, key))) for key in self._ordered if key not in value)
        return passed

    def _check_combined(self, value: Any, old: Any, path: Path, found: list[StatusCause]) -> int:
        def judge(part: Part) -> _Verdict:
            problems: list[StatusCause] = []
            return _Verdict(part.check(value, old, path, problems), problems)

        def complain(what: str) -> None:
            found.append(invalid(NOWHERE, "", f"{quoted(path_text(path))} must {what}"))

        passed = 0
        if self._any_of:
            verdicts = []
            for each in self._any_of:
                verdicts.append(judge(each))
                if not verdicts[-1].problems:
                    passed += verdicts[-1].passed
                    break
            else:
                complain("validate at least one schema (anyOf)")
                passed += _report(verdicts, found)
        if self._one_of:
            verdicts = [judge(each) for each in self._one_of]
            valid = [verdict for verdict in verdicts if not verdict.problems]
            if len(valid) != 1:
                how = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
                complain(f"validate one and only one schema (oneOf). {how}")
            if len(valid) < 2:
                passed += _report(valid or verdicts, found)
        if self._all_of:
            verdicts = [judge(each) for each in self._all_of]
            passed += sum(_report([verdict], found) for verdict in verdicts)
            if failing := sum(bool(verdict.problems) for verdict in verdicts):
                none = ". None validated" if failing == len(verdicts) else ""
                complain(f"validate all the schemas (allOf){none}")
        if self._not and not judge(self._not).problems:
            complain("not validate the schema (not)")
        return passed

    def _is_unchanged(self, value: Any, old: Any) -> bool:
        """Whether nothing was changed. Items of a list map may have changed places."""
        if type(value) is dict and type(old) is dict:
            return len(value) == len(old) and all(self._is_unchanged_field(key, value, old) for key in value)
        if type(value) is list and type(old) is list and self._list_keys and self.items is not None:
            before = self._correlated(old) or {}
            keys = [map_list_key(each, self._list_keys) for each in value]
            return len(value) == len(old) and all(
                key in before and self.items._is_unchanged(each, before[key])
                for key, each in zip(keys, value, strict=True)
            )
        return as_json([type(value).__name__, value]) == as_json([type(old).__name__, old])

    def _is_unchanged_field(self, key: str, value: dict[str, Any], old: dict[str, Any]) -> bool:
        # What has no schema can't be compared: a changed part of it would go unnoticed by the rules above it.
        part = self.properties.get(key, self.additional)
        return part is not None and key in old and part._is_unchanged(value[key], old[key])


class _Verdict(NamedTuple):
    """What came of one alternative."""

    passed: int
    problems: list[StatusCause]


def _report(verdicts: list[_Verdict], found: list[StatusCause]) -> int:
    """Report on the alternative that the value came closest to."""
    closest = max(verdicts, key=lambda verdict: verdict.passed)
    found.extend(closest.problems)
    return closest.passed


def _field(path: Path) -> str:
    return path_text(path) or NOWHERE


def _should(path: Path, value: Any, what: str) -> StatusCause:
    return invalid(_field(path), value, f"{path_text(path)} in body should {what}")


def _is_enumerated(value: Any, each: Any) -> bool:
    if type(value) is float and type(each) is int:
        return int(value) == each  # the server cuts off what is behind the point
    if type(value) is int and type(each) is float:
        return value == each
    return type(value) is type(each) and value is not None and as_json(value) == as_json(each)
