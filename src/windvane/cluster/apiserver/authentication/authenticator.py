"""Authenticates requests by client certificate or bearer token; health checks may be anonymous."""

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authentication.bearer_tokens import authenticated
from windvane.cluster.apiserver.failure import failure

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
CREDENTIAL = "authentication.kubernetes.io/credential-id"
HEALTH_PATHS = frozenset({"/healthz", "/livez", "/readyz"})


class Tokens(Protocol):
    """Maps bearer tokens to users: a server's `BearerTokens`, or any mapping."""

    def get(self, token: str, /) -> User | None:
        """The user of that token."""
        ...


class Authenticator:
    """As on the real server, a certificate or a token is enough, and an invalid token is always refused."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def user(self, certified: User | None, authorization: str, path: str) -> User:
        """The user of a request for `path` with that Authorization header; a `Failure` 401 if it is unknown."""
        if certified is not None:
            return certified
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() == "bearer" and token:
            if (known := self._tokens.get(token.strip())) is not None:
                return authenticated(known)
        elif path in HEALTH_PATHS:
            return ANONYMOUS
        raise failure(401, "Unauthorized", "Unauthorized")


def certified(certificate: Mapping[str, Any] | None, encoded: bytes | None) -> User | None:
    """The user of a client certificate, as `ssl` describes it and as DER. OpenSSL has verified it."""
    if not certificate or not encoded:
        return None
    subject = [pair for attributes in certificate["subject"] for pair in attributes]
    # The last one, as in Go: signers check that one, too.
    name = next((value for key, value in reversed(subject) if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    digest = hashlib.sha256(encoded).hexdigest()
    return authenticated(User(name, groups, extra=((CREDENTIAL, (f"X509SHA256={digest}",)),))) if name else None
