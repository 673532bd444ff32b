"""What the modules of `windvane.k8s` will hold, decided from the definitions alone: classes, fields, types, markers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generate.definitions import Definition, referenced, type_of
from generate.kinds import Facts, Group
from generate.names import python_name

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"

# Definitions that are written by hand in windvane.api, or that Python has a type for.
WRITTEN: Mapping[str, str] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "dict[str, Any]",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    f"{META}Condition": "Condition",
    f"{META}Duration": "Duration",
    f"{META}FieldSelectorRequirement": "FieldSelectorRequirement",
    f"{META}FieldsV1": "dict[str, Any]",
    f"{META}GroupResource": "GroupResource",
    f"{META}LabelSelector": "LabelSelector",
    f"{META}LabelSelectorRequirement": "LabelSelectorRequirement",
    f"{META}MicroTime": "MicroTime",
    f"{META}ObjectMeta": "ObjectMeta",
    f"{META}Time": "datetime",
    JSON_SCHEMA: "Any",
    f"{JSON_SCHEMA}SchemaPropsOrArray": "JSONSchemaProps | list[JSONSchemaProps]",
    f"{JSON_SCHEMA}SchemaPropsOrBool": "JSONSchemaProps | bool",
    f"{JSON_SCHEMA}SchemaPropsOrStringArray": "JSONSchemaProps | list[str]",
}
# What the server must not prune, whatever is in there.
FREE_FORM = frozenset({"Any", "dict[str, Any]"})
TIMES = frozenset({"datetime", "MicroTime"})

SCALARS: Mapping[tuple[str, str | None], str] = {
    ("boolean", None): "bool",
    ("integer", "int32"): "Int32",
    ("integer", "int64"): "int",
    ("number", "double"): "float",
    ("string", None): "str",
    ("string", "byte"): "bytes",
}

# The key of a list must be there or have a default, or server-side apply can't tell the items apart. The
# definitions leave defaults out; these are what a real API server publishes at /openapi/v3.
DEFAULTS: Mapping[tuple[str, str], str] = {
    ("ContainerPort", "protocol"): "TCP",
    ("LocalObjectReference", "name"): "",
    ("ServicePort", "protocol"): "TCP",
}

# What has no default in the definitions, and in a status stands for "nothing seen yet".
ZEROS: Mapping[str, str] = {"bool": "False", "int": "0", "Int32": "0", "str": '""'}

# Optional in the definitions, but Go always writes them, and nobody makes the owner without them. Required here, so
# that `deployment.spec.template.spec.containers` needs no question whether there is a spec.
ALWAYS_WRITTEN = frozenset({("JobTemplateSpec", "spec"), ("PodTemplateSpec", "spec")})

# Object has them.
INHERITED = frozenset({"apiVersion", "kind", "metadata"})


@dataclass(frozen=True)
class Field:
    """One field; `type` and `default` are Python source."""

    wire: str
    name: str
    type: str
    default: str | None
    """None for a required argument."""


@dataclass(frozen=True)
class Class:
    """One struct or kind, with its class keywords as Python source."""

    name: str
    base: str
    keywords: Mapping[str, str]
    fields: Sequence[Field]


@dataclass(frozen=True)
class Module:
    """One module; its structs come before its kinds, whose defaults they are."""

    name: str
    api_versions: Sequence[str]
    structs: Sequence[Class]
    kinds: Sequence[Class]


class Planner:
    """Turns groups of definitions into modules."""

    def __init__(self, definitions: Mapping[str, Definition], groups: Sequence[Group]) -> None:
        self._definitions = definitions
        self._groups = groups
        self._module_of = {group.definitions: group.module for group in groups}
        self._kinds = {f"{group.definitions}.{kind}": facts for group in groups for kind, facts in group.kinds.items()}
        self._reached = self._reach()
        self._statuses = {referenced(self._definitions[kind]["properties"].get("status", {})) for kind in self._kinds}

    def modules(self) -> list[Module]:
        """All modules in the order of their names."""
        return [self._module(name) for name in sorted({group.module for group in self._groups})]

    def _module(self, name: str) -> Module:
        kinds = {kind: facts for kind, facts in self._kinds.items() if self._module_for(kind) == name}
        structs = [each for each in self._reached if each not in kinds and self._module_for(each) == name]
        return Module(
            name=name,
            api_versions=list(dict.fromkeys(_api_version(self._definitions[kind]) for kind in kinds)),
            structs=[self._struct(each, name) for each in sorted(structs, key=_last)],
            kinds=[self._kind(each, kinds[each], name) for each in sorted(kinds, key=_last)],
        )

    def _reach(self) -> set[str]:
        """Everything that the kinds are made of, themselves included; a struct may be reached from another group."""
        reached: set[str] = set()
        waiting = list(self._kinds)
        while waiting:
            name = waiting.pop()
            if name not in reached and name not in WRITTEN:
                reached.add(name)
                waiting += _references(self._definitions[name])
        return reached

    def _struct(self, full_name: str, module: str) -> Class:
        definition = self._definitions[full_name]
        atomic = {"atomic": "True"} if definition.get("x-kubernetes-map-type") == "atomic" else {}
        fields = [self._field(full_name, wire, module) for wire in sorted(definition.get("properties", {}))]
        return Class(_last(full_name), "Struct", atomic, fields)

    def _kind(self, full_name: str, facts: Facts, module: str) -> Class:
        properties = self._definitions[full_name]["properties"]
        fields = [
            self._part(full_name, wire, module) if wire in ("spec", "status") else self._field(full_name, wire, module)
            for wire in sorted(properties)
            if wire not in INHERITED
        ]
        keywords = _kind_keywords(self._definitions[full_name], facts)
        return Class(_last(full_name), "Object", keywords, fields)

    def _part(self, kind: str, wire: str, module: str) -> Field:
        """The spec or status of a kind: there from the start, if it can be made without arguments."""
        definition = self._definitions[kind]
        struct = referenced(definition["properties"][wire])
        field = self._field(kind, wire, module)
        if struct is None or wire in definition.get("required", ()):
            return field
        if self._definitions[struct].get("required") and wire == "spec":
            return Field(wire, wire, _last(struct), None)
        return Field(wire, wire, _last(struct), f"field(default_factory={_last(struct)})")

    def _field(self, owner: str, wire: str, module: str) -> Field:
        definition = self._definitions[owner]
        schema = definition["properties"][wire]
        type_ = self._type(schema, module)
        required = wire in definition.get("required", ()) or (_last(owner), wire) in ALWAYS_WRITTEN
        markers = _markers(schema)
        default: str | None
        if required and owner in self._statuses and (type_ in ZEROS or type_.startswith("list")):
            default = ZEROS.get(type_, "[]")
        elif required and type_ not in TIMES:
            default = None
        elif (owner_default := DEFAULTS.get((_last(owner), wire))) is not None:
            default = f'"{owner_default}"'
            # An empty string is no default for a schema, unless it is said to be one.
            markers += [] if owner_default else ['Default("")']
        elif type_.startswith(("list", "dict")) and type_ not in FREE_FORM:
            # Empty and absent are one: neither Go's omitempty nor protobuf, as in etcd, keeps an empty list.
            default = "[]" if type_.startswith("list") else "{}"
        else:
            default = "None"
            type_ = type_ if type_ == "Any" else f"{type_} | None"
            # Go writes a time that was never set as null, required or not.
            markers += ["Required()"] if required else []
        if type_.removesuffix(" | None") in FREE_FORM:
            markers.append("PreserveUnknown()")
        if markers:
            type_ = f"Annotated[{type_}, {', '.join(markers)}]"
        return Field(wire, python_name(wire), type_, default)

    def _type(self, schema: Definition, module: str) -> str:
        if name := referenced(schema):
            return self._reference(name, module)
        kind = type_of(schema)
        if kind == "array":
            return f"list[{self._inner_type(schema['items'], module)}]"
        if kind == "object":
            return f"dict[str, {self._inner_type(schema['additionalProperties'], module)}]"
        return SCALARS[kind, schema.get("format")]

    def _inner_type(self, schema: Definition, module: str) -> str:
        type_ = self._type(schema, module)
        return f"Annotated[{type_}, PreserveUnknown()]" if type_ in FREE_FORM else type_

    def _reference(self, name: str, module: str) -> str:
        if written := WRITTEN.get(name):
            return written
        home = self._module_for(name)
        return _last(name) if home == module else f"{home}.{_last(name)}"

    def _module_for(self, name: str) -> str:
        group = name.rpartition(".")[0]
        if group not in self._module_of:
            raise LookupError(f"{name} is in no group of kinds.py; add its group, or write it in WRITTEN of plan.py")
        return self._module_of[group]


def _kind_keywords(definition: Definition, facts: Facts) -> dict[str, str]:
    (identity,) = definition["x-kubernetes-group-version-kind"]
    keywords = {"group": identity["group"], "version": identity["version"], "plural": facts.plural}
    if facts.cluster:
        keywords["scope"] = "Cluster"
    source = {keyword: f'"{word}"' for keyword, word in keywords.items()}
    lists = {"short_names": facts.short, "categories": facts.categories, "subresources": facts.subresources}
    for keyword, words in lists.items():
        # A kind with a status has a subresource for it, unless it says that it has none.
        if words or (keyword == "subresources" and "status" in definition["properties"]):
            source[keyword] = str(tuple(words.split()))
    return source


def _markers(schema: Definition) -> list[str]:
    """What server-side apply and strategic merge patches need to know about a list or map."""
    markers = []
    # Go's []byte is marked as the list that it is no longer on the wire.
    list_type = schema.get("x-kubernetes-list-type") if "items" in schema else None
    match list_type:
        case "map":
            keys = ", ".join(f'"{key}"' for key in schema["x-kubernetes-list-map-keys"])
            markers.append(f"ListMap({keys})")
        case "set":
            markers.append("ListSet()")
        case "atomic":
            markers.append("ListAtomic()")
    match schema.get("x-kubernetes-map-type"):
        case "atomic":
            markers.append("MapAtomic()")
        case "granular":
            markers.append("MapGranular()")
    if strategy := schema.get("x-kubernetes-patch-strategy"):
        key = schema.get("x-kubernetes-patch-merge-key")
        markers.append(f'Patch("{strategy}", "{key}")' if key else f'Patch("{strategy}")')
    return markers


def _references(definition: Definition) -> Iterator[str]:
    for schema in definition.get("properties", {}).values():
        for place in (schema, schema.get("items", {}), schema.get("additionalProperties", {})):
            if name := referenced(place):
                yield name


def _api_version(definition: Definition) -> str:
    (identity,) = definition["x-kubernetes-group-version-kind"]
    return f"{identity['group']}/{identity['version']}".removeprefix("/")


def _last(full_name: str) -> str:
    return full_name.rpartition(".")[2]
