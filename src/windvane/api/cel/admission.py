"""What expressions about an admission request can name, and of which types that is."""

from collections.abc import Mapping

from windvane.api.cel.declared_types import Declared, structs
from windvane.api.cel.environment import Environment, object_type
from windvane.api.cel.library.authorization import AUTHORIZER, RESOURCE_CHECK
from windvane.api.cel.types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of, struct


def environment(
    *,
    object_: Declared | None = None,
    params: Declared | Type | None = None,
    authorizer: bool = True,
    variables: Mapping[str, Declared] | None = None,
) -> Environment:
    """All names with their types. Mostly nothing is known of objects and parameters; the latter may not be there.

    There may be thousands of `variables`, so they are not copied.
    """
    known: dict[str, Type] = {}
    fields = dict(_STRUCTS)
    for names, of in ((("object", "oldObject"), object_ or DYN), (("params",), params)):
        if isinstance(of, Declared):
            fields |= structs(of)
        if of is not None:
            known |= dict.fromkeys(names, of.type if isinstance(of, Declared) else of)
    known |= {"namespaceObject": _NAMESPACE.type, "request": _REQUEST.type}
    if authorizer:
        known |= {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK}
    if variables is not None:
        known["variables"] = _VARIABLES
        fields[_VARIABLES.name] = Declared(_VARIABLES, 0, 2, {}, False, fields=variables)
    return Environment(known, fields)


def variable(type_: Type) -> Declared:
    """A variable whose expression is of a type."""
    return _declared(_kept(type_))


_VARIABLES = struct("kubernetes.variables")
_KEPT = frozenset({"bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"})


def _kept(type_: Type) -> Type:
    """What is known of a variable's type where it is used: nothing, unless it is a plain one."""
    if type_.kind == "list":
        return list_of(_kept(type_.parameters[0]))
    if type_.kind == "map":
        return map_of(*map(_kept, type_.parameters))
    return type_ if type_.kind in _KEPT else DYN


def _declared(type_: Type) -> Declared:
    return Declared(type_, 0, 0, {}, False)


def _fields(type_: Type, *names: str) -> dict[str, Declared]:
    return dict.fromkeys(names, _declared(type_))


_TEXTS, _TEXT_MAP = list_of(STRING), map_of(STRING, STRING)
_KIND = object_type("kubernetes.GroupVersionKind", _fields(STRING, "group", "version", "kind"))
_RESOURCE = object_type("kubernetes.GroupVersionResource", _fields(STRING, "group", "version", "resource"))
_USER = object_type(
    "kubernetes.UserInfo",
    {**_fields(STRING, "username", "uid"), **_fields(_TEXTS, "groups"), **_fields(map_of(STRING, _TEXTS), "extra")},
)
_REQUEST = object_type(
    "kubernetes.AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "userInfo": _USER,
        **_fields(STRING, "subResource", "requestSubResource", "name", "namespace", "operation"),
        **_fields(BOOL, "dryRun"),
        **_fields(DYN, "options"),
    },
)
_NAMESPACE_CONDITION = object_type(
    "kubernetes.NamespaceCondition",
    {**_fields(STRING, "status", "type", "message", "reason"), **_fields(TIMESTAMP, "lastTransitionTime")},
)
_NAMESPACE_PARTS = {
    "metadata": object_type(
        "kubernetes.NamespaceMetadata",
        {
            **_fields(STRING, "name", "generateName", "namespace", "UID", "resourceVersion"),
            **_fields(_TEXT_MAP, "labels", "annotations"),
            **_fields(TIMESTAMP, "creationTimestamp", "deletionTimestamp"),
            **_fields(INT, "deletionGracePeriodSeconds", "generation"),
            **_fields(_TEXTS, "finalizers"),
        },
    ),
    "spec": object_type("kubernetes.NamespaceSpec", _fields(_TEXTS, "finalizers")),
    "status": object_type(
        "kubernetes.NamespaceStatus",
        {**_fields(list_of(_NAMESPACE_CONDITION.type), "conditions"), **_fields(STRING, "phase")},
    ),
}
_NAMESPACE = object_type("kubernetes.Namespace", _NAMESPACE_PARTS)
_STRUCTS: Mapping[str, Declared] = {
    each.type.name: each
    for each in (_KIND, _RESOURCE, _USER, _REQUEST, _NAMESPACE, _NAMESPACE_CONDITION, *_NAMESPACE_PARTS.values())
}
