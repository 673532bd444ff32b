"""Whether a class makes sense, found when it is made: its markers, its defaults and its rules.

The API server would find the same when the CRD is applied, with a path into the schema. Here the message names the
class, the field and what to write instead. What needs names that are not there yet, such as those of classes further
down in the module, is found when the kind's own class is made, or its CRD.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, get_args, get_origin

import msgspec

from windvane.api import codec
from windvane.api.custom_resources.rules import Rule
from windvane.api.custom_resources.schema import (
    MarkerError,
    Schema,
    SchemaError,
    default_of,
    field_rules,
    schema,
    struct_rules,
)
from windvane.api.hints import metadata, type_hints, unwrap
from windvane.api.markers import Marker, Pattern
from windvane.api.struct import wire_name
from windvane.api.value import is_value

RULES = "x-kubernetes-validations"
_UNDEFINED = re.compile(r"undefined field '(\w+)'|undeclared reference to '(\w+)'")
# What is written in Python, and how CEL has it.
_IN_CEL = {
    "and": "&&", "or": "||", "not": "!", "is": "==", "if": "a ? b : c", "True": "true", "False": "false",
    "None": "null", "len": "size(...)", "str": "string(...)", "any": ".exists(each, ...)", "all": ".all(each, ...)",
}  # fmt: skip
_PYTHON = re.compile(rf"(?:input|reference to) '({'|'.join(_IN_CEL)})'")
_STEP = re.compile(r"\.(?:properties\[([^\]]*)\]|(items)|(additionalProperties))")
_PAIRS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_NUMBERS = ("minimum", "maximum", "multipleOf")
_SIZES = frozenset(name for pair in _PAIRS[1:] for name in pair)
# The keywords that a plain value can be compared with right here. For others there is the server's own code, which
# takes longer to import than most classes take to be checked.
_PLAIN = frozenset({"type", "format", "minimum", "maximum", "minLength", "maxLength", "enum", "default"})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
}


def check_struct(cls: type[msgspec.Struct]) -> None:
    """SchemaError if a marker, a default or a rule of the class can't work.

    A struct need not be part of a kind: fields that no schema could describe are left alone, and so are rules beside
    them.
    """
    try:
        hints = type_hints(cls)
    except (NameError, AttributeError):  # of a module that is being imported, the latter
        return
    own = inspect.get_annotations(cls)
    whole: Schema | None = None
    if struct_rules(cls, [cls.__name__]) or any(field_rules(hints[name]) for name in own if name in hints):
        try:
            whole = schema(cls, documented=False)
        except MarkerError:
            raise
        except SchemaError:
            pass
    for field in msgspec.structs.fields(cls):
        here, annotated = [cls.__name__, field.name], hints[field.name]
        if field.name not in own or _is_bare_struct(annotated):
            continue
        try:
            known = whole["properties"][field.encode_name] if whole else None
            inner = known or schema(annotated, documented=False, path=here)
        except MarkerError:
            raise
        except SchemaError:
            continue
        _check_bounds(inner, here)
        _check_markers(annotated, here)
        _check_default(field, annotated, inner, here)
    if whole is not None:
        _check_rules(cls, hints, own, whole)


def _is_bare_struct(annotated: Any) -> bool:
    """Whether a field is another struct and no more: that has been checked itself, and may be as large as a Pod."""
    type_, markers = unwrap(annotated)
    return not markers and isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def check_kind(name: str, root: Schema) -> None:
    """SchemaError if the rules of a whole kind can't work: where `oldSelf` has no meaning, or if they cost too much."""
    _check_defaults(root, [name])
    if not _has_rules(root):
        return
    from windvane.api.openapi.check_rules import expression_causes

    for cause in expression_causes(root, name, []):
        place = [name, *(one or "[]" for one, _, _ in _STEP.findall(cause.field))]
        told = cause.message.partition(": ")[2]
        found = re.search(rf"\.{RULES}\[(\d+)\]", cause.field)
        at = root
        for one, items, _ in _STEP.findall(cause.field):
            at = at["properties"][one] if one else at["items" if items else "additionalProperties"]
        if found and RULES in at:
            raise SchemaError(place, _rule_problem(at[RULES][int(found[1])]["rule"], told, at))
        raise SchemaError(place, told)


