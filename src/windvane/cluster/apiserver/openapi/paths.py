"""The operations in OpenAPI documents: what can be asked at which path, with which parameters.

An `Operation` says it once; `v3` and `v2` write it as OpenAPI 3 and Swagger 2 do. Paths that become streams (exec,
attach, port-forward, proxy) and the `watch/` paths of Kubernetes' first years are left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from windvane.api.custom_resources.schema import Schema
from windvane.api.kind import Kind
from windvane.api.resource import Object
from windvane.api.status import APIStatus
from windvane.cluster.apiserver.discovery import Subresource, subresources_of
from windvane.cluster.apiserver.openapi.definitions import (
    COMPONENTS,
    PATCH,
    builtin_name,
    definition_name,
)
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.k8s import authentication, autoscaling, core, policy

Parameters = tuple[tuple[str, str], ...]
"""Names of query parameters, each with its type."""

PRETTY: Parameters = (("pretty", "string"),)
SELECT: Parameters = (
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
)
DRY_RUN: Parameters = (("dryRun", "string"),)
WRITE: Parameters = (*DRY_RUN, ("fieldManager", "string"), ("fieldValidation", "string"))
FORCE: Parameters = (("force", "boolean"),)
LOG: Parameters = (
    ("container", "string"),
    ("follow", "boolean"),
    ("insecureSkipTLSVerifyBackend", "boolean"),
    ("limitBytes", "integer"),
    ("previous", "boolean"),
    ("sinceSeconds", "integer"),
    ("stream", "string"),
    ("tailLines", "integer"),
    ("timestamps", "boolean"),
)
DELETE: Parameters = (
    *DRY_RUN,
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
)

DELETE_COLLECTION: Parameters = (
    *(each for each in SELECT if each[0] not in ("allowWatchBookmarks", "watch")),
    *DELETE,
)

STATUS = builtin_name(APIStatus)
DELETE_OPTIONS = builtin_name(policy.DeleteOptions)
OBJECTS = ("application/json", "application/yaml")
PATCHES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
# kubectl sends strategic merge patches to whatever lists them here.
STRATEGIC = "application/strategic-merge-patch+json"
MEANING = {200: "OK", 201: "Created", 202: "Accepted"}

SUBRESOURCE_KINDS: dict[str, type[Object]] = {
    "binding": core.Binding,
    "eviction": policy.Eviction,
    "scale": autoscaling.Scale,
    "token": authentication.TokenRequest,
}
TEXT = ""
TEXT_TYPES = (*OBJECTS, "text/plain")
STREAMED = frozenset({"attach", "exec", "portforward", "proxy"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One verb at one path."""

    path: str
    method: str
    action: str
    """As `x-kubernetes-action` says it."""
    name: str
    """Unique in the whole document."""
    tag: str
    kind: tuple[str, str, str]
    """Group, version and kind of what it is about."""
    query: Parameters = ()
    body: str = ""
    """The definition of what is sent; empty if nothing is."""
    body_types: tuple[str, ...] = OBJECTS
    body_required: bool = True
    result: str
    """The definition of what is answered, or TEXT."""
    codes: tuple[int, ...] = (200,)


def operations(types: Iterable[ResourceType]) -> Iterator[Operation]:
    """All operations of these kinds."""
    for served in types:
        yield from _of_resource(served)
        for subresource in subresources_of(served):
            if subresource.name not in STREAMED:
                yield from _of_subresource(served, subresource)


def subresource_kinds(types: Iterable[ResourceType]) -> list[type[Object]]:
    """The classes of what is read and written at subresources of these kinds, beside the kinds themselves."""
    names = {subresource.name for served in types for subresource in subresources_of(served)}
    return [cls for name, cls in SUBRESOURCE_KINDS.items() if name in names]


