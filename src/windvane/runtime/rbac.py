"""What an operator must be allowed to do, by what it declares. No I/O.

What its passes do with `ctx.client` can't be seen here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from windvane.api.condition import Status
from windvane.api.hints import type_hints
from windvane.api.kind import Kind
from windvane.api.resource import Object, Resource, kind_of
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.coordination import Lease
from windvane.k8s.core import Event, Secret
from windvane.runtime.conversion import group_kind
from windvane.runtime.declaration import Declaration
from windvane.runtime.operator import Operator

LOOK = ("list", "watch")
MAKE = ("get", "create", "patch", "delete")
"""What a child takes. Server-side apply is `patch`, and `create` as well for what is not there."""


@dataclass(frozen=True)
class Permission:
    """Some verbs on a resource."""

    kind: Kind
    verbs: tuple[str, ...]
    subresource: str = ""
    namespace: str = ""
    """Empty for all namespaces."""
    name: str = ""
    """Empty for all objects."""
    why: str = ""

    @property
    def resource(self) -> str:
        """As RBAC calls it: `deployments.apps`, `websites/status.demo.windvane.dev`."""
        plural = f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural
        return ".".join(filter(None, (plural, self.kind.group)))


def permissions_of(
    operator: Operator, *, namespaces: Sequence[str] = (), home: str, elected: bool = True
) -> list[Permission]:
    """What an operator needs in these namespaces (all, if there are none); its Lease is in `home`."""
    operator.check()
    found: dict[tuple[Kind, str, str, str], Permission] = {}

    def need(
        kind: Kind, verbs: Sequence[str], why: str, *, where: Sequence[str] = (), subresource: str = "", name: str = ""
    ) -> None:
        for namespace in where if kind.namespaced else ("",):
            key = (kind, subresource, namespace, name)
            before = found.get(key, Permission(kind, (), subresource, namespace, name, why))
            found[key] = replace(before, verbs=tuple(dict.fromkeys([*before.verbs, *verbs])))

    where = tuple(namespaces) or ("",)
    for each in operator.declarations.values():
        need(each.kind, LOOK, "it has a controller", where=where)
        if each.finalize is not None:
            need(each.kind, ("patch",), "its finalizer", where=where)
        if _writes_status(each):
            need(each.kind, ("patch",), "its status", subresource="status", where=where)
        for owned in each.owned:
            need(owned.kind, (*LOOK, *MAKE), f"owned by {each.kind.name}", where=where)
        for watch in each.watches:
            need(watch.kind, LOOK, f"watched for {each.kind.name}", where=where)
        for read in each.reads:
            need(kind_of(read), LOOK, f"read for {each.kind.name}", where=where)
    if operator.declarations:
        need(kind_of(Event), ("create", "patch"), "what is told of objects", where=where)
        if elected:
            need(kind_of(Lease), ("get", "create", "update"), "who leads", where=(home,))
    for hooks, configuration in (
        (operator.defaulting, MutatingWebhookConfiguration),
        (operator.validating, ValidatingWebhookConfiguration),
    ):
        if hooks:
            need(kind_of(configuration), (*LOOK, *MAKE), "has API servers call it", name=operator.name)
    for what in own_kinds(operator):
        if group_kind(what) in operator.conversions.kinds:
            name = f"{kind_of(what).plural}.{kind_of(what).group}"
            need(kind_of(CustomResourceDefinition), (*LOOK, "get", "patch"), "says how it is converted", name=name)
    if operator.serves_webhooks:
        certificate = f"{operator.name}-webhook-server-cert"
        need(kind_of(Secret), ("create",), "its certificate", where=(home,))
        need(kind_of(Secret), ("get", *LOOK, "update"), "its certificate", where=(home,), name=certificate)
    return list(found.values())


def own_kinds(operator: Operator) -> list[type[Object]]:
    """The classes whose CRDs are the operator's to install."""
    return [what for what in operator.kinds if issubclass(what, Resource)]


def _writes_status(declaration: Declaration) -> bool:
    status = type_hints(declaration.what).get("status", object)
    return isinstance(status, type) and issubclass(status, Status)
