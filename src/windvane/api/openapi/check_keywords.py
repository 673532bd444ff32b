"""Which keywords a CRD's schema may use, and how they must go together."""

from typing import Any

from windvane.api.custom_resources.schema import Schema
from windvane.api.openapi.check_rules import rule_form_causes
from windvane.api.openapi.structural import PRESERVE, RESOURCE_FIELDS
from windvane.api.status import StatusCause
from windvane.api.wording import forbidden, invalid, required, unsupported

LIST_TYPE = "x-kubernetes-list-type"
LIST_KEYS = "x-kubernetes-list-map-keys"
MAP_TYPE = "x-kubernetes-map-type"
EMBEDDED = "x-kubernetes-embedded-resource"
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_REFUSED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


def keyword_causes(
    of: Schema, path: str, *, is_root: bool = True, in_metadata: bool = False, no_defaults: str = ""
) -> list[StatusCause]:
    """What is wrong with the keywords of a schema and of those in it; `no_defaults` says why there may be none."""
    found = _plain_causes(of, path, in_metadata=in_metadata, no_defaults=no_defaults)
    if of.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        found.append(forbidden(f"{path}.uniqueItems", why))
    additional, properties = of.get("additionalProperties"), of.get("properties") or {}
    if additional is not None:
        if properties and additional is not True:
            why = "additionalProperties and properties are mutual exclusive"
            found.append(forbidden(f"{path}.additionalProperties", why))
        if isinstance(additional, dict):
            why = "inside additionalProperties applying to object metadata" if in_metadata else no_defaults
            found += keyword_causes(
                additional, f"{path}.additionalProperties", is_root=False, in_metadata=in_metadata, no_defaults=why
            )
    for name, inner in properties.items():
        own = (is_root or of.get(EMBEDDED) is True) and name in RESOURCE_FIELDS
        found += keyword_causes(
            inner,
            f"{path}.properties[{name}]",
            is_root=False,
            in_metadata=in_metadata or own,
            no_defaults=f"in top-level {name}" if own and is_root else no_defaults,
        )
    for step, inner in _others(of):
        found += keyword_causes(
            inner, f"{path}.{step}", is_root=False, in_metadata=in_metadata, no_defaults=no_defaults
        )
    if of.get(PRESERVE) is False:
        found.append(invalid(f"{path}.{PRESERVE}", False, "must be true or undefined"))
    found += _map_type_causes(of, path) + _list_type_causes(of, path) + _key_causes(of, path)
    return found + rule_form_causes(of, path)


def _others(of: Schema) -> list[tuple[str, Schema]]:
    several = [(f"{key}[{i}]", each) for key in ("allOf", "oneOf", "anyOf") for i, each in enumerate(of.get(key) or ())]
    one = [(key, of[key]) for key in ("not", "items") if isinstance(of.get(key), dict)]
    return one[:1] + several + one[1:]


def _plain_causes(of: Schema, path: str, *, in_metadata: bool, no_defaults: str) -> list[StatusCause]:
    found = []
    type_ = of.get("type") or ""
    if type_ and type_ not in _TYPES:
        found.append(unsupported(f"{path}.type", type_, _TYPES))
    if of.get("default") is not None and no_defaults:
        found.append(forbidden(f"{path}.default", f"must not be set {no_defaults}"))
    found += [
        forbidden(f"{path}.{keyword}", f"{keyword} is not supported")
        for keyword in _REFUSED
        if of.get(keyword) or (keyword in of and keyword in ("additionalItems", "dependencies", "$ref"))
    ]
    if type_ == "null":
        why = "type cannot be set to null, use nullable as an alternative"
        found.append(forbidden(f"{path}.type", why))
    if isinstance(of.get("items"), list):
        found.append(forbidden(f"{path}.items", "items must be a schema object and not an array"))
    if in_metadata and of.get(EMBEDDED) is True:
        found.append(forbidden(f"{path}.{EMBEDDED}", "must not be used inside of resource meta"))
    return found


