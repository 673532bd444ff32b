"""The definitions in OpenAPI documents: one for each class of `windvane.k8s`, one for each custom kind.

They are named as the real server names them, because tools look for those names.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, get_args, get_origin

import msgspec

from windvane.api.custom_resources.schema import Schema, schema
from windvane.api.hints import type_hints, unwrap
from windvane.api.int_or_string import IntOrString
from windvane.api.kind import Kind
from windvane.api.markers import Marker, Required
from windvane.api.meta import ListMeta, ManagedFieldsEntry, ObjectMeta
from windvane.api.quantity import Quantity
from windvane.api.resource import Object, kind_of
from windvane.api.status import APIStatus
from windvane.api.time import MicroTime
from windvane.cluster.apiserver.documentation import UNDOCUMENTED, DefinitionDocumentation, documentation
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.k8s import apiextensions, policy

COMPONENTS = "#/components/schemas/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
PATCH = f"{META}.Patch"

# Go packages whose definitions are not named `io.k8s.api.GROUP.VERSION` with the group and version of the kinds.
PACKAGES: Mapping[str, str] = MappingProxyType(
    {
        "windvane.k8s.apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
        "windvane.cluster.apiserver.registry.autoscaling.conversion": "io.k8s.api.autoscaling.v1",
        "windvane.k8s.apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    }
)
NAMES: Mapping[type, str] = MappingProxyType(
    {
        APIStatus: f"{META}.Status",
        policy.DeleteOptions: f"{META}.DeleteOptions",
        policy.Preconditions: f"{META}.Preconditions",
    }
)

# Kinds of which there are no resources, and whose classes therefore don't say that they are kinds.
KINDS: Mapping[type, Kind] = MappingProxyType(
    {
        APIStatus: Kind(group="", version="v1", name="Status", plural=""),
        policy.DeleteOptions: Kind(group="", version="v1", name="DeleteOptions", plural=""),
    }
)

# Types that are plain values in Python and definitions of their own in Kubernetes.
VALUES: Mapping[Any, tuple[str, Schema]] = MappingProxyType(
    {
        datetime: (f"{META}.Time", {"type": "string", "format": "date-time"}),
        MicroTime: (f"{META}.MicroTime", {"type": "string", "format": "date-time"}),
        Quantity: (
            "io.k8s.apimachinery.pkg.api.resource.Quantity",
            {"oneOf": [{"type": "string"}, {"type": "number"}]},
        ),
        IntOrString: (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
            {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
        ),
    }
)

# Fields that take any JSON have definitions that only say so. Any object is a RawExtension, if it isn't in FREE.
RAW_EXTENSION: tuple[str, Schema] = ("io.k8s.apimachinery.pkg.runtime.RawExtension", {"type": "object"})
JSON_SCHEMA = PACKAGES["windvane.k8s.apiextensions"]
FREE: Mapping[tuple[type, str], tuple[str, Schema]] = MappingProxyType(
    {
        (ManagedFieldsEntry, "fieldsV1"): (f"{META}.FieldsV1", {"type": "object"}),
        **{
            (apiextensions.JSONSchemaProps, field): (f"{JSON_SCHEMA}.{name}", {})
            for field, name in {
                "additionalItems": "JSONSchemaPropsOrBool",
                "additionalProperties": "JSONSchemaPropsOrBool",
                "default": "JSON",
                "dependencies": "JSONSchemaPropsOrStringArray",
                "enum": "JSON",
                "example": "JSON",
                "items": "JSONSchemaPropsOrArray",
            }.items()
        },
    }
)


def builtin_name(cls: type[msgspec.Struct]) -> str:
    """The name of the definition of a built-in class: `io.k8s.api.apps.v1.DeploymentSpec`."""
    if cls in NAMES:
        return NAMES[cls]
    if cls.__module__.startswith("windvane.api."):
        return f"{META}.{cls.__name__}"
    package = PACKAGES.get(cls.__module__) or f"io.k8s.api.{cls.__module__.rpartition('.')[2]}.{_version_of(cls)}"
    return f"{package}.{cls.__name__}"


def _version_of(cls: type[msgspec.Struct]) -> str:
    """The version of the kinds in the same module; of autoscaling, which alone has two, Scale's for its own parts."""
    kinds = [each for each in builtin_models() if each.__module__ == cls.__module__]
    own = [each for each in kinds if cls.__name__.startswith(each.__name__)]
    return kind_of((own or kinds)[0]).version


def custom_name(kind: Kind) -> str:
    """The name of the definition of a custom kind: `dev.windvane.demo.v1alpha1.Website`."""
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.name])


def definition_name(served: ResourceType) -> str:
    """The name of the definition of whatever is served."""
    strategy = served.strategy
    return builtin_name(strategy.model) if isinstance(strategy, BuiltinStrategy) else custom_name(served.kind)


def definitions(types: Iterable[ResourceType], others: Iterable[type[msgspec.Struct]] = ()) -> dict[str, Schema]:
    """The definitions of these kinds, of their lists, of those other classes, and of all that they refer to."""
    walk = _Walk()
    walk.found[PATCH] = described(PATCH, {"type": "object"})
    always: tuple[type[msgspec.Struct], ...] = (APIStatus, policy.DeleteOptions, ListMeta, ObjectMeta)
    for cls in (*always, *others):
        walk.struct(cls)
    for served in types:
        if isinstance(served.strategy, BuiltinStrategy):
            walk.struct(served.strategy.model)
        else:
            walk.found[custom_name(served.kind)] = _custom(served)
        if "list" in served.strategy.verbs:
            name = definition_name(served)
            walk.found[f"{name}List"] = _list(name, served.kind)
    return dict(sorted(walk.found.items()))


