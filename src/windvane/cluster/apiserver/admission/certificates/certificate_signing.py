"""The admission plugin CertificateSigning: only clients that may sign for a signer do."""

from typing import Any

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.certificates.signers import SignerPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest


class CertificateSigning(SignerPlugin):
    """Checks the verb `sign`, when a certificate or conditions are written."""

    name = "CertificateSigning"
    subresource = "status"
    verb = "sign"

    async def validate(self, request: AdmissionRequest) -> None:
        if _signed(request.object or {}) != _signed(request.old or {}):
            await super().validate(request)


def _signed(wire: Wire) -> tuple[Any, Any]:
    status = wire.get("status") or {}
    return status.get("certificate"), status.get("conditions") or []
