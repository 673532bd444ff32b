"""What admission policies ask the authorizer. Rules in CRDs have none to ask, but the functions are known by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from windvane.api.cel.functions import Functions, member
from windvane.api.cel.types import BOOL, STRING, Type, struct
from windvane.api.cel.values import CelError, Opaque
from windvane.api.names import label_problems, subdomain_problems

AUTHORIZER = struct("kubernetes.authorization.Authorizer")
RESOURCE_CHECK = struct("kubernetes.authorization.ResourceCheck")
_PATH, _GROUP = struct("kubernetes.authorization.PathCheck"), struct("kubernetes.authorization.GroupCheck")
_DECISION = struct("kubernetes.authorization.Decision")


@dataclass(frozen=True, slots=True)
class Decision(Opaque):
    """Whether it is allowed, and why."""

    allowed: bool
    reason: str = ""
    error: str = ""
    type_name = _DECISION.name

    def same(self, other: Any) -> bool:
        return bool(self == other)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: may a user do this? Either a path is set, or a resource is. Without an account it is the user
    who sent the request."""

    verb: str = ""
    path: str | None = None
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    account: tuple[str, str] | None = None
    """The namespace and the name of a service account."""


@dataclass(frozen=True, slots=True)
class _Asking(Opaque):
    """A question that is not complete yet, and what is to answer it."""

    ask: Callable[[Question], Decision]
    question: Question = Question()

    def same(self, other: Any) -> bool:
        return self is other


class Authorizer(_Asking):
    """`authorizer`."""

    __slots__ = ()
    type_name = AUTHORIZER.name

    def path(self, path: str) -> "PathCheck":
        """`path(...)`."""
        if not path.strip():
            raise CelError("path must not be empty")
        return PathCheck(self.ask, replace(self.question, path=path))

    def group(self, group: str) -> "GroupCheck":
        """`group(...)`."""
        return GroupCheck(self.ask, replace(self.question, group=group))

    def service_account(self, namespace: str, name: str) -> "Authorizer":
        """`serviceAccount(...)`."""
        if subdomain_problems(name):
            raise CelError("Invalid service account name")
        if label_problems(namespace):
            raise CelError("Invalid service account namespace")
        return Authorizer(self.ask, replace(self.question, account=(namespace, name)))


class PathCheck(_Asking):
    """`authorizer.path(...)`."""

    __slots__ = ()
    type_name = _PATH.name


class GroupCheck(_Asking):
    """`authorizer.group(...)`."""

    __slots__ = ()
    type_name = _GROUP.name

    def resource(self, resource: str) -> "ResourceCheck":
        """`resource(...)`."""
        if not resource.strip():
            raise CelError("resource must not be empty")
        return ResourceCheck(self.ask, replace(self.question, resource=resource))


class ResourceCheck(_Asking):
    """`authorizer.group(...).resource(...)`, or `authorizer.requestResource`."""

    __slots__ = ()
    type_name = RESOURCE_CHECK.name

    def subresource(self, name: str) -> "ResourceCheck":
        """`subresource(...)`."""
        return ResourceCheck(self.ask, replace(self.question, subresource=name))

    def namespace(self, name: str) -> "ResourceCheck":
        """`namespace(...)`."""
        return ResourceCheck(self.ask, replace(self.question, namespace=name))

    def name(self, name: str) -> "ResourceCheck":
        """`name(...)`."""
        return ResourceCheck(self.ask, replace(self.question, name=name))


def _check(asking: _Asking, verb: str) -> Decision:
    return asking.ask(replace(asking.question, verb=verb))


def _by_selector(check: ResourceCheck, _: str) -> ResourceCheck:
    """RBAC, which is asked here, has no rules about selectors."""
    return check


_SIGNATURES: tuple[tuple[str, str, tuple[Type, ...], Type, Callable[..., Any]], ...] = (
    ("path", "authorizer_path", (AUTHORIZER, STRING), _PATH, Authorizer.path),
    ("group", "authorizer_group", (AUTHORIZER, STRING), _GROUP, Authorizer.group),
    (
        "serviceAccount",
        "authorizer_serviceaccount",
        (AUTHORIZER, STRING, STRING),
        AUTHORIZER,
        Authorizer.service_account,
    ),
    ("resource", "groupcheck_resource", (_GROUP, STRING), RESOURCE_CHECK, GroupCheck.resource),
    ("subresource", "resourcecheck_subresource", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, ResourceCheck.subresource),
    ("namespace", "resourcecheck_namespace", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, ResourceCheck.namespace),
    ("name", "resourcecheck_name", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, ResourceCheck.name),
    ("fieldSelector", "authorizer_fieldselector", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, _by_selector),
    ("labelSelector", "authorizer_labelselector", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, _by_selector),
    ("check", "pathcheck_check", (_PATH, STRING), _DECISION, _check),
    ("check", "resourcecheck_check", (RESOURCE_CHECK, STRING), _DECISION, _check),
    ("errored", "decision_errored", (_DECISION,), BOOL, lambda decision: bool(decision.error)),
    ("error", "decision_error", (_DECISION,), STRING, lambda decision: decision.error),
    ("allowed", "decision_allowed", (_DECISION,), BOOL, lambda decision: decision.allowed),
    ("reason", "decision_reason", (_DECISION,), STRING, lambda decision: decision.reason),
)

FUNCTIONS: Functions = {
    name: tuple(member(id_, args, result, run) for other, id_, args, result, run in _SIGNATURES if other == name)
    for name, *_ in _SIGNATURES
}
