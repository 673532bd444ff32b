"""What a path is about: a collection, an object, or a subresource of one, of a type that is served."""

from collections.abc import Sequence
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
    watch: bool = False
    """Whether the path says so, as `/api/v1/watch/pods` did before there was `?watch=true`."""


def find_target(path: str, catalog: Catalog) -> Target | None:
    """The target of `/api/v1/...` or `/apis/GROUP/VERSION/...`; a `Failure` 404 if nothing is served there.

    It is None where a real server has nothing but a plain page for whoever comes: outside of the API, and in groups
    without a kind of its own, whatever it is that the CRDs of the group don't define.
    """
    root, *segments = [unquote(segment) for segment in path.strip("/").split("/")]
    if root not in ("api", "apis"):
        return None
    group = segments.pop(0) if root == "apis" and segments else ""
    target = _read(group, segments, catalog)
    if target is None and catalog.has_builtin(group):
        raise no_such_path()
    return target


def _read(group: str, segments: Sequence[str], catalog: Catalog) -> Target | None:
    # A segment that holds a slash was escaped to get here, and names can't have one: it is somebody's trick.
    if any("/" in segment or "\0" in segment or segment in ("", ".", "..") for segment in segments):
        return None
    version, *rest = segments or ("",)
    watch = rest[:1] == ["watch"]
    if watch:
        del rest[0]
    namespace = ""
    # `namespaces/x` is the namespace itself, `namespaces/x/pods` is in it, `namespaces/x/status` is about it.
    if rest[:1] == ["namespaces"] and len(rest) > 2 and not (group == "" and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource, *more = [*rest, "", "", ""][: max(3, len(rest))]
    type_ = catalog.find(group, version, plural)
    if type_ is None or bool(namespace) > type_.kind.namespaced:
        return None
    # What comes after a custom object's subresource is not looked at, as on a real server.
    # What comes after `proxy` is a path of somebody else's.
    if not type_.custom and (
        (more and subresource != "proxy") or (subresource and subresource not in type_.kind.subresources)
    ):
        return None
    return Target(type_, namespace, name, subresource, watch)
