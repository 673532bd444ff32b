"""Prevents privilege escalation: no user may grant rights through roles and bindings that it does not have.

Otherwise a user that may write roles could write one that allows everything, and bind it to itself. Two verbs lift
this, for roles of given names or for all: `escalate` to write any rules, and `bind` to bind the role to any subject.
"""

from collections.abc import Callable

import msgspec

from windvane.api.json_value import Wire
from windvane.api.wording import quoted, quoted_list
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.aggregation import is_aggregated
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.rbac import (
    FULL_AUTHORITY,
    GROUP,
    SUPERUSERS,
    PolicyRule,
    describe_missing,
    missing_rules,
)
from windvane.cluster.apiserver.authorization.rule_resolver import NoSuchRole, RoleRef, RuleResolver
from windvane.cluster.apiserver.failure import failure, forbidden, not_found
from windvane.cluster.apiserver.target import Target

Guard = Callable[[Wire, Wire | None], None]
"""Checks a write, given the new and the old object; refuses it by raising a `Failure`."""
ROLES, BINDINGS = ("roles", "clusterroles"), ("rolebindings", "clusterrolebindings")
ONLY_ADMINISTRATORS = "must have cluster-admin privileges to use the aggregationRule"
# What the garbage collector may change in any object.
FREELY_CHANGED = ("ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation")


class EscalationCheck:
    """Checks writes of roles and bindings."""

    def __init__(self, authorizer: Authorizer, rules: RuleResolver) -> None:
        self._authorizer = authorizer
        self._rules = rules

    def guard(self, user: User, target: Target) -> Guard | None:
        """The check for this user's writes there; None if there is none."""
        kind = target.type.kind
        if kind.group != GROUP or SUPERUSERS in user.groups:
            return None
        if kind.plural in BINDINGS:
            return lambda new, old: self._check_binding(user, target, new, old)
        about = Attributes(user, "escalate", None, GROUP, "*", kind.plural, "", target.namespace, target.name)
        if self._authorizer.decide(about).allowed:
            return None
        return lambda new, old: self._check_role(user, target, new, old)

    def _check_role(self, user: User, target: Target, new: Wire, old: Wire | None) -> None:
        if old is not None and _only_collected(new, old):
            return
        rules = _rules(new)
        self._confirm(user, target, new, rules)
        aggregated = is_aggregated(new) or (old is not None and is_aggregated(old))
        if target.type.kind.plural == "clusterroles" and aggregated and self._missing(user, "", FULL_AUTHORITY):
            raise forbidden(target.type.kind, _name(new), ONLY_ADMINISTRATORS)

    def _check_binding(self, user: User, target: Target, new: Wire, old: Wire | None) -> None:
        if old is not None and _only_collected(new, old):
            return
        try:
            ref = msgspec.convert(new.get("roleRef") or {}, RoleRef)
        except msgspec.ValidationError:
            return  # validation refuses it
        if ref.kind in ("Role", "ClusterRole"):
            plural = f"{ref.kind.lower()}s"
            about = Attributes(user, "bind", None, ref.api_group, "*", plural, "", target.namespace, ref.name)
            if self._authorizer.decide(about).allowed:
                return
        try:
            rules = self._rules.rules(ref, target.namespace)
        except NoSuchRole as missing:
            if ref.kind not in ("Role", "ClusterRole"):
                raise failure(500, "", str(missing)) from None
            # The role is missing; but this is the real server's message.
            raise not_found(target.type.kind, ref.name) from None
        self._confirm(user, target, new, list(rules))

    def _confirm(self, user: User, target: Target, new: Wire, rules: list[PolicyRule]) -> None:
        if not (missing := self._missing(user, target.namespace, rules)):
            return
        who = f"user {quoted(user.name)} (groups={quoted_list(user.groups)})"
        why = f"{who} is attempting to grant RBAC permissions not currently held:\n{describe_missing(missing)}"
        if problem := self._authorizer.rules_of(user, target.namespace)[1]:
            why = f"{why}; resolution errors: [{problem}]"
        raise forbidden(target.type.kind, _name(new), why)

    def _missing(
        self, user: User, namespace: str, rules: list[PolicyRule] | tuple[PolicyRule, ...]
    ) -> list[PolicyRule]:
        return missing_rules(self._authorizer.rules_of(user, namespace)[0], rules)


def _rules(wire: Wire) -> list[PolicyRule]:
    try:
        return msgspec.convert(wire.get("rules") or [], list[PolicyRule])
    except msgspec.ValidationError:
        return []  # validation refuses it


def _name(wire: Wire) -> str:
    return str(wire["metadata"].get("name") or "")


def _only_collected(new: Wire, old: Wire) -> bool:
    """Whether a change only concerns finalizers and owner references, which grants nothing."""
    return _essence(new) == _essence(old)


def _essence(wire: Wire) -> Wire:
    metadata = {key: value for key, value in wire["metadata"].items() if key not in FREELY_CHANGED}
    rest = {key: value for key, value in wire.items() if key not in ("apiVersion", "kind", "metadata")}
    return {"metadata": metadata, **{key: value for key, value in rest.items() if value}}
