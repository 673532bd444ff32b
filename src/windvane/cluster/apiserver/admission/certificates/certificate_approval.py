"""The admission plugin CertificateApproval: only clients that may approve for a signer do."""

from windvane.cluster.apiserver.admission.certificates.signers import REQUESTS, check_signer
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.authorization.authorizer import Authorizer


class CertificateApproval(AdmissionPlugin):
    """Goes by the verb `approve`."""

    name = "CertificateApproval"
    resources = frozenset({REQUESTS})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether a request for a certificate is approved or denied."""
        return request.operation == "UPDATE" and request.subresource == "approval"

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse it to clients that may not."""
        check_signer(self._authorizer, request, "approve")
