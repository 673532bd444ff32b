"""The RBAC authorizer: whether a user may do something, and the words of the refusal."""

from collections.abc import Sequence
from dataclasses import dataclass

from windvane.api.status import APIStatus, StatusDetails
from windvane.api.wording import quoted
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.rbac import SUPERUSERS, PolicyRule, allows
from windvane.cluster.apiserver.authorization.rule_resolver import NoSuchRole, RuleResolver
from windvane.cluster.apiserver.failure import Failure

NOSNIFF = ("X-Content-Type-Options", "nosniff")
# Nothing in a refusal may look like HTML, wherever it is shown.
HARMLESS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether it is allowed, and by which binding; or which roles were missing."""

    allowed: bool
    reason: str = ""


ALLOWED = Decision(allowed=True)
REFUSED = Decision(allowed=False)


class Authorizer:
    """Decides by roles and bindings."""

    def __init__(self, rules: RuleResolver) -> None:
        self._rules = rules

    def decide(self, attributes: Attributes) -> Decision:
        """Whether it is allowed."""
        if SUPERUSERS in attributes.user.groups:
            return ALLOWED
        problems: dict[str, None] = {}
        for grant in self._rules.grants(attributes.user, attributes.namespace):
            try:
                rules = self._rules.rules(grant.role, grant.namespace)
            except NoSuchRole as missing:
                problems[str(missing)] = None
                continue
            for rule in rules:
                if allows(rule, attributes):
                    return Decision(allowed=True, reason=f"RBAC: allowed by {grant}")
        return Decision(allowed=False, reason=f"RBAC: {_listed(problems)}") if problems else REFUSED

    def check(self, attributes: Attributes) -> Decision:
        """The decision if it is allowed; else a `Failure` 403."""
        decision = self.decide(attributes)
        if not decision.allowed:
            raise refusal(attributes, decision.reason)
        return decision

    def rules_of(self, user: User, namespace: str) -> tuple[list[PolicyRule], str]:
        """All rules that a user has in a namespace, and the errors while they were resolved."""
        found: list[PolicyRule] = []
        problems: dict[str, None] = {}
        for grant in self._rules.grants(user, namespace):
            try:
                found += self._rules.rules(grant.role, grant.namespace)
            except NoSuchRole as missing:
                problems[str(missing)] = None
        return found, _listed(problems)


def refusal(attributes: Attributes, reason: str = "") -> Failure:
    """The 403 with the real server's message."""
    why = _what_is_not_allowed(attributes).translate(HARMLESS)
    if reason:
        why = f"{why}: {reason}"
    about = f"{attributes.resource}.{attributes.group}" if attributes.group else attributes.resource
    if attributes.name and about:
        about = f"{about} {quoted(attributes.name)}"
    message = f"{about} is forbidden: {why}" if about else f"forbidden: {why}"
    details = StatusDetails(name=attributes.name, group=attributes.group, kind=attributes.resource)
    status = APIStatus(status="Failure", code=403, reason="Forbidden", message=message, details=details)
    return Failure(status, [NOSNIFF])


def _what_is_not_allowed(attributes: Attributes) -> str:
    who = f"User {quoted(attributes.user.name)} cannot {attributes.verb}"
    if attributes.path is not None:
        return f"{who} path {quoted(attributes.path)}"
    what = f"resource {quoted(attributes.combined_resource)} in API group {quoted(attributes.group)}"
    where = f"in the namespace {quoted(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
    return f"{who} {what} {where}"


def _listed(problems: dict[str, None]) -> str:
    listed: Sequence[str] = list(problems)
    return listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]" if listed else ""
