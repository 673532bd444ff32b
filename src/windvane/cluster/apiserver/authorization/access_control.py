"""Access control, as every request meets it: as which user it counts, whether that may do it, and what it may write."""

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
        """What a write must pass beyond being allowed as such."""
        return self._escalation.guard(attributes.user, target) or _unguarded

    def check_create(self, attributes: Attributes) -> None:
        """Who may update may not always create, and an update or an apply can do both; a `Failure` if they may not."""
        if attributes.verb != "create":
            self.authorizer.check(replace(attributes, verb="create"))


def _unguarded(_: Wire, __: Wire | None) -> None:
    """Most kinds give no rights."""
