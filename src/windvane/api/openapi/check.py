"""Whether the schema in a CRD is one that the server can prune, default and validate with: structural.

Structural means that every part of an object has one type, stated where the part stands; what is under anyOf, oneOf,
allOf and not may only restrict values further.
"""

from typing import Any

from windvane.api.cel.rules import rule_tree
from windvane.api.custom_resources.schema import Schema
from windvane.api.json_value import json_copy
from windvane.api.openapi.check_keywords import keyword_causes
from windvane.api.openapi.check_rules import expression_causes
from windvane.api.openapi.embedded import EmbeddedCheck
from windvane.api.openapi.formats import known_format
from windvane.api.openapi.keywords import Part
from windvane.api.openapi.patterns import PatternError, pattern
from windvane.api.openapi.structural import PRESERVE, RESOURCE_FIELDS, Structural, UnknownFields
from windvane.api.status import StatusCause
from windvane.api.wording import forbidden, invalid, required

INT_OR_STRING = "x-kubernetes-int-or-string"
EMBEDDED = "x-kubernetes-embedded-resource"
_UNSUPPORTED = {
    "id": "id", "$schema": "schema", "$ref": "$ref", "patternProperties": "patternProperties",
    "dependencies": "dependencies", "additionalItems": "additionalItems", "definitions": "definitions",
}  # fmt: skip
_EITHER = [{"type": "integer"}, {"type": "string"}]
_NOT_EMPTY = {"root": "at the root", "item": "for specified array items", "field": "for specified object fields"}
# What must not be stated a second time under a junctor, and how the server asks for its absence.
_STATED_ONCE = {
    "type": "empty", "default": "undefined", "title": "empty", "description": "empty", "nullable": "false",
    PRESERVE: "false", EMBEDDED: "false", INT_OR_STRING: "false",
    "x-kubernetes-list-map-keys": "empty", "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined", "x-kubernetes-validations": "empty",
}  # fmt: skip


def schema_causes(of: Schema, path: str, *, is_unchanged: bool = False) -> list[StatusCause]:
    """What is wrong with the root schema of a kind, found at `path`; with `is_unchanged`, it was there before."""
    unsupported = _unsupported(of)
    found: list[StatusCause] = []
    if unsupported is None:
        found = sorted(
            [*_invariants(of, "root", path), *_incomplete(of, of, path, path)],
            key=lambda cause: f"{cause.field}: {cause.message}",
        )
        found = found or _default_causes({**of, EMBEDDED: True}, path, in_metadata=False)
    keywords = keyword_causes(of, path)
    is_structural = unsupported is None and not found
    found += keywords
    if is_structural:
        found += expression_causes(of, path, keywords, is_unchanged=is_unchanged)
    return found or ([invalid(path, "", unsupported)] if unsupported else [])


def unrecognized_formats(of: Schema) -> list[str]:
    """The formats in a schema that the server doesn't know and won't check, in the order of their appearance."""
    format_ = of.get("format") or ""
    own = [format_] if format_ and not known_format(of.get("type") or "", format_) else []
    return list(dict.fromkeys([*own, *(name for each in _below(of) for name in unrecognized_formats(each))]))