def _of_resource(served: ResourceType) -> Iterator[Operation]:
    kind, verbs, name = served.kind, served.strategy.verbs, definition_name(served)
    collection, single = _paths(kind)
    about = _ResourceOperations(served, (kind.group, kind.version, kind.name))
    if "list" in verbs:
        listed = about.operation(collection, "list", "get", "list", query=SELECT, result=f"{name}List")
        yield listed
        if kind.namespaced:
            everywhere = f"list{_title(kind)}{kind.name}ForAllNamespaces"
            yield replace(listed, path=kind.collection_path(), name=everywhere)
    if "create" in verbs:
        yield about.create(collection, name)
    if "deletecollection" in verbs:
        yield about.delete_collection(collection)
    if "get" in verbs:
        yield about.read(single, name)
    if "update" in verbs:
        yield about.update(single, name)
    if "delete" in verbs:
        returned = served.strategy.returned_when_deleted
        yield about.delete(single, name if returned else STATUS)
    if "patch" in verbs:
        yield about.patch(single, name)


def _of_subresource(served: ResourceType, subresource: Subresource) -> Iterator[Operation]:
    kind, verbs = served.kind, subresource.verbs
    other = SUBRESOURCE_KINDS.get(subresource.name)
    name = builtin_name(other) if other else definition_name(served)
    own = (kind.group, kind.version, kind.name)
    if served.strategy.is_routed:  # a custom kind's scale is said to be of the custom kind
        group, version = (subresource.group, subresource.version) if subresource.group else own[:2]
        own = (group, version, subresource.kind)
    about = _ResourceOperations(served, own, subresource.name.capitalize())
    path = f"{_paths(kind)[1]}/{subresource.name}"
    if "create" in verbs:
        yield about.create(path, name)
    if subresource.name == "log":
        yield replace(about.read(path, TEXT), query=LOG)
    elif "get" in verbs:
        yield about.read(path, name)
    if "update" in verbs:
        yield about.update(path, name)
    if "patch" in verbs:
        yield about.patch(path, name)


@dataclass(frozen=True, slots=True)
class _ResourceOperations:
    """What the operations of one resource or subresource have in common."""

    served: ResourceType
    kind: tuple[str, str, str]
    suffix: str = ""

    def create(self, path: str, name: str) -> Operation:
        codes = (200, 201, 202)
        return self.operation(path, "create", "post", "post", query=WRITE, body=name, result=name, codes=codes)

    def read(self, path: str, name: str) -> Operation:
        query: Parameters = (("resourceVersion", "string"),) if not self.served.strategy.is_routed else ()
        return self.operation(path, "read", "get", "get", query=query, result=name)

    def update(self, path: str, name: str) -> Operation:
        return self.operation(path, "replace", "put", "put", query=WRITE, body=name, result=name, codes=(200, 201))

    def patch(self, path: str, name: str) -> Operation:
        made = self.operation(path, "patch", "patch", "patch", query=WRITE + FORCE, body=PATCH, result=name)
        if not self.served.strategy.is_routed:
            return replace(made, body_types=PATCHES)
        return replace(made, body_types=(*PATCHES, STRATEGIC), codes=(200, 201))

    def delete(self, path: str, result: str) -> Operation:
        made = self.operation(path, "delete", "delete", "delete", query=DELETE, body=DELETE_OPTIONS, result=result)
        return replace(made, body_required=False, codes=(200, 202))

    def delete_collection(self, path: str) -> Operation:
        verb = f"delete{_title(self.served.kind)}Collection"
        made = self.operation(path, "delete", "delete", "deletecollection", query=DELETE_COLLECTION, result=STATUS)
        made = replace(made, name=f"{verb}{self._scoped()}")
        if not self.served.strategy.is_routed:
            return replace(made, query=SELECT)
        return replace(made, body=DELETE_OPTIONS, body_required=False)

    def operation(
        self,
        path: str,
        verb: str,
        method: str,
        action: str,
        *,
        query: Parameters = (),
        body: str = "",
        result: str,
        codes: tuple[int, ...] = (200,),
    ) -> Operation:
        return Operation(
            path=path,
            method=method,
            action=action,
            name=f"{verb}{_title(self.served.kind)}{self._scoped()}{self.suffix}",
            tag=_tag(self.served.kind),
            kind=self.kind,
            query=query,
            body=body,
            result=result,
            codes=codes,
        )

    def _scoped(self) -> str:
        kind = self.served.kind
        return f"Namespaced{kind.name}" if kind.namespaced else kind.name


