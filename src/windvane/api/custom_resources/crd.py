"""From resource classes to the CustomResourceDefinition that makes an API server serve them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

import msgspec

from windvane.api.custom_resources.class_checks import check_kind
from windvane.api.custom_resources.schema import MarkerError, Schema, SchemaError, schema
from windvane.api.hints import type_hints
from windvane.api.kind import Kind, is_custom
from windvane.api.meta import ObjectMeta
from windvane.api.names import service_name_problems, subdomain_problems
from windvane.api.resource import Column, Dynamic, Object, Presentation, ScaleSubresource, dynamic, kind_of

CustomResourceDefinition = dynamic(
    Kind(
        group="apiextensions.k8s.io",
        version="v1",
        name="CustomResourceDefinition",
        plural="customresourcedefinitions",
        namespaced=False,
        short_names=("crd", "crds"),
        subresources=("status",),
    )
)
SIMPLE_PATH = re.compile(r"^(\.[A-Za-z_$][\w$-]*)+$")
READY_PATH = '.status.conditions[?(@.type=="Ready")].status'
SELECTABLE = ("string", "integer", "boolean")


def crd(*versions: type[Object], conversion: Mapping[str, Any] | None = None) -> Dynamic:
    """The CustomResourceDefinition of a kind, from the classes of its versions.

    One class is the usual case. With several, exactly one is the version that objects are stored in: define
    the others with `stored=False`.

    `conversion` becomes spec.conversion as it is. Only a running operator knows what to say there: where its webhook
    server is, and which certificates it has. A client that leaves it out, and applies the CRD on the server's side,
    leaves what is there to the operator; of a new CRD with several versions, objects would then be read in versions
    that they were not written in, with all fields gone that have another name.
    """
    if not versions:
        raise TypeError("crd() needs the class of at least one version, as in crd(Website)")
    kinds = [kind_of(version) for version in versions]
    kind = _the_same(kinds, versions)
    _check_names(kind, versions[0])
    stored = [version for version in versions if version.__presentation__.stored]
    if not stored:
        names_of_all = ", ".join(version.__name__ for version in versions)
        raise TypeError(
            f"{kind.name}: objects are stored in exactly one version, and none of these is stored: {names_of_all}; "
            "leave out stored=False on the class of that version, or add it, if it is another one"
        )
    if len(stored) > 1:
        which = ", ".join(version.__name__ for version in stored)
        raise TypeError(
            f"{kind.name}: objects are stored in exactly one version, and {which} of these are stored; "
            f"write stored=False on the classes of all others"
        )
    names: dict[str, Any] = {
        "plural": kind.plural,
        "singular": kind.singular,
        "kind": kind.name,
        "listKind": f"{kind.name}List",
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    if kind.categories:
        names["categories"] = list(kind.categories)
    spec: dict[str, Any] = {
        "group": kind.group,
        "names": names,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "versions": [_version(version, root_schema(version)) for version in versions],
    }
    if conversion is not None:
        spec["conversion"] = dict(conversion)
    return CustomResourceDefinition(metadata=ObjectMeta(name=f"{kind.plural}.{kind.group}"), content={"spec": spec})


def _the_same(kinds: Sequence[Kind], versions: Sequence[type[Object]]) -> Kind:
    """The kind that all versions agree on, but for the version."""
    first = kinds[0]
    for other, cls in zip(kinds[1:], versions[1:], strict=True):
        for what in ("group", "name", "plural", "singular", "namespaced", "short_names", "categories"):
            if getattr(first, what) != getattr(other, what):
                raise TypeError(
                    f"{versions[0].__name__} and {cls.__name__} can't be versions of one kind: "
                    f"{what} is {getattr(first, what)!r} in one and {getattr(other, what)!r} in the other"
                )
    if len({kind.version for kind in kinds}) < len(kinds):
        raise TypeError(f"{first.name}: two classes have the same version; each needs its own")
    return first


def _check_names(kind: Kind, cls: type[Object]) -> None:
    if "." not in kind.group or subdomain_problems(kind.group):
        raise TypeError(f'{cls.__name__}: group {kind.group!r} must be a domain, such as "demo.example.com"')
    if not is_custom(kind):
        raise TypeError(f"{cls.__name__}: groups under k8s.io and kubernetes.io are Kubernetes' own; use your domain")
    for name in (kind.plural, kind.singular, kind.name.lower(), kind.version, *kind.short_names, *kind.categories):
        if problems := service_name_problems(name):
            raise TypeError(f"{cls.__name__}: {name!r} can't name a kind: {problems[0]}")


def check_version(cls: type[Object]) -> None:
    """SchemaError if a marker, a default, a rule or a column of the class can't work.

    What no CRD could describe is no mistake while none is made: the kind may be another's, and the class for reading.
    """
    _check_status(cls)
    try:
        root = root_schema(cls, documented=False)
    except MarkerError:
        raise
    except SchemaError:
        return
    _version(cls, root)


def _check_status(cls: type[Object]) -> None:
    """What was just created has no status, and must be readable."""
    status = type_hints(cls).get("status")
    if isinstance(status, type) and issubclass(status, msgspec.Struct):
        for field in msgspec.structs.fields(status):
            if field.required:
                why = 'a new object has no status yet and could not be read; give it a default, such as "" or None'
                raise SchemaError([cls.__name__, "status", field.name], why)


def _version(cls: type[Object], root: Schema) -> dict[str, Any]:
    look: Presentation = cls.__presentation__
    check_kind(cls.__name__, root)
    version: dict[str, Any] = {
        "name": kind_of(cls).version,
        "served": look.served,
        "storage": look.stored,
        "schema": {"openAPIV3Schema": root},
    }
    if look.deprecated:
        version["deprecated"] = True
        if isinstance(look.deprecated, str):
            version["deprecationWarning"] = look.deprecated
    if columns := _with_ready(look, root):
        version["additionalPrinterColumns"] = [_column(column, root, cls) for column in _with_age(columns)]
    subresources: dict[str, Any] = {}
    if "status" in root["properties"]:
        subresources["status"] = {}
    if look.scale:
        subresources["scale"] = _scale(look.scale, root, cls)
    if subresources:
        version["subresources"] = subresources
    if look.selectable:
        version["selectableFields"] = [{"jsonPath": _selectable(path, root, cls)} for path in look.selectable]
    return version


def root_schema(cls: type[Object], *, documented: bool = True) -> Schema:
    """The schema of a whole object; what is `documented` can be left out."""
    root = schema(cls, documented=documented)
    # The server knows these three by itself, and takes nothing but their types from us.
    root["properties"] |= {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    spec = root["properties"].get("spec", {})
    if "required" in spec and "spec" not in root.get("required", ()):
        root["required"] = [*root.get("required", ()), "spec"]
    return root


def follow(root: Schema, path: str) -> Schema | None:
    """The schema that a simple JSON path leads to; None if the path leads nowhere or is not simple."""
    if not SIMPLE_PATH.match(path):
        return None
    here: Any = root
    for name in path[1:].split("."):
        here = here.get("properties", {}).get(name, here.get("additionalProperties"))
        if not isinstance(here, dict):
            return None
    found: Schema = here
    return found


def _with_ready(look: Presentation, root: Schema) -> Sequence[Column]:
    """What is asked most is whether an object is ready: that is shown of every kind that has conditions."""
    columns = look.columns
    conditions = follow(root, ".status.conditions")
    if not look.ready_column or conditions is None or conditions.get("x-kubernetes-list-map-keys") != ["type"]:
        return columns
    if any(column.name.lower() == "ready" for column in columns):
        return columns
    age = next((place for place, column in enumerate(columns) if column.name.lower() == "age"), len(columns))
    return [*columns[:age], Column("Ready", READY_PATH, type="string"), *columns[age:]]


def _with_age(columns: Sequence[Column]) -> Sequence[Column]:
    """`kubectl get` shows AGE for every kind, but a kind that names columns must name this one too."""
    if any(column.name.lower() == "age" for column in columns):
        return columns
    return [*columns, Column("Age", ".metadata.creationTimestamp", type="date")]


def _column(column: Column, root: Schema, cls: type[Object]) -> dict[str, Any]:
    if not column.path.startswith((".", "$", "@", "[")):
        why = f"column {column.name!r} shows {column.path!r}, which is no path; write .{column.path}"
        raise SchemaError([cls.__name__], why)
    if column.type not in (allowed := get_args(get_type_hints(Column)["type"])):
        why = f"column {column.name!r} has the type {column.type!r}; there is {', '.join(filter(None, allowed))}"
        raise SchemaError([cls.__name__], why)
    target = follow(root, column.path)
    type_: str = column.type
    if not type_ and SIMPLE_PATH.match(column.path):
        if target is None and not column.path.startswith(".metadata."):
            raise SchemaError([cls.__name__], f"column {column.name!r} shows {column.path}, which is not a field")
        is_time = (target or {}).get("format") == "date-time" or column.path.endswith("Timestamp")
        type_ = "date" if is_time else (target or {}).get("type", "string")
    wire: dict[str, Any] = {"name": column.name, "type": type_ or "string", "jsonPath": column.path}
    if wire["type"] in ("object", "array"):
        wire["type"] = "string"
    if description := column.description or (target or {}).get("description", ""):
        wire["description"] = description
    if column.format:
        wire["format"] = column.format
    if column.priority:
        wire["priority"] = column.priority
    return wire


def scale_paths(cls: type[Object]) -> dict[str, str]:
    """The scale subresource of a class, as its CRD states it; empty if it has none."""
    scale: ScaleSubresource | None = cls.__presentation__.scale
    if scale is None:
        return {}
    selector = {"labelSelectorPath": scale.selector} if scale.selector else {}
    return {"specReplicasPath": scale.replicas, "statusReplicasPath": scale.current, **selector}


def _scale(scale: ScaleSubresource, root: Schema, cls: type[Object]) -> dict[str, str]:
    expected = {scale.replicas: "integer", scale.current: "integer"}
    if scale.selector:
        expected[scale.selector] = "string"
    for path, type_ in expected.items():
        if (follow(root, path) or {}).get("type") != type_:
            raise SchemaError([cls.__name__], f"scale uses {path}, which must be a field of type {type_}")
    return scale_paths(cls)


def _selectable(path: str, root: Schema, cls: type[Object]) -> str:
    target = follow(root, path)
    if target is None or target.get("type") not in SELECTABLE or path.startswith(".metadata"):
        raise SchemaError([cls.__name__], f"selectable {path} must be a string, integer or boolean in spec or status")
    return path
