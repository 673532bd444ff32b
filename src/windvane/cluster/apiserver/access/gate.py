"""The gate that every request passes: who is taken to be asking, whether they may, and what they may write."""

from dataclasses import replace

from windvane.cluster.apiserver.access.accounts import AccountTokens
from windvane.cluster.apiserver.access.attributes import Attributes
from windvane.cluster.apiserver.access.authorizer import Authorizer
from windvane.cluster.apiserver.access.escalation import Escalation
from windvane.cluster.apiserver.access.impersonation import Impersonation
from windvane.cluster.apiserver.access.policy import Policy
from windvane.cluster.apiserver.access.reviews import Reviews
from windvane.cluster.apiserver.access.tokens import BearerTokens
from windvane.cluster.apiserver.admission.admission import Guard, Wire
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.target import Target


class Gate:
    """Access control over the roles and bindings of one store."""

    def __init__(self, store: Store, tokens: BearerTokens, accounts: AccountTokens) -> None:
        policy = Policy(store)
        self.authorizer = Authorizer(policy)
        self.tokens = tokens
        self.accounts = accounts
        self.impersonation = Impersonation(self.authorizer)
        self.reviews = Reviews(self.authorizer, tokens)
        self._escalation = Escalation(self.authorizer, policy)

    def guard(self, wanted: Attributes, target: Target) -> Guard:
        """What a write must pass beyond being allowed as such."""
        return self._escalation.guard(wanted.user, target) or _unguarded

    def check_create(self, wanted: Attributes) -> None:
        """Who may update may not always create, and an update or an apply can do both; a `Failure` if they may not."""
        if wanted.verb != "create":
            self.authorizer.check(replace(wanted, verb="create"))


def _unguarded(_: Wire, __: Wire | None) -> None:
    """Most kinds give nobody any rights."""