def _paths(kind: Kind) -> tuple[str, str]:
    """Of the collection and of one object, with placeholders."""
    collection = kind.collection_path()
    if kind.namespaced:
        collection = collection.removesuffix(kind.plural) + f"namespaces/{{namespace}}/{kind.plural}"
    return collection, f"{collection}/{{name}}"


def _words(kind: Kind) -> list[str]:
    return (kind.group.removesuffix(".k8s.io") or "core").split(".")


def _title(kind: Kind) -> str:
    """`rbac.authorization.k8s.io/v1` as names of operations say it: `RbacAuthorizationV1`."""
    return "".join(word[:1].upper() + word[1:] for word in (*_words(kind), kind.version))


def _tag(kind: Kind) -> str:
    first, *rest = _words(kind)
    return first + "".join(word[:1].upper() + word[1:] for word in rest) + f"_{kind.version}"


def _placeholders(path: str) -> list[str]:
    return [name for name in ("name", "namespace") if f"{{{name}}}" in path]


def v3(all_operations: Iterable[Operation]) -> dict[str, Any]:
    """The `paths` of an OpenAPI 3 document."""
    paths: dict[str, Any] = {}
    for each in sorted(all_operations, key=lambda operation: operation.path):
        shared = [_v3_parameter(name, "path", "string") for name in _placeholders(each.path)]
        shared += [_v3_parameter(name, "query", type_) for name, type_ in PRETTY]
        item = paths.setdefault(each.path, {"parameters": shared})
        answered = {"type": "string"} if not each.result else {"$ref": COMPONENTS + each.result}
        types = OBJECTS if each.result else TEXT_TYPES
        content = {type_: {"schema": answered} for type_ in types}
        operation = _head(each)
        # Go leaves out a list with nothing in it, and complains about one that is there.
        if parameters := [_v3_parameter(name, "query", type_) for name, type_ in each.query]:
            operation["parameters"] = parameters
        if each.body:
            sent = {type_: {"schema": {"$ref": COMPONENTS + each.body}} for type_ in each.body_types}
            operation["requestBody"] = {"content": sent} | ({"required": True} if each.body_required else {})
        operation["responses"] = {
            str(code): {"description": MEANING[code], "content": content} for code in each.codes
        } | {"401": {"description": "Unauthorized"}}
        item[each.method] = operation
    return paths


def v2(all_operations: Iterable[Operation]) -> dict[str, Any]:
    """The `paths` of a Swagger 2 document."""
    paths: dict[str, Any] = {}
    for each in sorted(all_operations, key=lambda operation: operation.path):
        shared: list[Schema] = [_v2_parameter(name, "path", "string") for name in _placeholders(each.path)]
        shared += [_v2_parameter(name, "query", type_) for name, type_ in PRETTY]
        item = paths.setdefault(each.path, {"parameters": shared})
        answered = {"type": "string"} if not each.result else {"$ref": f"#/definitions/{each.result}"}
        operation = _head(each)
        operation["produces"] = list(OBJECTS if each.result else TEXT_TYPES)
        operation["consumes"] = list(each.body_types) if each.method == "patch" else ["*/*"]
        parameters = [_v2_parameter(name, "query", type_) for name, type_ in each.query]
        if each.body:
            body: Schema = {"name": "body", "in": "body", "schema": {"$ref": f"#/definitions/{each.body}"}}
            parameters.insert(0, body | ({"required": True} if each.body_required else {}))
        if parameters:
            operation["parameters"] = parameters
        operation["responses"] = {
            str(code): {"description": MEANING[code], "schema": answered} for code in each.codes
        } | {"401": {"description": "Unauthorized"}}
        item[each.method] = operation
    return paths


def _head(operation: Operation) -> dict[str, Any]:
    group, version, kind = operation.kind
    return {
        "tags": [operation.tag],
        "operationId": operation.name,
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
    }


def _v3_parameter(name: str, place: str, type_: str) -> Schema:
    parameter: Schema = {"name": name, "in": place, "schema": {"type": type_, "uniqueItems": True}}
    return parameter | ({"required": True} if place == "path" else {})


def _v2_parameter(name: str, place: str, type_: str) -> Schema:
    parameter: Schema = {"name": name, "in": place, "type": type_, "uniqueItems": True}
    return parameter | ({"required": True} if place == "path" else {})
