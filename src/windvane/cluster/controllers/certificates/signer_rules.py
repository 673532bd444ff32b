"""What each of Kubernetes' own signers asks of a request for a certificate.

Refusals are in kube-controller-manager's words: users see them in the condition Failed.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windvane.cluster.certificate_requests import Request

CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
SIGNERS = (CLIENT, KUBELET_CLIENT, KUBELET_SERVING)

SIGNATURE, ENCIPHERMENT, CLIENT_AUTH, SERVER_AUTH = (
    "digital signature",
    "key encipherment",
    "client auth",
    "server auth",
)
NODES = ["system:nodes"]
NODE = "system:node:"


def refusal(signer: str, request: "Request", usages: Collection[str]) -> str | None:
    """Why this signer signs no such request; None if it does."""
    if signer == CLIENT:
        return _client_refusal(usages)
    return _kubelet_client_refusal(request, usages) if signer == KUBELET_CLIENT else _serving_refusal(request, usages)


def _client_refusal(usages: Collection[str]) -> str | None:
    for usage in usages:
        if usage not in (SIGNATURE, ENCIPHERMENT, CLIENT_AUTH):
            return f"invalid usage for client certificate: {usage}"
    return None if CLIENT_AUTH in usages else f"missing required usage for client certificate: {CLIENT_AUTH}"


def _kubelet_client_refusal(request: "Request", usages: Collection[str]) -> str | None:
    if request.organizations != NODES:
        return "subject organization is not system:nodes"
    for kind, names in (
        ("DNS", request.dns_names),
        ("Email", request.emails),
        ("IP", request.addresses),
        ("URI", request.uris),
    ):
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if not request.common_name.startswith(NODE):
        return f"subject common name does not begin with {NODE}"
    return _usage_refusal(usages, CLIENT_AUTH)


def _serving_refusal(request: "Request", usages: Collection[str]) -> str | None:
    if request.organizations != NODES:
        return "subject organization is not system:nodes"
    if not request.dns_names and not request.addresses:
        return "DNS or IP subjectAltName is required"
    for kind, names in (("Email", request.emails), ("URI", request.uris)):
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if problem := _usage_refusal(usages, SERVER_AUTH):
        return problem
    return None if request.common_name.startswith(NODE) else f"subject common name does not begin with {NODE}"


def _usage_refusal(usages: Collection[str], purpose: str) -> str | None:
    """Keys that are no RSA keys can't encipher others, so that may be left out."""
    if set(usages) - {ENCIPHERMENT} == {SIGNATURE, purpose}:
        return None
    return f"usages did not match [{' '.join(sorted((SIGNATURE, ENCIPHERMENT, purpose)))}]"