def _check_bounds(inner: Schema, path: list[str]) -> None:
    for key, value in inner.items():
        if key in _NUMBERS and type(value) not in (int, float):
            raise SchemaError(path, f"{key} must be a number, not {value!r}")
        if key in _NUMBERS and inner.get("type") == "integer" and not _is_integer(value, inner.get("format")):
            bits = "32 bits; write int instead of Int32" if inner.get("format") == "int32" else "64 bits"
            raise SchemaError(path, f"{key} is {value!r}, and the field is a whole number of {bits}")
        if key in _SIZES and (type(value) is not int or value < 0):
            raise SchemaError(path, f"{key} counts something: it must be 0 or more, not {value!r}")
    for least, most in _PAIRS:
        if least in inner and most in inner and not _has_room(inner, least, most):
            raise SchemaError(path, f"nothing fits: {least} is {inner[least]}, and {most} is {inner[most]}")
    if inner.get("multipleOf", 1) <= 0:
        raise SchemaError(path, f"MultipleOf({inner['multipleOf']}): it must be more than 0")
    for below in ("items", "additionalProperties"):
        if isinstance(inner.get(below), dict) and inner[below].get("type") != "object":
            _check_bounds(inner[below], path)


def _is_integer(value: float, format_: str | None) -> bool:
    limit = 2**31 if format_ == "int32" else 2**63
    return value == int(value) and -limit <= value < limit


def _has_room(inner: Schema, least: str, most: str) -> bool:
    """Whether there is anything between two bounds."""
    if inner.get("type") == "string" and least == "minItems":
        return True  # that is said of lists, which are kept from it
    excluded = inner.get("exclusiveMinimum", False) + inner.get("exclusiveMaximum", False)
    room = inner[most] - inner[least]
    if inner.get("type") == "integer":
        return bool(room >= excluded)
    return bool(room > 0 or (room == 0 and not excluded))


def _markers(annotated: Any) -> Iterator[Marker]:
    """The markers on a field, and on what is in its list or map."""
    type_, markers = unwrap(annotated)
    yield from markers
    if get_origin(type_) in (list, dict):
        yield from _markers(get_args(type_)[-1])


def _check_markers(annotated: Any, path: list[str]) -> None:
    for name in (each.__name__ for each in metadata(annotated) if isinstance(each, type) and issubclass(each, Marker)):
        raise SchemaError(path, f"{name} is a class, which says nothing here; write {name}(...)")
    for marker in _markers(annotated):
        if isinstance(marker, Pattern):
            from windvane.api.openapi.patterns import PatternError, pattern

            try:
                pattern(marker.value)
            except PatternError as error:
                raise SchemaError(path, f"Pattern({marker.value!r}): {error}; write it as Go's RE2 has it") from error


def _check_default(field: msgspec.structs.FieldInfo, annotated: Any, inner: Schema, path: list[str]) -> None:
    value = field.default
    type_ = unwrap(annotated)[0]
    if value is not msgspec.NODEFAULT and value is not None and isinstance(type_, type):
        by_python = is_value(type_) or issubclass(type_, Enum) or type_ is datetime
        if by_python and not isinstance(value, type_):
            raise SchemaError(path, f"the default {value!r} is no {type_.__name__}; write {type_.__name__}(...)")
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise SchemaError(path, f"the default {value!r} has no zone; add tzinfo=UTC")
    stated = inner.get("default")  # by a Default marker, for the server alone
    if stated is None and value not in (msgspec.NODEFAULT, None):
        stated = default_of(field, inner, path)
    if stated is not None:
        _check_read(stated, annotated, path)
        _check_stated(stated, inner, path)


def _check_read(stated: Any, annotated: Any, path: list[str]) -> None:
    """The class's own words for what is wrong are better than those for a pattern."""
    type_ = unwrap(annotated)[0]
    if isinstance(type_, type) and is_value(type_):
        try:
            codec.from_wire(stated, type_)
        except msgspec.ValidationError as error:
            raise SchemaError(path, f"the default {stated!r} breaks its own field: {error}") from error


def _check_defaults(of: Schema, path: list[str]) -> None:
    """All defaults of a kind: those that a factory makes were not looked at before, nor were those of inner structs."""
    if (stated := of.get("default")) is not None:
        _check_stated(stated, of, path)
    for name, inner in of.get("properties", {}).items():
        _check_defaults(inner, [*path, name])
    if isinstance(of.get("items"), dict):
        _check_defaults(of["items"], [*path, "[]"])


def _check_stated(stated: Any, inner: Schema, path: list[str]) -> None:
    # An empty struct is filled in with the defaults of its fields, which are looked at themselves.
    if _plainly_fits(stated, inner) or stated == {}:
        return
    from windvane.api.openapi.keywords import Part

    for cause in Part(inner).causes(stated, under="default"):
        told = cause.message.partition(": ")[2] or cause.message
        told = re.sub(r'^"[^"]*": +(?:in body )?(.*?)(: "[^"]*")?$', r"\1", told)
        raise SchemaError(path, f"the default {stated!r} breaks its own field: {told.replace(' in body', '').strip()}")


