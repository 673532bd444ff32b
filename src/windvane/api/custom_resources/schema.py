"""From a type to the structural OpenAPI v3 schema that the API server prunes, defaults and validates with.

Structural means that every part of an object has exactly one type, written where it stands. What Python
can say beyond that (unions, tuples, recursion, plain `Any`) is refused here, with the path of the field
and what to write instead, rather than by the server with a path into the schema.
"""

import enum
import math
import types
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from windvane.api import codec
from windvane.api.custom_resources import docstrings
from windvane.api.custom_resources.rules import FieldCount, Rule
from windvane.api.hints import fields, takes_none, type_hints, unwrap
from windvane.api.json_value import json_copy
from windvane.api.markers import (
    EmbeddedResource,
    Marker,
    MaxItems,
    MaxProperties,
    Nullable,
    Patch,
    PreserveUnknown,
    Required,
)
from windvane.api.time import TIME_SCHEMA
from windvane.api.value import is_value

Schema = dict[str, Any]

PLAIN: Mapping[type, Mapping[str, str]] = types.MappingProxyType(
    {
        bool: {"type": "boolean"},
        int: {"type": "integer", "format": "int64"},
        float: {"type": "number", "format": "double"},
        str: {"type": "string"},
        bytes: {"type": "string", "format": "byte"},
        datetime: {"type": "string", "format": "date-time"},
    }
)
# What a marker may say more precisely than the type did: Format("int32") on an int.
REFINED = frozenset({"type", "format", "minLength", "maxLength", "x-kubernetes-map-type"})
# What is asked of values in custom kinds alone. In built-in kinds the server reads them with code of its own.
CUSTOM_ONLY = frozenset({"not", "maxLength"})
# The server lets any list pass for a string with a format. No list has at least one item, and none.
NO_LIST: Mapping[str, int] = types.MappingProxyType({"minItems": 1, "maxItems": 0})
MANY = 100
"""How often a selector may be in an object at most so that a CEL rule on its labels stays cheap."""
KEEP_ANY = "write Annotated[Any, PreserveUnknown()] to keep whatever comes"
_INSTEAD: Mapping[Any, str] = types.MappingProxyType(
    {timedelta: "Duration", Decimal: "Quantity, or str", date: 'Annotated[str, Format("date")]'}
)
SCALARS = frozenset({"string", "integer", "number", "boolean"})


class SchemaError(TypeError):
    """A class that the API server could not hold; the message has the field's path and the remedy."""

    def __init__(self, path: Sequence[str], problem: str) -> None:
        super().__init__(f"{'.'.join(path)}: {problem}")


class MarkerError(SchemaError):
    """A marker that can't be where it is, whatever the rest of the class is for."""


def schema(type_: Any, *, builtin: bool = False, documented: bool = True, path: Sequence[str] | None = None) -> Schema:
    """The schema of a struct class or of any type that can be a field.

    With `builtin` it is one for Kubernetes' own kinds, which are not held to all the rules of CRDs: it has what
    strategic merge patches need to know, list keys may be absent, and what contains itself is not described further.
    To leave out what is `documented` saves reading the class's source. `path` is what errors call the type.
    """
    return _Walk(builtin, documented).schema(type_, list(path or [getattr(type_, "__name__", str(type_))]))


