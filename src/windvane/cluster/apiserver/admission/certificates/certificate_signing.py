"""The admission plugin CertificateSigning: only clients that may sign for a signer do."""

from typing import Any

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.certificates.signers import REQUESTS, check_signer
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.authorization.authorizer import Authorizer


class CertificateSigning(AdmissionPlugin):
    """Goes by the verb `sign`."""

    name = "CertificateSigning"
    resources = frozenset({REQUESTS})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether the status of a request for a certificate is written."""
        return request.operation == "UPDATE" and request.subresource == "status"

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse a certificate, or conditions, of clients that may not."""
        if _signed(request.object or {}) != _signed(request.old or {}):
            check_signer(self._authorizer, request, "sign")


def _signed(wire: Wire) -> tuple[Any, Any]:
    status = wire.get("status") or {}
    return status.get("certificate"), status.get("conditions") or []