def described(name: str, definition: Schema) -> Schema:
    """`definition` with what the documentation has to say about it and its fields."""
    about = documentation().get(name)
    if about is None:
        return definition
    # Python asks for a Pod's spec, and fills in a status's zeros; Kubernetes does neither.
    described: Schema = {key: value for key, value in definition.items() if key not in ("required", "properties")}
    if about.required:
        described["required"] = about.required
    if "properties" in definition:
        fields = definition["properties"].items()
        described["properties"] = {field: _documented(about, field, inner) for field, inner in fields}
    return {"description": about.description} | described if about.description else described


def _documented(about: DefinitionDocumentation, field: str, inner: Schema) -> Schema:
    if field not in about.properties or not about.properties[field].description:
        return inner
    if "$ref" in inner:
        inner = {"allOf": [inner]}  # beside a $ref, nothing else is read
    return {"description": about.properties[field].description} | inner


def _reference(name: str) -> Schema:
    return {"$ref": f"{COMPONENTS}{name}"}


class _Walk:
    """One walk over classes, which collects a definition for each that it meets."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}

    def struct(self, cls: type[msgspec.Struct]) -> Schema:
        """A reference to the definition of `cls`, which is there afterwards."""
        name = builtin_name(cls)
        if name not in self.found:
            self.found[name] = {}  # before its fields: a class may contain itself
            self.found[name] = described(name, self._definition(cls))
        return _reference(name)

    def _definition(self, cls: type[msgspec.Struct]) -> Schema:
        hints = type_hints(cls)
        fields = sorted(msgspec.structs.fields(cls), key=lambda field: field.encode_name)
        marked = {field.name: unwrap(hints[field.name])[1] for field in fields}
        required = [
            field.encode_name
            for field in fields
            if field.required or any(isinstance(marker, Required) for marker in marked[field.name])
        ]
        properties = {
            field.encode_name: self._field(hints[field.name], FREE.get((cls, field.encode_name))) for field in fields
        }
        result: Schema = {"type": "object"}
        if required:
            result["required"] = required
        if properties:
            result["properties"] = properties
        if getattr(cls, "__atomic__", False):
            result["x-kubernetes-map-type"] = "atomic"
        if cls in KINDS:
            result |= _is_kind(KINDS[cls])
        elif issubclass(cls, Object):
            result |= _is_kind(kind_of(cls))
        return result

    def _field(self, annotated: Any, free: tuple[str, Schema] | None) -> Schema:
        type_, markers = unwrap(annotated)
        arguments = get_args(type_)
        if get_origin(type_) is list:
            return _marked({"type": "array", "items": self._field(arguments[0], free)}, markers)
        if get_origin(type_) is dict and unwrap(arguments[1])[0] is not Any:
            return _marked({"type": "object", "additionalProperties": self._field(arguments[1], free)}, markers)
        if free or get_origin(type_) is dict:
            return self._value(*(free or RAW_EXTENSION))
        if type_ in VALUES:
            return _marked(self._value(*VALUES[type_]), markers)
        if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
            return _marked(self.struct(type_), markers)
        return schema(annotated, builtin=True)

    def _value(self, name: str, definition: Schema) -> Schema:
        if name not in self.found:
            self.found[name] = described(name, definition)
        return _reference(name)


def _marked(bare: Schema, markers: Iterable[Marker]) -> Schema:
    keywords = {key: value for marker in markers for key, value in marker.keywords().items()}
    if keywords and "$ref" in bare:
        return {"allOf": [bare]} | keywords
    return bare | keywords


def _is_kind(kind: Kind, suffix: str = "") -> Schema:
    named = {"group": kind.group, "kind": f"{kind.name}{suffix}", "version": kind.version}
    return {"x-kubernetes-group-version-kind": [named]}


def _list(name: str, kind: Kind) -> Schema:
    definition = {
        "type": "object",
        "required": ["items"],
        "properties": {
            **_head(),
            "items": {"type": "array", "items": _reference(name)},
            "metadata": _reference(builtin_name(ListMeta)),
        },
        **_is_kind(kind, "List"),
    }
    return described(f"{name}List", definition)


def _head() -> Schema:
    """apiVersion and kind, as every object has them."""
    about = documentation().get(f"{META}.Status", UNDOCUMENTED)
    return {field: _documented(about, field, {"type": "string"}) for field in ("apiVersion", "kind")}


def _custom(served: ResourceType) -> Schema:
    """A custom kind: the schema of its CRD, and what every object has."""
    own: Schema = _in_full(served.schema)
    properties = own.get("properties", {}) | _object_properties()
    result = own | {"type": "object", "properties": properties} | _is_kind(served.kind)
    if served.strategy.selectable_fields:
        result["x-kubernetes-selectable-fields"] = [{"fieldPath": path} for path in served.strategy.selectable_fields]
    return result


def _object_properties() -> Schema:
    about = documentation().get("io.k8s.api.core.v1.ConfigMap", UNDOCUMENTED)
    return _head() | {"metadata": _documented(about, "metadata", _reference(builtin_name(ObjectMeta)))}


def _in_full(part: Schema) -> Schema:
    """A structural schema with what the server takes for granted in it said aloud."""
    result: Schema = {}
    for key, value in part.items():
        if key == "properties":
            result[key] = {name: _in_full(inner) for name, inner in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            result[key] = _in_full(value)
        else:
            result[key] = value
    if result.get("x-kubernetes-int-or-string") and "anyOf" not in result:
        result["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if result.get("x-kubernetes-embedded-resource"):
        result["properties"] = result.get("properties", {}) | _object_properties()
    return result
