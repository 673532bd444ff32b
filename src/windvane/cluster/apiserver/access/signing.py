"""Requests for certificates: the server writes down who asked. For who may approve and sign see `admission.signers`."""

from typing import Any

from windvane.cluster.apiserver.access.reviews import user_info
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.target import Target

CERTIFICATES = "certificates.k8s.io"
REQUESTS = f"certificatesigningrequests.{CERTIFICATES}"
Wire = dict[str, Any]


def stamp(target: Target, wire: Wire, user: User) -> None:
    """Write who asks into a new request for a certificate, whoever it says it is from."""
    if target.type.kind.resource != REQUESTS or not isinstance(wire.get("spec"), dict):
        return
    spec = {key: value for key, value in wire["spec"].items() if key not in ("username", "uid", "groups", "extra")}
    wire["spec"] = spec | user_info(user)
