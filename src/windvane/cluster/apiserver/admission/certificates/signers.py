"""What the admission plugins CertificateApproval and CertificateSigning share: which clients may act for a signer.

That takes the verb `approve` or `sign` on `signers`, by the signer's name, such as `example.com/web`, or by its domain,
`example.com/*`.
"""

from typing import ClassVar

from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.failure import forbidden

CERTIFICATES = "certificates.k8s.io"


class SignerPlugin(AdmissionPlugin):
    """Refuses a write through one subresource to clients without the verb for the request's signer."""

    resources = frozenset({f"certificatesigningrequests.{CERTIFICATES}"})
    subresource: ClassVar[str]
    verb: ClassVar[str]

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def handles(self, request: AdmissionRequest) -> bool:
        return request.operation == "UPDATE" and request.subresource == self.subresource

    async def validate(self, request: AdmissionRequest) -> None:
        verb, signer = self.verb, str((request.old or {}).get("spec", {}).get("signerName", ""))
        for name in (signer, f"{signer.partition('/')[0]}/*"):
            attributes = Attributes(request.user, verb, group=CERTIFICATES, version="*", resource="signers", name=name)
            if self._authorizer.decide(attributes).allowed:
                return
        why = f"user not permitted to {verb} requests with signerName {quoted(signer)}"
        raise forbidden(request.type.kind, request.name, why)
