"""Who asks: whom a client certificate is for, or who has a bearer token; and for health, nobody in particular."""

import hashlib
from collections.abc import Mapping
from typing import Any

from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import failure

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUTHENTICATED = "system:authenticated"
HEALTH_PATHS = frozenset({"/healthz", "/livez", "/readyz"})


class Authenticator:
    """Knows the tokens. As with the real server, a certificate or a token will do, and a wrong token is never right."""

    def __init__(self, tokens: Mapping[str, User]) -> None:
        # By digest: how long a look-up takes then says nothing about how much of a token was guessed right.
        self._users = {_digest(token): _authenticated(user) for token, user in tokens.items()}

    def user(self, certified: User | None, authorization: str, path: str) -> User:
        """Who asks for `path` with that Authorization header; a `Failure` 401 if we don't know."""
        if certified is not None:
            return certified
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() == "bearer" and token:
            if (known := self._users.get(_digest(token.strip()))) is not None:
                return known
        elif path in HEALTH_PATHS:
            return ANONYMOUS
        raise failure(401, "Unauthorized", "Unauthorized")


def certified(certificate: Mapping[str, Any] | None) -> User | None:
    """Who a client certificate, as `ssl` describes it, is for. OpenSSL has checked that our authority signed it."""
    if not certificate:
        return None
    subject = [pair for attributes in certificate["subject"] for pair in attributes]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    return _authenticated(User(name, groups)) if name else None


def _authenticated(user: User) -> User:
    return User(user.name, (*user.groups, AUTHENTICATED), user.uid)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()
