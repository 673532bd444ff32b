"""Discovery: the documents that tell clients which kinds the server serves, group by group or all in one.

`/api` and `/apis` answer in two forms. The older one names groups and versions, each of which has a document of its own
at `/apis/GROUP/VERSION`. The newer one, which an Accept header asks for, is one document with everything in it.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from windvane.cluster.apiserver.encoding.accept import WRITABLE, clauses
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import group_priorities
from windvane.cluster.apiserver.registry.resource_type import ResourceType

Document = dict[str, Any]

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""The media type of the aggregated document, also its content type."""
AGGREGATION = dict(parameter.split("=") for parameter in AGGREGATED.split(";")[1:])


class Subresource(NamedTuple):
    """A subresource as discovery describes it."""

    name: str
    verbs: tuple[str, ...]
    kind: str = ""
    """Its kind; that of the object if empty. `{}` stands for the object's kind."""
    group: str = ""
    """Of `kind`, and `version` too; empty if they are the object's own."""
    version: str = ""


READ_AND_WRITE = ("get", "patch", "update")
ANY_METHOD = ("create", "delete", "get", "patch", "update")
STREAM = ("create", "get")

SUBRESOURCES: Mapping[str, Subresource] = MappingProxyType(
    {
        each.name: each
        for each in (
            Subresource("approval", READ_AND_WRITE),
            Subresource("attach", STREAM, "{}AttachOptions"),
            Subresource("binding", ("create",), "Binding"),
            Subresource("ephemeralcontainers", READ_AND_WRITE),
            Subresource("eviction", ("create",), "Eviction", "policy", "v1"),
            Subresource("exec", STREAM, "{}ExecOptions"),
            Subresource("finalize", ("update",)),
            Subresource("log", ("get",)),
            Subresource("portforward", STREAM, "{}PortForwardOptions"),
            Subresource("proxy", ANY_METHOD, "{}ProxyOptions"),
            Subresource("resize", READ_AND_WRITE),
            Subresource("scale", READ_AND_WRITE, "Scale", "autoscaling", "v1"),
            Subresource("status", READ_AND_WRITE),
            Subresource("token", ("create",), "TokenRequest", "authentication.k8s.io", "v1"),
        )
    }
)


def document(catalog: Catalog, path: str, accept: str, *, address: str = "127.0.0.1") -> Document | None:
    """The document at `path`, in the form that the Accept header asks for; None if there is none.

    `address` is the host and port that clients should use; only `/api` tells it.
    """
    match path.removeprefix("/").removesuffix("/").split("/"):
        case ["api"]:
            return _aggregated(catalog, core=True) if aggregated_in(accept) else _core_versions(address)
        case ["apis"]:
            return _aggregated(catalog, core=False) if aggregated_in(accept) else _groups(catalog)
        case ["apis", group] if group:
            versions = versions_of(catalog, group)
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)} if versions else None
        case ["api", version]:
            return _resources(catalog, "", version)
        case ["apis", group, version] if group:
            return _resources(catalog, group, version)
    return None


def aggregated_in(accept: str) -> str | None:
    """The media type in which a client accepts the aggregated document; None if it does not."""
    for clause in clauses(accept):
        if clause.media_type in WRITABLE and AGGREGATION.items() <= clause.parameters.items():
            return clause.media_type
    return None


def content_type(found: Document) -> str:
    """The content type of a document. Clients take it for the aggregated one only if this says so."""
    return AGGREGATED if found["kind"] == "APIGroupDiscoveryList" else "application/json"


def is_routed(catalog: Catalog, path: str) -> bool:
    """Whether the real server has a router before the document: for built-in versions, and for the core group."""
    root, *place = path.strip("/").split("/")
    return root == "api" or (len(place) == 2 and catalog.is_routed(place[0]))


def paths(catalog: Catalog) -> list[str]:
    """The paths of the documents."""
    found = ["/api", "/apis"]
    for group in groups_of(catalog):
        root = f"/apis/{group}" if group else "/api"
        found += [root] * bool(group) + [f"{root}/{version}" for version in versions_of(catalog, group)]
    return found


def subresources_of(served: ResourceType) -> list[Subresource]:
    """The subresources of a kind, with their own kinds filled in."""
    found = [SUBRESOURCES[name] for name in served.strategy.discovery_subresources]
    return [each._replace(kind=(each.kind or "{}").format(served.kind.name)) for each in found]