def _plainly_fits(value: Any, inner: Schema) -> bool:
    kind = inner.get("type", "")
    if not inner.keys() <= _PLAIN or kind not in _TYPES or inner.get("format") not in (None, "int64", "double"):
        return False
    if type(value) not in _TYPES[kind] or ("enum" in inner and value not in inner["enum"]):
        return False
    if kind == "string":
        return bool(inner.get("minLength", 0) <= len(value) <= inner.get("maxLength", len(value)))
    if kind == "integer" and not _is_integer(value, "int64"):
        return False
    return kind == "boolean" or bool(inner.get("minimum", value) <= value <= inner.get("maximum", value))


def _check_rules(cls: type[msgspec.Struct], hints: Mapping[str, Any], own: Mapping[str, Any], of: Schema) -> None:
    _check_each(of, [cls.__name__])
    for field in msgspec.structs.fields(cls):
        if field.name in own and field_rules(hints[field.name]):
            _check_below(of["properties"][field.encode_name], hints[field.name], [cls.__name__, field.name])


def _check_below(of: Schema, annotated: Any, path: list[str]) -> None:
    """The rules of a field, and of what is in its list or map; a struct in there has seen to its own."""
    type_, markers = unwrap(annotated)
    if any(isinstance(marker, Rule) for marker in markers):
        _check_each(of, path)
    if get_origin(type_) is list:
        _check_below(of["items"], get_args(type_)[0], path)
    elif get_origin(type_) is dict and isinstance(of.get("additionalProperties"), dict):
        _check_below(of["additionalProperties"], get_args(type_)[1], path)


def _check_each(of: Schema, path: list[str]) -> None:
    from windvane.api.cel.declared_types import declared
    from windvane.api.cel.rule import compiled_rules, normal_field_path
    from windvane.api.openapi.check_rules import rule_form_causes

    for rule in compiled_rules(of.get(RULES, ()), of, declared(of, is_resource=False)):
        if not str(rule.rule.get("rule", "")).strip():
            raise SchemaError(path, "a Rule needs an expression in CEL")
        if rule.problem:
            raise SchemaError(path, _rule_problem(rule.rule["rule"], rule.problem, of))
        if rule.message_problem:
            raise SchemaError(path, _rule_problem(rule.rule["messageExpression"], rule.message_problem, of))
        if (place := rule.rule.get("fieldPath")) and normal_field_path(place, of) is None:
            raise SchemaError(path, f"Rule(..., field_path={place!r}): it leads to no field; {_remedy(place, of)}")
    for cause in rule_form_causes(of, ""):
        raise SchemaError(path, f"Rule(..., {cause.field.rpartition('.')[2]}=...): {cause.message}")


def _rule_problem(rule: str, problem: str, of: Schema) -> str:
    told = re.sub(r"(?s)^.*?ERROR: <input>:\d+:\d+: ", "", problem).partition("\n")[0]
    if found := _PYTHON.search(told):
        return f"the rule {rule!r} does not work: {told}; CEL is not Python: write {_IN_CEL[found[1]]}"
    remedy = f"; {_remedy(told, of)}" if _UNDEFINED.search(told) else ""
    return f"the rule {rule!r} does not work: {told}{remedy}"


def _remedy(told: str, of: Schema) -> str:
    """What to write for a name that CEL does not know."""
    fields = of.get("properties", {})
    found = _UNDEFINED.search(told)
    name = (found[1] or found[2]) if found else told.rpartition(".")[2]
    on_wire = wire_name(name)
    if name.lower() in ("old_self", "oldself"):
        return "write oldSelf"
    if found and found[2] and on_wire in fields:
        return f"write self.{on_wire}"
    if on_wire != name and _has_field(of, on_wire):
        start = "self." if on_wire in fields else ""
        return f"CEL sees the wire's names: write {start}{on_wire}"
    return f"the fields are {', '.join(fields)}" if fields else "the value has no fields"


def _below(of: Schema) -> Iterator[Schema]:
    yield from of.get("properties", {}).values()
    yield from (each for each in (of.get("items"), of.get("additionalProperties")) if isinstance(each, dict))


def _has_field(of: Schema, name: str) -> bool:
    return name in of.get("properties", {}) or any(_has_field(each, name) for each in _below(of))


def _has_rules(of: Schema) -> bool:
    return RULES in of or any(_has_rules(each) for each in _below(of))
