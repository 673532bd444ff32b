"""Only those who may approve or sign for a signer do: the plugins CertificateApproval and CertificateSigning.

Who may is a matter of the verbs `approve` and `sign` on `signers`, by the signer's name, such as `example.com/web`, or
by its domain, `example.com/*`.
"""

from collections.abc import Mapping
from typing import Any

from windvane.api.wording import quoted
from windvane.cluster.apiserver.access.attributes import Attributes
from windvane.cluster.apiserver.access.authorizer import Authorizer
from windvane.cluster.apiserver.access.signing import CERTIFICATES, REQUESTS
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import forbidden

VERBS = {"approval": "approve", "status": "sign"}


class Signers:
    """Guards requests for certificates."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def concerned(self, request: AdmissionRequest) -> bool:
        """Whether something is said about a request for a certificate."""
        return request.type.kind.resource == REQUESTS and request.subresource in VERBS

    async def mutate(self, request: AdmissionRequest) -> None:
        """Nothing is changed."""

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse what this user may not say."""
        verb, old = VERBS[request.subresource], request.old or {}
        if verb == "sign" and _signed(request.object or {}) == _signed(old):
            return
        signer = str(old.get("spec", {}).get("signerName", ""))
        if not any(self._may(request.user, verb, name) for name in (signer, f"{signer.partition('/')[0]}/*")):
            why = f"user not permitted to {verb} requests with signerName {quoted(signer)}"
            raise forbidden(request.type.kind, request.name, why)

    def _may(self, user: User, verb: str, signer: str) -> bool:
        wanted = Attributes(user, verb, group=CERTIFICATES, version="*", resource="signers", name=signer)
        return self._authorizer.decide(wanted).allowed


def _signed(wire: Mapping[str, Any]) -> tuple[Any, Any]:
    status = wire.get("status") or {}
    return status.get("certificate"), status.get("conditions") or []
