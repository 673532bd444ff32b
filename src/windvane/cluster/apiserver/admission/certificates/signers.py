"""Which clients may approve or sign for a signer, as the plugins CertificateApproval and CertificateSigning see it.

It is a matter of the verbs `approve` and `sign` on `signers`, by the signer's name, such as `example.com/web`, or by
its domain, `example.com/*`.
"""

from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.failure import forbidden

CERTIFICATES = "certificates.k8s.io"
REQUESTS = f"certificatesigningrequests.{CERTIFICATES}"


def check_signer(authorizer: Authorizer, request: AdmissionRequest, verb: str) -> None:
    """Refuse what is done to a request for a certificate if its client has no such right."""
    signer = str((request.old or {}).get("spec", {}).get("signerName", ""))
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        attributes = Attributes(request.user, verb, group=CERTIFICATES, version="*", resource="signers", name=name)
        if authorizer.decide(attributes).allowed:
            return
    why = f"user not permitted to {verb} requests with signerName {quoted(signer)}"
    raise forbidden(request.type.kind, request.name, why)
