"""The gate that every request passes: who is taken to be asking, whether they may, and what they may write."""

from dataclasses import replace

from windvane.cluster.apiserver.access.accounts import AccountTokens
from windvane.cluster.apiserver.access.attributes import Attributes
from windvane.cluster.apiserver.access.authorizer import Authorizer
from windvane.cluster.apiserver.access.escalation import Escalation
from windvane.cluster.apiserver.access.impersonation import Impersonation
from windvane.cluster.apiserver.access.policy import Policy
from windvane.cluster.apiserver.access.reviews import Reviews
from windvane.cluster.apiserver.access.signing import Signing
from windvane.cluster.apiserver.access.tokens import BearerTokens
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.target import Target
from windvane.cluster.apiserver.writing import Guard, Wire


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
        self._signing = Signing(self.authorizer)

    def guard(self, wanted: Attributes, target: Target) -> Guard:
        """What a write must pass beyond being allowed as such.

        Who may update may not always create, and an update or an apply can do both.
        """
        guards = [self._escalation.guard(wanted.user, target), self._signing.guard(wanted.user, target)]

        def check(new: Wire, old: Wire | None) -> None:
            if old is None and wanted.verb != "create":
                self.authorizer.check(replace(wanted, verb="create"))
            for guard in guards:
                if guard:
                    guard(new, old)

        return check
