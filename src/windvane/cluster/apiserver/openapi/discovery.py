"""The OpenAPI documents about documents: what `/version`, `/api`, `/apis` and each `/apis/GROUP` answer.

No kind is behind these, so their few definitions stand here.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from windvane.api.custom_resources.schema import Schema
from windvane.cluster.apiserver.discovery import groups_of
from windvane.cluster.apiserver.openapi.definitions import COMPONENTS, META, described
from windvane.cluster.apiserver.registry.catalog import Catalog

INFO = "io.k8s.apimachinery.pkg.version.Info"
GROUP_VERSION = f"{META}.GroupVersionForDiscovery"
ADDRESS = f"{META}.ServerAddressByClientCIDR"
TEXT: Schema = {"type": "string"}


class Page(NamedTuple):
    """A document that is answered at one path."""

    path: str
    tag: str
    name: str
    result: str
    types: tuple[str, ...] = ("application/json", "application/yaml")


def pages(catalog: Catalog) -> Iterator[tuple[str, Page]]:
    """All such documents, by the places of the OpenAPI documents about them."""
    yield "version", Page("/version/", "version", "getCodeVersion", INFO, ("application/json",))
    yield "api", Page("/api/", "core", "getCoreAPIVersions", f"{META}.APIVersions")
    yield "apis", Page("/apis/", "apis", "getAPIVersions", f"{META}.APIGroupList")
    for group in groups_of(catalog):
        if group and catalog.is_routed(group):
            words = group.removesuffix(".k8s.io").split(".")
            name = "".join(word[:1].upper() + word[1:] for word in words)
            tag = name[:1].lower() + name[1:]
            yield f"apis/{group}", Page(f"/apis/{group}/", tag, f"get{name}APIGroup", f"{META}.APIGroup")


def paths(page: Page) -> dict[str, Any]:
    """The `paths` of an OpenAPI 3 document about a page."""
    content = {type_: {"schema": _reference(page.result)} for type_ in page.types}
    responses = {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}}
    return {page.path: {"get": {"tags": [page.tag], "operationId": page.name, "responses": responses}}}


def definitions(page: Page) -> dict[str, Schema]:
    """The definitions that a page needs."""
    found: dict[str, Schema] = {}
    todo = [page.result]
    while todo:
        name = todo.pop()
        if name not in found:
            definition, others = DEFINITIONS[name]
            found[name] = described(name, definition)
            todo += others
    return dict(sorted(found.items()))


def _reference(name: str) -> Schema:
    return {"$ref": COMPONENTS + name}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items, "x-kubernetes-list-type": "atomic"}


def _object(required: str, kind: str = "", /, **properties: Schema) -> Schema:
    named = {"x-kubernetes-group-version-kind": [{"group": "", "kind": kind, "version": "v1"}]} if kind else {}
    head = {"apiVersion": TEXT, "kind": TEXT} if kind else {}
    return {"type": "object", "required": required.split(), "properties": head | properties, **named}


BUILD = "major minor gitVersion gitCommit gitTreeState buildDate goVersion compiler platform"
COMPATIBILITY = "emulationMajor emulationMinor minCompatibilityMajor minCompatibilityMinor"

# Each with the definitions that it refers to.
DEFINITIONS: dict[str, tuple[Schema, tuple[str, ...]]] = {
    INFO: (_object(BUILD, **dict.fromkeys(f"{BUILD} {COMPATIBILITY}".split(), TEXT)), ()),
    ADDRESS: (_object("clientCIDR serverAddress", clientCIDR=TEXT, serverAddress=TEXT), ()),
    GROUP_VERSION: (_object("groupVersion version", groupVersion=TEXT, version=TEXT), ()),
    f"{META}.APIVersions": (
        _object(
            "versions serverAddressByClientCIDRs",
            "APIVersions",
            versions=_list(TEXT),
            serverAddressByClientCIDRs=_list(_reference(ADDRESS)),
        ),
        (ADDRESS,),
    ),
    f"{META}.APIGroup": (
        _object(
            "name versions",
            "APIGroup",
            name=TEXT,
            versions=_list(_reference(GROUP_VERSION)),
            preferredVersion=_reference(GROUP_VERSION),
            serverAddressByClientCIDRs=_list(_reference(ADDRESS)),
        ),
        (GROUP_VERSION, ADDRESS),
    ),
    f"{META}.APIGroupList": (
        _object("groups", "APIGroupList", groups=_list(_reference(f"{META}.APIGroup"))),
        (f"{META}.APIGroup",),
    ),
}
