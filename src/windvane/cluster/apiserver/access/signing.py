"""Requests for certificates: the server writes down who asked, and only those who may approve or sign for a signer do.

Who may is a matter of the verbs `approve` and `sign` on `signers`, by the signer's name, such as `example.com/web`, or
by its domain, `example.com/*`.
"""

from collections.abc import Mapping
from typing import Any

from windvane.api import wording
from windvane.api.status import StatusCause
from windvane.api.wording import quoted
from windvane.cluster.apiserver.access.attributes import Attributes
from windvane.cluster.apiserver.access.authorizer import Authorizer
from windvane.cluster.apiserver.access.reviews import user_info
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import forbidden, invalid
from windvane.cluster.apiserver.target import Target
from windvane.cluster.apiserver.writing import Guard

CERTIFICATES = "certificates.k8s.io"
REQUESTS = f"certificatesigningrequests.{CERTIFICATES}"
DECISIONS = ("Approved", "Denied")
FINAL = (*DECISIONS, "Failed")
Wire = dict[str, Any]


def stamp(target: Target, wire: Wire, user: User) -> None:
    """Write who asks into a new request for a certificate, whoever it says it is from."""
    if target.type.kind.resource != REQUESTS or not isinstance(wire.get("spec"), dict):
        return
    spec = {key: value for key, value in wire["spec"].items() if key not in ("username", "uid", "groups", "extra")}
    wire["spec"] = spec | user_info(user)


class Signing:
    """Guards requests for certificates."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def guard(self, user: User, target: Target) -> Guard | None:
        """What must be asked before this user's change there is made; None if nothing must."""
        if target.type.kind.resource != REQUESTS or target.subresource not in ("approval", "status"):
            return None
        return lambda new, old: self._check(user, target, new, old or {})

    def _check(self, user: User, target: Target, new: Wire, old: Wire) -> None:
        if causes := _condition_problems(new, old, target.subresource):
            raise invalid(target.type.kind, target.name, causes)
        verb = "approve" if target.subresource == "approval" else "sign"
        if verb == "sign" and _signed(new) == _signed(old):
            return
        signer = str(old.get("spec", {}).get("signerName", ""))
        if not any(self._may(user, verb, name) for name in (signer, f"{signer.partition('/')[0]}/*")):
            why = f"user not permitted to {verb} requests with signerName {quoted(signer)}"
            raise forbidden(target.type.kind, target.name, why)

    def _may(self, user: User, verb: str, signer: str) -> bool:
        wanted = Attributes(user, verb, group=CERTIFICATES, version="*", resource="signers", name=signer)
        return self._authorizer.decide(wanted).allowed


def _signed(wire: Mapping[str, Any]) -> tuple[Any, Any]:
    status = wire.get("status") or {}
    return status.get("certificate"), status.get("conditions") or []


def _condition_problems(new: Wire, old: Wire, subresource: str) -> list[StatusCause]:
    """What was decided stays decided; and it is decided where decisions are made."""
    now, before = (_types(wire) for wire in (new, old))
    found = [
        wording.forbidden("status.conditions", f"updates may not remove a condition of type {quoted(type_)}")
        for type_ in FINAL
        if type_ in before and type_ not in now
    ]
    if subresource == "status":
        found += [
            wording.forbidden("status.conditions", f"updates may not add a condition of type {quoted(type_)}")
            for type_ in DECISIONS
            if type_ in now and type_ not in before
        ]
    return found


def _types(wire: Wire) -> set[str]:
    conditions = (wire.get("status") or {}).get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    return {str(condition.get("type")) for condition in listed if isinstance(condition, dict)}