class _Walk:
    """One walk over a type, which remembers the structs it is inside of."""

    def __init__(self, builtin: bool, documented: bool) -> None:
        self._builtin = builtin
        # Of built-in kinds the docs are not needed here, and finding them means parsing our sources.
        self._documented = documented and not builtin
        self._inside: list[type] = []
        self._times: float = 1  # how often what is walked now can be in one object

    def schema(self, annotated: Any, path: list[str]) -> Schema:
        type_, markers = unwrap(annotated)
        if any(isinstance(each, msgspec.Meta) for each in getattr(annotated, "__metadata__", ())):
            raise SchemaError(path, "the server knows nothing of msgspec.Meta; write Ge(1), Pattern('^a'), ... instead")
        before, self._times = self._times, self._times * _most_entries(type_, markers)
        result = self._bare(type_, markers, path)
        self._times = before
        given = dict(result)
        for marker in markers:
            if isinstance(marker, Patch) and not self._builtin:
                continue
            self._mark(result, marker, path, given)
        if self._builtin:
            return result
        if "items" in result:
            _check_list(result, path)
        if result.get("type") == "string" and "format" in result:
            result |= NO_LIST
        return result

    def _bare(self, type_: Any, markers: Sequence[Marker], path: list[str]) -> Schema:
        """The schema of a type without its markers; some types are possible with certain markers only."""
        arguments = get_args(type_)
        origin = get_origin(type_)
        if type_ is datetime and not self._builtin:
            return json_copy(dict(TIME_SCHEMA))
        if type_ in PLAIN:
            return dict(PLAIN[type_])
        if origin is Literal:
            return _enum(list(arguments), path)
        if origin is list or type_ is list:
            if not arguments:
                raise SchemaError(path, "a list needs the type of its items; write list[str], say")
            return {"type": "array", "items": self._inner(arguments[0], [*path[:-1], f"{path[-1]}[]"])}
        if origin is dict or type_ is dict:
            return self._map(arguments, markers, path)
        if type_ is Any or type_ is object:
            if not _has(markers, PreserveUnknown):
                raise SchemaError(path, f"Any has no schema; {KEEP_ANY}")
            return {}
        if origin in (Union, types.UnionType):
            if self._builtin and set(arguments) != {int, str}:
                return dict(PreserveUnknown().keywords())
            return _union(type_, path)
        if isinstance(type_, type):
            if is_value(type_):
                left_out = CUSTOM_ONLY if self._builtin else ()
                return json_copy({key: value for key, value in type_.wire_schema.items() if key not in left_out})
            if issubclass(type_, enum.Enum):
                return _enum([member.value for member in type_], path)
            if issubclass(type_, msgspec.Struct):
                return self._struct(type_, markers, path)
        raise SchemaError(path, f"{_words(type_)} has no structural schema; {_remedy(type_)}")

    def _inner(self, annotated: Any, path: list[str]) -> Schema:
        """The schema of what has no default to stand for null."""
        if _has(unwrap(annotated)[1], Nullable) and not takes_none(annotated):
            raise MarkerError(path, "Nullable lets in null, which the class could not read; add `| None` to the type")
        return self.schema(annotated, path)

    def _map(self, arguments: tuple[Any, ...], markers: Sequence[Marker], path: list[str]) -> Schema:
        if not arguments or unwrap(arguments[1])[0] in (Any, object):
            if not _has(markers, PreserveUnknown):
                raise SchemaError(
                    path,
                    "the server would empty a map whose values have no type; write dict[str, str], say, "
                    "or Annotated[dict[str, Any], PreserveUnknown()] to keep whatever comes",
                )
            return {"type": "object"}
        if unwrap(arguments[0])[0] is not str:
            raise SchemaError(path, f"a map's keys are strings; write dict[str, {_words(arguments[1])}]")
        values = self._inner(arguments[1], [*path[:-1], f"{path[-1]}{{}}"])
        return {"type": "object", "additionalProperties": values}

    def _struct(self, cls: type[msgspec.Struct], markers: Sequence[Marker], path: list[str]) -> Schema:
        if cls in self._inside and self._builtin:
            return {"type": "object", **PreserveUnknown().keywords()}
        if cls in self._inside:
            raise SchemaError(
                path,
                f"{cls.__name__} contains itself, which a structural schema can't say; at the inner place {KEEP_ANY}",
            )
        self._inside.append(cls)
        hints = type_hints(cls)
        texts = docstrings.field_docs(cls) if self._documented else {}
        result: Schema = {"type": "object"}
        properties: Schema = {}
        required = []
        for field in fields(cls):
            here = [*path, field.name]
            if field.encode_name == "metadata" and _has(markers, EmbeddedResource):
                properties["metadata"] = {"type": "object"}  # the server knows the rest, and forbids it here
                continue
            inner = self._inner(hints[field.name], here) if field.required else self.schema(hints[field.name], here)
            if text := texts.get(field.name):
                inner = {"description": text} | inner
            if field.required or _has(unwrap(hints[field.name])[1], Required):
                if field.default not in (msgspec.NODEFAULT, None):
                    raise MarkerError(here, "Required: a plain default is never sent; write field(default_factory=...)")
                required.append(field.encode_name)
            elif (default := default_of(field, inner, here)) is not None and default != inner.setdefault(
                "default", default
            ):
                raise MarkerError(here, f"Default({inner['default']!r}) and = {default!r}; keep one of the two")
            properties[field.encode_name] = inner
        if properties:
            result["properties"] = properties
        if required:
            result["required"] = required
        if self._documented and (text := docstrings.class_doc(cls)):
            result = {"description": text} | result
        if getattr(cls, "__atomic__", False):
            result["x-kubernetes-map-type"] = "atomic"
        if not self._builtin and (narrowed := getattr(cls, "__narrowed__", None)) is not None:
            _narrow(result, narrowed(self._times <= MANY))
        for rule in struct_rules(cls, path):
            self._mark(result, rule, path, {})
        self._inside.pop()
        return result

    def _mark(self, result: Schema, marker: Marker, path: list[str], given: Schema) -> None:
        """Add what `marker` says to a schema, if it can be said there and was not said before.

        What the type says by itself is `given`: it can be said more precisely, and must not be undone. A value that the
        server then let in could not be read.
        """
        kind = "int-or-string" if result.get("x-kubernetes-int-or-string") else result.get("type", "any")
        name = type(marker).__name__
        if kind not in marker.suits:
            suits = " or ".join(sorted(marker.suits))
            raise MarkerError(path, f"{name} is for {suits}, and this is {kind}")
        for key, value in marker.keywords().items():
            if key == "default":
                value = codec.to_wire(value)  # noqa: PLW2901 - Default(Quantity("1Gi")) is as good as Default("1Gi")
            if key == "x-kubernetes-validations":
                result.setdefault(key, []).extend(value)
            elif key == "pattern" and key in result:
                result.setdefault("allOf", []).append({key: value})
            elif key in result and (key not in REFINED or result[key] != given.get(key)):
                raise MarkerError(path, f"{name} sets {key!r} a second time; keep one of the two")
            elif key == "format" and kind == "string" and key in given:
                raise MarkerError(path, f"{name}({value!r}): the type is {given[key]!r} already; write str for others")
            elif key == "maxLength" and value > given.get(key, value):
                raise MarkerError(path, f"{name}({value}): the type can't read more than {given[key]} characters")
            else:
                result[key] = value


