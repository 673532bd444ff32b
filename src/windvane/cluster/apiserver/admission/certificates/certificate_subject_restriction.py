"""The admission plugin CertificateSubjectRestriction: a request for a certificate makes no client an administrator."""

import base64

from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.failure import forbidden

SIGNER = "kubernetes.io/kube-apiserver-client"
ADMINISTRATORS = "system:masters"


class CertificateSubjectRestriction(AdmissionPlugin):
    """Looks into new requests."""

    name = "CertificateSubjectRestriction"
    resources = frozenset({"certificatesigningrequests.certificates.k8s.io"})
    operations = frozenset({"CREATE"})

    async def validate(self, request: AdmissionRequest) -> None:
        csr = request.object
        if csr is None or csr["spec"].get("signerName") != SIGNER:
            return
        from windvane.cluster.certificate_requests import Request  # loaded when it is needed, because that takes long

        if ADMINISTRATORS in Request.read(base64.b64decode(csr["spec"]["request"])).organizations:
            why = f"use of {SIGNER} signer with {ADMINISTRATORS} group is not allowed"
            raise forbidden(request.type.kind, called(csr), why)
