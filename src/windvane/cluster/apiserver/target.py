"""What a path is about: a collection, an object, or a subresource of one, of a type that is served."""

from dataclasses import dataclass
from urllib.parse import unquote

from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.failure import no_such_path


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request is going."""

    type: ResourceType
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def find_target(path: str, catalog: Catalog) -> Target:
    """The target of `/api/v1/...` or `/apis/GROUP/VERSION/...`; a `Failure` 404 if nothing is served there."""
    segments = [unquote(segment) for segment in path.strip("/").split("/")]
    if segments[0] == "api" and len(segments) > 2:
        group, version, rest = "", segments[1], segments[2:]
    elif segments[0] == "apis" and len(segments) > 3:
        group, version, rest = segments[1], segments[2], segments[3:]
    else:
        raise no_such_path()
    # A segment that holds a slash was escaped to get here, and names can't have one: it is somebody's trick.
    if any("/" in segment or "\0" in segment or segment in ("", ".", "..") for segment in rest):
        raise no_such_path()
    namespace = ""
    # `namespaces/x` is the namespace itself, `namespaces/x/pods` is in it, `namespaces/x/status` is about it.
    if rest[0] == "namespaces" and len(rest) > 2 and not (group == "" and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource, *more = [*rest, "", ""][: max(3, len(rest))]
    type_ = catalog.find(group, version, plural)
    if type_ is None or more or bool(namespace) > type_.kind.namespaced:
        raise no_such_path()
    if name and type_.kind.namespaced and not namespace:
        raise no_such_path()
    if subresource and subresource not in type_.kind.subresources:
        raise no_such_path()
    return Target(type_, namespace, name, subresource)


def leads_nowhere(path: str, catalog: Catalog) -> bool:
    """Whether no kind could ever be at a path, so that the real server has only a plain page for it.

    In a group that CRDs define, that is also so for versions and kinds that none of them does.
    """
    segments = path.strip("/").split("/")
    if segments[0] != "apis" or len(segments) < 2:
        return segments[0] not in ("api", "apis")
    group = [type_ for type_ in catalog.types.values() if type_.kind.group == segments[1]]
    if not group:
        return True
    if not any(type_.custom for type_ in group) or len(segments) < 4:
        return False
    rest = segments[3:]
    if rest[0] == "watch":
        rest = rest[1:]
    plural = rest[2] if rest[:1] == ["namespaces"] and len(rest) > 2 else rest[0] if rest else ""
    return catalog.find(segments[1], segments[2], plural) is None