def _map_type_causes(of: Schema, path: str) -> list[StatusCause]:
    map_type = of.get(MAP_TYPE)
    if map_type is None:
        return []
    found = _type_must_be(of, path, "object", MAP_TYPE)
    if map_type not in ("atomic", "granular"):
        found.append(unsupported(f"{path}.{MAP_TYPE}", map_type, ("atomic", "granular")))
    return found


def _type_must_be(of: Schema, path: str, expected: str, keyword: str) -> list[StatusCause]:
    type_ = of.get("type") or ""
    if type_ == expected:
        return []
    why = f"must be {expected} if {keyword} is specified"
    return [invalid(f"{path}.type", type_, why) if type_ else required(f"{path}.type", why)]


def _list_type_causes(of: Schema, path: str) -> list[StatusCause]:
    list_type, items = of.get(LIST_TYPE), of.get("items")
    found: list[StatusCause] = []
    if list_type is not None:
        found += _type_must_be(of, path, "array", LIST_TYPE)
        if not found and list_type == "set" and isinstance(items, dict):
            why = "must be atomic as item of a list with x-kubernetes-list-type=set"
            if items.get("type") == "array" and items.get(LIST_TYPE) not in (None, "atomic"):
                found.append(invalid(f"{path}.items.{LIST_TYPE}", items[LIST_TYPE], why))
            if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
                found.append(invalid(f"{path}.items.{MAP_TYPE}", items.get(LIST_TYPE), why))
        if list_type not in ("atomic", "set", "map"):
            found.append(unsupported(f"{path}.{LIST_TYPE}", list_type, ("atomic", "set", "map")))
    if of.get(LIST_KEYS) and list_type != "map":
        why = f"must be map if {LIST_KEYS} is non-empty"
        field = f"{path}.{LIST_TYPE}"
        found.append(required(field, why) if list_type is None else invalid(field, list_type, why))
    return found + (_list_map_causes(of, path) if list_type == "map" else [])


def _list_map_causes(of: Schema, path: str) -> list[StatusCause]:
    found = []
    keys, items = of.get(LIST_KEYS) or [], of.get("items")
    if not keys:
        found.append(required(f"{path}.{LIST_KEYS}", f"must not be empty if {LIST_TYPE} is map"))
    if items is None:
        found.append(required(f"{path}.items", f"must have a schema if {LIST_TYPE} is map"))
    if not isinstance(items, dict):
        return found
    if (type_ := items.get("type") or "") != "object":
        why = f"must be object if parent array's {LIST_TYPE} is map"
        return [*found, invalid(f"{path}.items.type", type_, why)]
    seen: set[str] = set()
    properties: dict[str, Any] = items.get("properties") or {}
    for key in keys:
        if key not in properties:
            found.append(invalid(f"{path}.{LIST_KEYS}", keys, "entries must all be names of item properties"))
        elif properties[key].get("type") in ("array", "object"):
            why = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            found.append(invalid(f"{path}.items.properties[{key}].type", "object", why))
        if key in seen:
            found.append(invalid(f"{path}.{LIST_KEYS}", keys, "must not contain duplicate entries"))
        seen.add(key)
    return found


def _key_causes(of: Schema, path: str) -> list[StatusCause]:
    """Items of sets and maps must be there to be told apart, and keys must always have a value."""
    list_type, items = of.get(LIST_TYPE), of.get("items")
    if list_type not in ("set", "map") or not isinstance(items, dict):
        return []
    found = []
    if items.get("nullable"):
        found.append(forbidden(f"{path}.items.nullable", f"cannot be nullable when {LIST_TYPE} is {list_type}"))
    properties = items.get("properties") or {}
    for key in of.get(LIST_KEYS) or () if list_type == "map" else ():
        if key not in properties:
            continue
        here = f"{path}.items.properties[{key}]"
        reason = f"this property is in {LIST_KEYS}, so it"
        if key not in (items.get("required") or ()) and properties[key].get("default") is None:
            found.append(required(f"{here}.default", f"{reason} must have a default or be a required property"))
        if properties[key].get("nullable"):
            found.append(forbidden(f"{here}.nullable", f"{reason} cannot be nullable"))
    return found