def _unsupported(of: Schema) -> str | None:
    """Why a schema can't be structural at all; the keywords are complained about elsewhere, with their paths."""
    for keyword, name in _UNSUPPORTED.items():
        if of.get(keyword) or (keyword == "additionalItems" and keyword in of):
            return f"OpenAPIV3Schema '{name}' is not supported"
    if of.get(PRESERVE) is False:
        return f"internal error: '{PRESERVE}' must be true or undefined"
    if isinstance(of.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next((why for each in _below(of) if (why := _unsupported(each)) is not None), None)


def _below(of: Schema) -> list[Schema]:
    one = (of.get("items"), of.get("additionalProperties"), of.get("not"))
    several = (*(of.get("properties") or {}).values(), *(of.get("anyOf") or ()), *(of.get("allOf") or ()))
    return [each for each in (*one, *several, *(of.get("oneOf") or ())) if isinstance(each, dict)]


def _invariants(of: Schema, level: str, path: str) -> list[StatusCause]:
    found = []
    type_ = of.get("type") or ""
    items, additional, properties = of.get("items"), of.get("additionalProperties"), of.get("properties") or {}
    if type_ == "array" and items is None:
        found.append(required(f"{path}.items", "must be specified"))
    if items is not None:
        found += _invariants(items, "item", f"{path}.items")
    for name, inner in properties.items():
        found += _invariants(inner, "field", f"{path}.properties[{name}]")
    if additional is not None:
        if level == "root":
            found.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
        if isinstance(additional, dict):
            found += _invariants(additional, "field", f"{path}.additionalProperties")
    embedded, either = of.get(EMBEDDED) is True, of.get(INT_OR_STRING) is True
    for keyword in (PRESERVE, EMBEDDED):
        if either and of.get(keyword) is True:
            found.append(invalid(f"{path}.{keyword}", True, f"must be false if {INT_OR_STRING} is true"))
    found += _junctors(of, path, skip_any_of=of.get("anyOf") == _EITHER, skip_first_all_of=_starts_with_either(of))
    if embedded and type_ != "object":
        found.append(_type_must_be(path, type_, f"must be object if {EMBEDDED} is true"))
    elif not type_ and not either and of.get(PRESERVE) is not True:
        found.append(required(f"{path}.type", f"must not be empty {_NOT_EMPTY[level]}"))
    if embedded and additional is not None:
        found.append(forbidden(f"{path}.additionalProperties", f"must not be used if {EMBEDDED} is set"))
    if level == "root" and type_ not in ("", "object"):
        found.append(invalid(f"{path}.type", type_, "must be object at the root"))
    if level == "root" or embedded:
        found += _resource_field_causes(properties, path, is_root=level == "root")
    if embedded and of.get(PRESERVE) is not True and not properties:
        why = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        found.append(required(f"{path}.properties", why))
    return found


def _type_must_be(path: str, type_: str, why: str) -> StatusCause:
    return invalid(f"{path}.type", type_, why) if type_ else required(f"{path}.type", why)


def _resource_field_causes(properties: dict[str, Schema], path: str, *, is_root: bool) -> list[StatusCause]:
    """apiVersion, kind and metadata are the server's own: a schema may restrict names, and no more."""
    found = [
        invalid(f"{path}.properties[{name}].type", type_, "must be string")
        for name in ("kind", "apiVersion")
        if name in properties and (type_ := properties[name].get("type") or "") != "string"
    ]
    if (metadata := properties.get("metadata")) is not None:
        here = f"{path}.properties[metadata]"
        if (type_ := metadata.get("type") or "") != "object":
            found.append(invalid(f"{here}.type", type_, "must be object"))
        restricted = set(metadata) - {"type", "default", "properties"}
        if is_root and (restricted or not set(metadata.get("properties") or ()) <= {"name", "generateName"}):
            why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            found.append(forbidden(here, why))
    return found


def _starts_with_either(of: Schema) -> bool:
    all_of = of.get("allOf") or []
    return bool(all_of) and all_of[0].get("anyOf") == _EITHER


def _junctors(of: Schema, path: str, *, skip_any_of: bool, skip_first_all_of: bool = False) -> list[StatusCause]:
    """What is wrong with the restrictions under anyOf, allOf, oneOf and not."""
    found = []
    for index, each in enumerate(() if skip_any_of else of.get("anyOf") or ()):
        found += _nested(each, f"{path}.anyOf[{index}]")
    for index, each in enumerate(of.get("allOf") or ()):
        found += _nested(each, f"{path}.allOf[{index}]", skip_any_of=skip_first_all_of and index == 0)
    for index, each in enumerate(of.get("oneOf") or ()):
        found += _nested(each, f"{path}.oneOf[{index}]")
    if of.get("not") is not None:
        found += _nested(of["not"], f"{path}.not")
    if text := of.get("pattern"):
        try:
            pattern(text)
        except PatternError as error:
            found.append(invalid(f"{path}.pattern", text, f"must be a valid regular expression, but isn't: {error}"))
    return found


def _nested(of: Schema, path: str, *, skip_any_of: bool = False) -> list[StatusCause]:
    found = _junctors(of, path, skip_any_of=skip_any_of)
    if isinstance(of.get("items"), dict):
        found += _nested(of["items"], f"{path}.items")
    for name, inner in (of.get("properties") or {}).items():
        found += _nested(inner, f"{path}.properties[{name}]")
    if of.get("additionalProperties"):
        found.append(forbidden(f"{path}.additionalProperties", "must be undefined to be structural"))
    for keyword, state in _STATED_ONCE.items():
        if of.get(keyword) or (keyword == "default" and of.get(keyword) is not None):
            found.append(forbidden(f"{path}.{keyword}", f"must be {state} to be structural"))
    if "metadata" in (of.get("properties") or {}):
        found.append(forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context"))
    return found


def _incomplete(value: Schema, structure: Schema | None, path: str, value_path: str) -> list[StatusCause]:
    """Fields that are restricted under a junctor without being there at all."""
    found = []
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(value.get(keyword) or ()):
            found += _incomplete_nested(each, structure, path, f"{value_path}.{keyword}[{index}]")
    if value.get("not") is not None:
        found += _incomplete_nested(value["not"], structure, path, f"{value_path}.not")
    return found


def _incomplete_nested(nested: Schema, structure: Schema | None, path: str, value_path: str) -> list[StatusCause]:
    if structure is None:
        return [required(path, f"because it is defined in {value_path}")]
    found = _incomplete(nested, structure, path, value_path)
    if isinstance(nested.get("items"), dict):
        found += _incomplete_nested(nested["items"], structure.get("items"), f"{path}.items", f"{value_path}.items")
    known = structure.get("properties") or {}
    for name, inner in (nested.get("properties") or {}).items():
        step = f".properties[{name}]"
        found += _incomplete_nested(inner, known.get(name), path + step, value_path + step)
    return found


def _default_causes(of: Schema, path: str, *, in_metadata: bool) -> list[StatusCause]:
    """What is wrong with the defaults: they must be pruned and valid, because they are not looked at again."""
    found: list[StatusCause] = []
    embedded = of.get(EMBEDDED) is True
    if (default := of.get("default")) is not None and not in_metadata:
        found += _one_default_causes(of, default, f"{path}.default")
    if isinstance(of.get("items"), dict):
        found += _default_causes(of["items"], f"{path}.items", in_metadata=in_metadata and not embedded)
    for name, inner in (of.get("properties") or {}).items():
        inside = (in_metadata and not embedded) or (embedded and name in RESOURCE_FIELDS)
        found += _default_causes(inner, f"{path}.properties[{name}]", in_metadata=inside)
    return found


def _one_default_causes(of: Schema, default: Any, path: str) -> list[StatusCause]:
    found = []
    unknown = UnknownFields()
    Structural(of).prune_value(json_copy(default), None, unknown)
    if unknown.fields:
        found.append(invalid(path, default, "must not have unknown fields"))
    embedded = EmbeddedCheck.of(of)
    found += embedded.causes(default, path) if embedded else []
    found = found or Part(of).causes(default, under=path)
    return found or _rule_causes(of, default, path)


def _rule_causes(of: Schema, default: Any, path: str) -> list[StatusCause]:
    """The rules that a default breaks, as what replaces itself and as what is new."""
    rules = rule_tree(of, is_resource=of.get(EMBEDDED) is True)
    if rules is None:
        return []
    return rules.judge(default, default, path=path).causes or rules.judge(default, path=path).causes
