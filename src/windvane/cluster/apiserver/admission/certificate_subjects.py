"""Nobody becomes an administrator by a request for a certificate: the plugin CertificateSubjectRestriction."""

import base64
from typing import Any

Wire = dict[str, Any]
SIGNER = "kubernetes.io/kube-apiserver-client"
ADMINISTRATORS = "system:masters"


def refusal(csr: Wire) -> str | None:
    """Why there can be no such request, which is valid by itself; None if there can."""
    if csr["spec"].get("signerName") != SIGNER:
        return None
    from windvane.cluster.certificate_requests import Request  # loaded when it is needed, because that takes long

    if ADMINISTRATORS not in Request.read(base64.b64decode(csr["spec"]["request"])).organizations:
        return None
    return f"use of {SIGNER} signer with {ADMINISTRATORS} group is not allowed"
