"""Access control: impersonation, authorization, and checks against privilege escalation."""

from dataclasses import replace

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.authentication.bearer_tokens import BearerTokens
from windvane.cluster.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.escalation_check import EscalationCheck, Guard
from windvane.cluster.apiserver.authorization.impersonation import Impersonation
from windvane.cluster.apiserver.authorization.rule_resolver import RuleResolver
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target


class AccessControl:
    """Access control over the roles and bindings of one store."""

    def __init__(self, store: Store, tokens: BearerTokens, accounts: ServiceAccountTokens) -> None:
        rules = RuleResolver(store)
        self.authorizer = Authorizer(rules)
        self.tokens = tokens
        self.accounts = accounts
        self.impersonation = Impersonation(self.authorizer)
        self._escalation = EscalationCheck(self.authorizer, rules)

    def guard(self, attributes: Attributes, target: Target) -> Guard:
        """The check that a write must pass beyond its authorization."""
        return self._escalation.guard(attributes.user, target) or _unguarded

    def check_create(self, attributes: Attributes) -> None:
        """Check the right to create, for an update or an apply that creates; a `Failure` 403 without it."""
        if attributes.verb != "create":
            self.authorizer.check(replace(attributes, verb="create"))


def _unguarded(_: Wire, __: Wire | None) -> None:
    """Writes of most kinds grant nothing."""
