"""Bearer tokens of all sorts: those that the server was started with, and those of ServiceAccounts."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from windvane.cluster.apiserver.answer import User, user_info
from windvane.cluster.apiserver.authentication.jwt import InvalidToken
from windvane.cluster.apiserver.authentication.service_account_tokens import AUDIENCES, ServiceAccountTokens

AUTHENTICATED = "system:authenticated"
UNKNOWN = "invalid bearer token"


class BearerTokens:
    """Maps bearer tokens to users."""

    def __init__(self, tokens: Mapping[str, User], accounts: ServiceAccountTokens) -> None:
        # By digest: the time of a look-up then reveals nothing about a token.
        self._users = {_digest(token): authenticated(user) for token, user in tokens.items()}
        self._accounts = accounts

    def get(self, token: str) -> User | None:
        """The user of this token; None if it is not valid."""
        if (known := self._users.get(_digest(token))) is not None:
            return known
        try:
            found = self._accounts.user(token)
        except InvalidToken:
            return None
        return found[0] if found else None

    def review(self, token: str, audiences: Sequence[str]) -> dict[str, Any]:
        """The `status` of a TokenReview."""
        audiences = audiences or AUDIENCES
        user, accepted, problem = self._users.get(_digest(token)), [], UNKNOWN
        if user is not None:
            accepted = [one for one in audiences if one in AUDIENCES]
        else:
            try:
                if (found := self._accounts.user(token, audiences)) is not None:
                    user, accepted = found
            except InvalidToken as error:
                problem = f"[{UNKNOWN}, {error}]"
        if user is None or not accepted:
            return {"user": {}, "error": problem}
        return {"authenticated": True, "user": user_info(user), "audiences": accepted}


def authenticated(user: User) -> User:
    """The user with the group system:authenticated."""
    if AUTHENTICATED in user.groups:
        return user
    return User(user.name, (*user.groups, AUTHENTICATED), user.uid, user.extra)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()
