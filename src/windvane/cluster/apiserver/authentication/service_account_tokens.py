"""Tokens of ServiceAccounts: their claims, TokenRequests, and whether they are still valid.

A signed token expires, and becomes invalid when its ServiceAccount, or the pod, secret or node that it is bound to, is
deleted.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from windvane import ambient
from windvane.api import wording
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.time import format_time, parse_time
from windvane.api.wording import quoted, quoted_list
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authentication.jwt import (
    Claims,
    InvalidToken,
    SigningKey,
    looks_like_token,
    peek_issuer,
)
from windvane.cluster.apiserver.authentication.service_account import account_name
from windvane.cluster.apiserver.failure import Failure, bad_request, conflict, invalid, not_found
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

ISSUER = "https://kubernetes.default.svc.cluster.local"
AUDIENCES = (ISSUER,)
"""The default audience of tokens: this server."""
CONFIGURATION_PATH = "/.well-known/openid-configuration"
JWKS_PATH = "/openid/v1/jwks"
LEEWAY = 60  # seconds that clocks may differ by
SHORTEST, LONGEST = 600, 2**32
# What kubelets request. Such tokens are extended to a year, for programs that never read the file again.
PROJECTED, EXTENDED = 3607, 365 * 24 * 3600
EXTRA = "authentication.kubernetes.io"
REQUEST = Kind(group="authentication.k8s.io", version="v1", name="TokenRequest", plural="TokenRequest")
ACCOUNTS = Kind(group="", version="v1", name="ServiceAccount", plural="serviceaccounts")
INVALIDATED = "service account token has been invalidated"
BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class ServiceAccountTokens:
    """Issues and checks the tokens of the ServiceAccounts in a store."""

    def __init__(self, store: Store, key: SigningKey) -> None:
        self._store = store
        self._key = key

    def complete(self, namespace: str, name: str, wire: Wire) -> None:
        """Default and validate a TokenRequest about a ServiceAccount."""
        metadata, spec = wire["metadata"], wire["spec"]
        for field, found in (("name", name), ("namespace", namespace)):
            if (stated := metadata.get(field) or found) != found:
                why = f"must match the service account {field} if specified"
                raise invalid(REQUEST, name, [wording.invalid(f"metadata.{field}", stated, why)])
        account = self._find("serviceaccounts", namespace, name)
        if account is None:
            raise not_found(ACCOUNTS, name)
        uid = account["metadata"]["uid"]
        if (stated := metadata.get("uid") or uid) != uid:
            mismatch = f"the UID in the token request ({stated}) does not match the UID of the service account ({uid})"
            raise conflict(REQUEST, name, mismatch)
        _check_duration(spec["expirationSeconds"])
        spec["audiences"] = spec["audiences"] or list(AUDIENCES)
        now = format_time(ambient.now())
        metadata |= {"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": now}
        wire["status"] = {"token": "", "expirationTimestamp": None}

    def issue(self, wire: Wire) -> Wire:
        """The answer to a TokenRequest that is `complete`: the request with its token."""
        metadata, spec = wire["metadata"], wire["spec"]
        namespace, name, uid = metadata["namespace"], metadata["name"], metadata["uid"]
        bound = self._bound(namespace, name, spec["boundObjectRef"])
        seconds, audiences = spec["expirationSeconds"], spec["audiences"]
        asked = parse_time(metadata["creationTimestamp"])
        now = int(ambient.now().timestamp())  # admission may have changed the request since
        lasts = seconds
        about = {"namespace": namespace, "serviceaccount": {"name": name, "uid": uid}, **bound}
        if "pod" in bound and seconds == PROJECTED and set(audiences) <= set(AUDIENCES):
            about["warnafter"] = now + seconds
            lasts = EXTENDED
        token = self._key.sign(_claims(namespace, name, audiences, now, lasts, about))
        status = {"token": token, "expirationTimestamp": format_time(asked + timedelta(seconds=seconds))}
        return {**wire, "status": status}

    def user(self, token: str, audiences: Sequence[str] = AUDIENCES) -> tuple[User, list[str]] | None:
        """The user of a token, and which of the audiences it is for. None if another issuer made it.

        `InvalidToken` if it is invalid, or not valid any more.
        """
        if not looks_like_token(token) or peek_issuer(token) != ISSUER:
            return None
        claims = self._key.verify(token)
        stated = claims.get("aud")
        for_whom = [stated] if isinstance(stated, str) else list(stated or ())
        meant = [one for one in audiences if one in for_whom]
        if not meant:
            raise InvalidToken(
                f"token audiences {quoted_list(for_whom)} is invalid for the target audiences {quoted_list(audiences)}"
            )
        _check_times(claims)
        return self._account(claims), meant

    def configuration(self, address: str) -> Wire:
        """The OpenID discovery document for programs that verify tokens: RFC 8414, in part."""
        return {
            "issuer": ISSUER,
            "jwks_uri": f"{address}{JWKS_PATH}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._key.jwk["alg"]],
        }

    def keys(self) -> Wire:
        """The public keys that verify tokens."""
        return {"keys": [self._key.jwk]}

    def _account(self, claims: Claims) -> User:
        about = claims.get("kubernetes.io") or {}
        namespace, account = about.get("namespace", ""), about.get("serviceaccount") or {}
        name, uid = account.get("name", ""), account.get("uid", "")
        found = self._find("serviceaccounts", namespace, name)
        if found is None:
            raise InvalidToken(f"serviceaccounts {quoted(name)} not found")
        if found["metadata"]["uid"] != uid:
            raise InvalidToken(f"service account UID ({found['metadata']['uid']}) does not match claim ({uid})")
        if _is_gone(found):
            raise InvalidToken(f"service account {namespace}/{name} has been deleted")
        extra = {"credential-id": f"JTI={claims['jti']}"}
        if secret := about.get("secret"):
            self._check_bound("Secret", "secret", namespace, secret)
        node = about.get("node")
        if pod := about.get("pod"):
            self._check_bound("Pod", "pod", namespace, pod)
            extra |= {"pod-name": pod["name"], "pod-uid": pod["uid"]}
        elif node:
            self._check_bound("Node", "node", "", node)
        if node:
            extra |= {"node-name": node["name"], "node-uid": node.get("uid", "")}
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        known = tuple((f"{EXTRA}/{key}", (extra[key],)) for key in sorted(extra) if extra[key])
        return User(account_name(namespace, name), groups, uid, known)

    def _check_bound(self, kind: str, word: str, namespace: str, claim: Mapping[str, str]) -> None:
        found = self._find(BOUND[kind], namespace, claim.get("name", ""))
        if found is None or _is_gone(found):
            raise InvalidToken(INVALIDATED)
        if (uid := found["metadata"]["uid"]) != claim.get("uid"):
            raise InvalidToken(
                f"{word} UID ({uid}) does not match service account {word} ref claim ({claim.get('uid')})"
            )

    def _bound(self, namespace: str, account: str, ref: Mapping[str, str] | None) -> Wire:
        """The claims about the object that a token is to be bound to."""
        if ref is None:
            return {}
        kind, version, name = ref.get("kind", ""), ref.get("apiVersion", ""), ref.get("name", "")
        group = version.partition("/")[0] if "/" in version else ""
        if group or kind not in BOUND:
            full = version if "/" in version else f"/{version}"
            raise bad_request(f"cannot bind token to object of type {full}, Kind={kind}")
        if not name:
            raise bad_request("Name parameter required.")
        found = self._find(BOUND[kind], "" if kind == "Node" else namespace, name)
        if found is None:
            raise not_found(Kind(group="", version="v1", name=kind, plural=BOUND[kind]), name)
        claims: Wire = {}
        if kind == "Pod":
            spec = found.get("spec", {})
            if spec.get("serviceAccountName") != account:
                what = f"cannot bind token for serviceaccount {quoted(account)} to pod running with different"
                raise bad_request(f"{what} serviceaccount name.")
            if node_name := spec.get("nodeName"):
                node = self._find("nodes", "", node_name)
                claims["node"] = {"name": node_name} | ({"uid": node["metadata"]["uid"]} if node else {})
        uid = found["metadata"]["uid"]
        if (stated := ref.get("uid") or uid) != uid:
            raise _other_uid(kind, name, stated)
        return {**claims, kind.lower(): {"name": name, "uid": uid}}

    def _find(self, plural: str, namespace: str, name: str) -> Wire | None:
        entry = self._store.get(Key(f"/{plural}", namespace, name))
        found: Wire | None = None if entry is None else msgspec.json.decode(entry.value)
        return found


def _claims(namespace: str, name: str, audiences: Sequence[str], now: int, seconds: int, about: Wire) -> Claims:
    return {
        "aud": audiences,
        "exp": now + seconds,
        "iat": now,
        "iss": ISSUER,
        "jti": ambient.uid(),
        "kubernetes.io": about,
        "nbf": now,
        "sub": account_name(namespace, name),
    }


def _check_duration(seconds: int) -> None:
    place = "spec.expirationSeconds"
    if seconds < SHORTEST:
        why = "may not specify a duration less than 10 minutes"
        raise invalid(REQUEST, "", [wording.invalid(place, seconds, why)])
    if seconds > LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
        raise invalid(REQUEST, "", [wording.invalid(place, seconds, why)])


def _check_times(claims: Claims) -> None:
    now = ambient.now().timestamp()
    if claims.get("nbf", 0) > now + LEEWAY:
        raise InvalidToken("service account token is not valid yet")
    if claims.get("exp", 0) < now - LEEWAY:
        raise InvalidToken("service account token has expired")
    if claims.get("iat", 0) > now + LEEWAY:
        raise InvalidToken("service account token is issued in the future")


def _is_gone(found: Mapping[str, Any]) -> bool:
    """Whether the object was deleted a while ago, and only finalizers keep it."""
    deleted = found["metadata"].get("deletionTimestamp")
    return deleted is not None and parse_time(deleted) < ambient.now() - timedelta(seconds=LEEWAY)


def _other_uid(kind: str, name: str, stated: str) -> Failure:
    what = f"the UID in the bound object reference ({stated}) does not match the UID in record."
    about = Kind(group="", version="v1", name=kind, plural=kind)
    return conflict(about, name, f"{what} The object might have been deleted and then recreated")
