"""What an API server serves: its version, and the kinds it knows with their names, scope and subresources."""

import logging
from collections.abc import Collection
from typing import TypeVar

import msgspec

from windvane.api import codec
from windvane.api.kind import Kind
from windvane.client.calls import Calls
from windvane.client.errors import APIError, Unreadable
from windvane.client.transport import Request

log = logging.getLogger(__name__)

DocumentT = TypeVar("DocumentT", bound=msgspec.Struct)

# One document for everything; servers before 1.30 don't know it and answer with the older kind.
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class _Camel(msgspec.Struct, rename="camel"):
    pass


class ServerVersion(_Camel):
    """Which Kubernetes the server is."""

    git_version: str
    """As people say it: `v1.36.3`."""
    major: str = ""
    minor: str = ""
    git_commit: str = ""
    build_date: str = ""
    go_version: str = ""
    platform: str = ""


class _ResponseKind(_Camel):
    kind: str = ""


class _Subresource(_Camel):
    subresource: str


class _Resource(_Camel):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = "Namespaced"
    singular_resource: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: list[_Subresource] = []
    verbs: frozenset[str] = frozenset()


class _Version(_Camel):
    version: str
    resources: list[_Resource] = []


class _Name(_Camel):
    name: str = ""


class _Group(_Camel):
    metadata: _Name = msgspec.field(default_factory=_Name)
    versions: list[_Version] = []


class _Aggregated(_Camel):
    kind: str
    items: list[_Group] = []


class _GroupVersion(_Camel):
    group_version: str


class _LegacyGroup(_Camel):
    versions: list[_GroupVersion] = []


class _LegacyGroups(_Camel):
    groups: list[_LegacyGroup] = []


class _CoreVersions(_Camel):
    versions: list[str] = []


class _LegacyResource(_Camel):
    name: str
    kind: str
    namespaced: bool
    singular_name: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()


class _LegacyResources(_Camel):
    group_version: str
    resources: list[_LegacyResource] = []


async def server_version(calls: Calls) -> ServerVersion:
    """The version that the server reports."""
    return await _read(calls, "/version", ServerVersion)


async def discover(calls: Calls, verbs: Collection[str] = ()) -> list[Kind]:
    """All kinds in all versions that the server serves, in its order of preference within each group.

    With `verbs`, only those with which all of that can be done.
    """
    kinds: list[Kind] = []
    for root in ("/api", "/apis"):
        answer = await _fetch(calls, root, AGGREGATED)
        document = _decode(answer, _Aggregated, root)
        if document.kind == "APIGroupDiscoveryList":
            kinds += [kind for group in document.items for kind in _kinds_of_group(group, verbs)]
        else:
            kinds += await _discover_one_by_one(calls, root, answer, verbs)
    return kinds


def _kinds_of_group(group: _Group, verbs: Collection[str]) -> list[Kind]:
    return [
        Kind(
            group=group.metadata.name,
            version=version.version,
            name=resource.response_kind.kind,
            plural=resource.resource,
            namespaced=resource.scope == "Namespaced",
            singular=resource.singular_resource,
            short_names=resource.short_names,
            categories=resource.categories,
            subresources=tuple(sorted(sub.subresource for sub in resource.subresources)),
        )
        for version in group.versions
        for resource in version.resources
        # A resource without a kind exists only to hang subresources on.
        if resource.response_kind is not None and resource.response_kind.kind and resource.verbs.issuperset(verbs)
    ]


async def _discover_one_by_one(calls: Calls, root: str, answer: bytes, verbs: Collection[str]) -> list[Kind]:
    """The older way: a document for the groups, and one for each version of each group."""
    if root == "/api":
        group_versions = _decode(answer, _CoreVersions, root).versions
    else:
        groups = _decode(answer, _LegacyGroups, root).groups
        group_versions = [version.group_version for group in groups for version in group.versions]
    kinds = []
    for group_version in group_versions:
        try:
            found = await _read(calls, f"{root}/{group_version}", _LegacyResources)
        except APIError as error:
            # One aggregated API whose server is down must not hide all the others.
            log.warning("discovery leaves out %s: %s", group_version, error)
        else:
            kinds += _kinds_of_version(found, verbs)
    return kinds


def _kinds_of_version(found: _LegacyResources, verbs: Collection[str]) -> list[Kind]:
    group, _, version = found.group_version.rpartition("/")
    return [
        Kind(
            group=group,
            version=version,
            name=resource.kind,
            plural=resource.name,
            namespaced=resource.namespaced,
            singular=resource.singular_name,
            short_names=resource.short_names,
            categories=resource.categories,
            subresources=tuple(
                sorted(
                    other.name.removeprefix(f"{resource.name}/")
                    for other in found.resources
                    if other.name.startswith(f"{resource.name}/")
                )
            ),
        )
        for resource in found.resources
        if "/" not in resource.name and resource.verbs.issuperset(verbs)
    ]


async def _fetch(calls: Calls, path: str, accept: str = "application/json") -> bytes:
    return await calls.call(Request("GET", path, headers={"Accept": accept}))


async def _read(calls: Calls, path: str, type_: type[DocumentT]) -> DocumentT:
    return _decode(await _fetch(calls, path), type_, path)


def _decode(answer: bytes, type_: type[DocumentT], path: str) -> DocumentT:
    try:
        return codec.decode(answer, type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"GET {path}: not what a Kubernetes API server answers: {error}") from error