def groups_of(catalog: Catalog) -> list[str]:
    """All groups that are served: as in a real server, which kubectl follows where a name is ambiguous.

    The core group (with no name) is first, and groups of custom kinds are last.
    """
    priorities = group_priorities()
    return sorted({group for group, _, _ in catalog.types}, key=lambda group: (-priorities.get(group, 0), group))


def versions_of(catalog: Catalog, group: str) -> list[str]:
    """The served versions of a group, the preferred one first."""
    return sorted({version for found, version, _ in catalog.types if found == group}, key=_newest_first)


def types_of(catalog: Catalog, group: str, version: str) -> list[ResourceType]:
    """The types of one version of a group, by plural."""
    return [each for key, each in sorted(catalog.types.items()) if key[:2] == (group, version)]


def _newest_first(version: str) -> tuple[int, int, int, str]:
    """v2 before v1 before v1beta2 before v1alpha1 before anything else."""
    matched = re.fullmatch(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?", version)
    if matched is None:
        return 3, 0, 0, version
    major, stage, minor = matched.groups()
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), version


def _core_versions(address: str) -> Document:
    reachable = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": reachable}


def _groups(catalog: Catalog) -> Document:
    groups = [_group(group, versions_of(catalog, group)) for group in groups_of(catalog) if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(group: str, versions: list[str]) -> Document:
    named = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": named, "preferredVersion": named[0]}


def _resources(catalog: Catalog, group: str, version: str) -> Document | None:
    types = types_of(catalog, group, version)
    if not types:
        return None
    resources = [resource for each in types for resource in _legacy_resources(each)]
    # The core group's document has none, and never had.
    api_version = {"apiVersion": "v1"} if group else {}
    group_version = types[0].kind.api_version
    return {"kind": "APIResourceList", **api_version, "groupVersion": group_version, "resources": resources}


def _legacy_resources(served: ResourceType) -> list[Document]:
    kind = served.kind
    resource: Document = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.name,
        "verbs": list(served.strategy.verbs),
        **_names(served),
    }
    if "watch" in served.strategy.verbs:
        resource["storageVersionHash"] = _storage_version_hash(served)
    return [resource] + [
        {
            "name": f"{kind.plural}/{each.name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            **({"group": each.group, "version": each.version} if each.group else {}),
            "kind": each.kind,
            "verbs": list(each.verbs),
        }
        for each in subresources_of(served)
    ]


def _names(served: ResourceType) -> Document:
    named = {"shortNames": served.kind.short_names, "categories": served.kind.categories}
    return {key: list(names) for key, names in named.items() if names}


def _storage_version_hash(served: ResourceType) -> str:
    """Changes with the version that objects are stored in, so that migrations see it."""
    kind = served.strategy.stored_kind
    stored = f"{kind.group}/{served.storage_version or kind.version}/{kind.name}"
    return b64encode(sha256(stored.encode()).digest()[:8]).decode()


def _aggregated(catalog: Catalog, *, core: bool) -> Document:
    items = []
    for group in groups_of(catalog):
        if (group == "") == core:
            versions = [_aggregated_version(catalog, group, version) for version in versions_of(catalog, group)]
            items.append({"metadata": {"name": group} if group else {}, "versions": versions})
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated_version(catalog: Catalog, group: str, version: str) -> Document:
    resources = [_aggregated_resource(each) for each in types_of(catalog, group, version)]
    return {"version": version, "resources": resources, "freshness": "Current"}


def _aggregated_resource(served: ResourceType) -> Document:
    kind = served.kind
    own = dict(zip(("group", "version"), served.strategy.discovery_group_version, strict=True))
    resource: Document = {
        "resource": kind.plural,
        "responseKind": {**own, "kind": kind.name},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(served.strategy.verbs),
        **_names(served),
    }
    subresources = [
        {
            "subresource": each.name,
            "responseKind": {
                **({"group": each.group, "version": each.version} if each.group else own),
                "kind": each.kind,
            },
            "verbs": list(each.verbs),
        }
        for each in subresources_of(served)
    ]
    return resource | ({"subresources": subresources} if subresources else {})
