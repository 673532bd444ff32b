"""The verb of a request, as RBAC names it, and whether its target supports it.

Built-in kinds are behind a router, which knows each path and its methods. Custom kinds are not, and refuse invalid
paths in other words.
"""

from collections.abc import Mapping

from windvane.cluster.apiserver.discovery import SUBRESOURCES
from windvane.cluster.apiserver.failure import (
    bad_request,
    method_not_allowed,
    method_not_supported,
    no_such_path,
    not_found,
)
from windvane.cluster.apiserver.request.info import VERBS
from windvane.cluster.apiserver.request.options import is_on
from windvane.cluster.apiserver.target import Target

ACROSS_NAMESPACES: tuple[str, ...] = ("list", "watch")
OF_COLLECTIONS: tuple[str, ...] = ("create", "deletecollection", "list", "watch")
OF_OBJECTS: tuple[str, ...] = ("delete", "get", "patch", "update")


def verb_of(method: str, target: Target, query: Mapping[str, str]) -> str:
    """The verb of a method; empty if there is none."""
    verb = VERBS.get(method, "")
    if verb == "get" and (target.watch or (not target.name and is_on(query, "watch"))):
        return "watch"
    if target.name:
        return verb
    return {"get": "list", "delete": "deletecollection"}.get(verb, verb)


def is_plain_not_found(verb: str, target: Target) -> bool:
    """Whether the answer is a plain 404: a namespaced custom object without a namespace."""
    kind = target.type.kind
    return (
        not target.type.strategy.is_routed
        and kind.namespaced
        and not target.namespace
        and verb not in ACROSS_NAMESPACES
    )


def check_verb(method: str, verb: str, target: Target) -> None:
    """Refuse a verb that the target does not support."""
    if not target.type.strategy.is_routed:
        _check_unrouted(verb, target)
        return
    possible = _verbs_at(target)
    if not possible:
        raise no_such_path()
    if verb not in possible or (method == "HEAD" and target.subresource != "proxy"):
        raise method_not_allowed()


def _check_unrouted(verb: str, target: Target) -> None:
    kind = target.type.kind
    if target.subresource and target.subresource not in kind.subresources:
        raise not_found(kind, target.name)
    possible = SUBRESOURCES[target.subresource].verbs if target.subresource else target.type.strategy.verbs
    if verb not in possible:
        raise method_not_supported(kind, verb)
    if verb in OF_OBJECTS and not target.name:
        raise bad_request("name must be provided")


def _verbs_at(target: Target) -> tuple[str, ...]:
    """The verbs of a built-in kind at such a path; none if there is no such path."""
    if target.subresource:
        return SUBRESOURCES[target.subresource].verbs
    here = OF_OBJECTS if target.name else OF_COLLECTIONS
    if target.type.kind.namespaced and not target.namespace:
        here = () if target.name else ACROSS_NAMESPACES
    possible = tuple(verb for verb in here if verb in target.type.strategy.verbs)
    # An old-style watch path supports nothing but watch.
    return ("watch",) if target.watch and possible else possible