def _most_entries(type_: Any, markers: Sequence[Marker]) -> float:
    """How many of what is in a list or a map there can be; 1 for what is neither."""
    if (get_origin(type_) or type_) not in (list, dict):
        return 1
    return min((each.value for each in markers if isinstance(each, MaxItems | MaxProperties)), default=math.inf)


def _narrow(result: Schema, narrowed: Mapping[str, Any]) -> None:
    """Add to a schema what its class says of its fields for custom kinds alone."""
    for key, value in narrowed.items():
        if isinstance(value, Mapping) and isinstance(result.get(key), dict):
            _narrow(result[key], value)
        else:
            result[key] = json_copy(value)


def _has(markers: Sequence[Marker], kind: type[Marker]) -> bool:
    return any(isinstance(marker, kind) for marker in markers)


def _enum(values: list[Any], path: list[str]) -> Schema:
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return {"type": "string", "enum": values}
    if kinds == {int}:
        return {"type": "integer", "enum": values}
    raise SchemaError(path, f"the values {values} must all be strings or all be integers")


def _union(type_: Any, path: list[str]) -> Schema:
    if set(get_args(type_)) == {int, str}:
        return {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    raise SchemaError(
        path,
        f"{_words(type_)}: one field has one type; write a Struct with an optional field for each choice "
        "and rules=[ExactlyOneOf(...)], or IntOrString",
    )


def _words(type_: Any) -> str:
    return type_.__name__ if isinstance(type_, type) and not get_args(type_) else str(type_)


def _remedy(type_: Any) -> str:
    origin = get_origin(type_) or type_
    if origin in (set, frozenset):
        return "write Annotated[list[...], ListSet()]"
    if origin is tuple:
        return "write list[...] with MinItems and MaxItems, or a Struct with named fields"
    if getattr(type_, "__module__", "") in ("windvane.api.selector", "windvane.api.field_selector"):
        return "write LabelSelector, or str and parse it"
    if type_ in _INSTEAD:
        return f"write {_INSTEAD[type_]}"
    if isinstance(type_, TypeVar):
        return "give the generic base its types, as in Resource[WebsiteSpec, WebsiteStatus]"
    return "write a Struct, or give the class wire_schema, from_wire and to_wire"


def default_of(field: msgspec.structs.FieldInfo, inner: Schema, path: list[str]) -> Any:
    """What the server fills in when the field is absent; None for nothing.

    An empty list, map or string means the same as an absent one, and an empty struct is worth filling in only if
    that brings the defaults of its fields.
    """
    if field.default is not msgspec.NODEFAULT:
        return None if field.default in (None, "", b"") else codec.to_wire(field.default)
    factory: Any = field.default_factory
    try:
        default = codec.to_wire(factory())
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise SchemaError(path, f"its default_factory failed: {why}; the server needs to know the default") from error
    if default in ([], "") or (default == {} and not _has_defaults(inner)):
        return None
    return default


def _has_defaults(inner: Schema) -> bool:
    return any("default" in value for value in inner.get("properties", {}).values())


def field_rules(annotated: Any) -> bool:
    """Whether there are rules on a field, or on what is in its list or map."""
    type_, markers = unwrap(annotated)
    inside = get_args(type_)[-1:] if get_origin(type_) in (list, dict) else ()
    return _has(markers, Rule) or any(field_rules(each) for each in inside)


def struct_rules(cls: type[msgspec.Struct], path: list[str]) -> list[Rule]:
    """The rules of a struct, those of its bases first."""
    rules = []
    for base in reversed(cls.__mro__):
        for rule in base.__dict__.get("__rules__", ()):
            if isinstance(rule, FieldCount):
                names = {field.name: field.encode_name for field in msgspec.structs.fields(cls)}
                if unknown := [name for name in rule.fields if name not in names]:
                    what = f"{type(rule).__name__} names {', '.join(unknown)}"
                    raise SchemaError(path, f"{what}; the fields are {', '.join(names)}")
                rules.append(rule.rule([names[name] for name in rule.fields]))
            elif isinstance(rule, Rule):
                rules.append(rule)
            else:
                raise MarkerError(path, f"rules=[{rule!r}]: write Rule({rule!r}, ...)")
    return rules


def _check_list(result: Schema, path: list[str]) -> None:
    """What the server asks of list types, said with the author's words."""
    items = result["items"]
    scalar = items.get("type") in SCALARS or "x-kubernetes-int-or-string" in items
    list_type = result.get("x-kubernetes-list-type")
    if list_type == "set" and not scalar and items.get("x-kubernetes-map-type") != "atomic":
        raise MarkerError(path, "ListSet is for scalars and atomic structs; write ListMap with the key fields")
    if list_type != "map":
        return
    properties = items.get("properties", {})
    for key in result["x-kubernetes-list-map-keys"]:
        if key not in properties:
            raise MarkerError(path, f"ListMap({key!r}): the items' fields are {', '.join(properties) or 'none'}")
        if key not in items.get("required", ()) and "default" not in properties[key]:
            raise MarkerError(path, f"ListMap({key!r}): that field must be required or have a default")
