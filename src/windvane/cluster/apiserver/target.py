"""The target of a request: a collection, an object, or a subresource, of a type that is served."""

from dataclasses import dataclass

from windvane.cluster.apiserver.failure import no_such_path
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.request.info import RequestInfo


@dataclass(frozen=True, slots=True)
class Target:
    """The resource that a path names."""

    type: ResourceType
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False
    """Whether it is an old-style watch path, such as `/api/v1/watch/pods`."""


def find_target(info: RequestInfo, catalog: Catalog) -> Target | None:
    """The target of `/api/v1/...` or `/apis/GROUP/VERSION/...`; a `Failure` 404 if nothing is served there.

    It is None where a real server answers with a plain 404: outside of the API, and for unknown resources in groups
    that only CRDs define.
    """
    root, *rest = info.segments
    if root not in ("api", "apis"):
        return None
    target = _served(info, catalog)
    if target is None and catalog.is_routed(rest[0] if root == "apis" and rest else ""):
        raise no_such_path()
    return target


def _served(info: RequestInfo, catalog: Catalog) -> Target | None:
    # Only an escaped slash can be inside of a segment, and no name has one: refuse it.
    if any("/" in segment or "\0" in segment or segment in ("", ".", "..") for segment in info.segments):
        return None
    if not info.is_resource or info.verb_in_path == "proxy":
        return None
    type_ = catalog.find(info.group, info.version, info.resource)
    if type_ is None or info.in_namespace > type_.kind.namespaced:
        return None
    # RequestInfo reads `namespaces/x` as in x. That is right for Namespaces, and for no custom kind of that plural.
    if info.namespace and not info.in_namespace and type_.kind.group:
        return None
    # What follows a custom object's subresource is ignored, as on a real server.
    # What follows `proxy` is a path in the pod.
    if type_.strategy.is_routed and (
        (info.more and info.subresource != "proxy")
        or (info.subresource and info.subresource not in type_.kind.subresources)
    ):
        return None
    namespace = info.namespace if info.in_namespace else ""
    return Target(type_, namespace, info.name, info.subresource, info.verb_in_path == "watch")
