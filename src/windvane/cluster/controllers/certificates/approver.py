"""Requests of nodes for the certificates that they log in with are approved, if the requestor has the right to that.

The right is to create `certificatesigningrequests/selfnodeclient` for a node that renews its own certificate, and
`certificatesigningrequests/nodeclient` for a requestor that asks for any node's.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from windvane import After, Client, Conflict, Context, NotFound, ObjectMeta, Operator, to_wire
from windvane.cluster.controllers.certificates.signer_rules import KUBELET_CLIENT, refusal
from windvane.k8s.authorization import ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec
from windvane.k8s.certificates import CertificateSigningRequest

if TYPE_CHECKING:
    from windvane.cluster.certificate_requests import Request

SELF = "Auto approving self kubelet client certificate after SubjectAccessReview."
ANY = "Auto approving kubelet client certificate after SubjectAccessReview."
LOOK_AGAIN = 30.0
"""Seconds until it is asked again whether the requestor has the right by now."""


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(CertificateSigningRequest, name="certificatesigningrequest-approving-controller")
    async def approve(csr: CertificateSigningRequest, ctx: Context) -> After | None:
        decided = {"Approved", "Denied"} & {each.type for each in csr.status.conditions}
        if decided or csr.status.certificate or csr.spec.signer_name != KUBELET_CLIENT:
            return None
        from windvane.cluster.certificate_requests import Request  # loaded when it is needed, because that takes long

        request = Request.read(csr.spec.request)
        if refusal(KUBELET_CLIENT, request, csr.spec.usages):
            return None
        for right, message in _rights(csr, request):
            if await _may(ctx.client, csr, right):
                await _approve(ctx.client, csr, message)
                return None
        return After(seconds=LOOK_AGAIN)


def _rights(csr: CertificateSigningRequest, request: "Request") -> Iterator[tuple[str, str]]:
    """What would do, and what is said if it does."""
    if csr.spec.username == request.common_name:
        yield "selfnodeclient", SELF
    yield "nodeclient", ANY


async def _may(client: Client, csr: CertificateSigningRequest, right: str) -> bool:
    asked = ResourceAttributes(
        group="certificates.k8s.io",
        version="*",
        resource="certificatesigningrequests",
        subresource=right,
        verb="create",
    )
    spec = SubjectAccessReviewSpec(
        user=csr.spec.username,
        uid=csr.spec.uid,
        groups=csr.spec.groups,
        extra=csr.spec.extra,
        resource_attributes=asked,
    )
    review = await client.create(SubjectAccessReview(metadata=ObjectMeta(), spec=spec))
    return review.status.allowed


async def _approve(client: Client, csr: CertificateSigningRequest, message: str) -> None:
    condition = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
    others = map(to_wire, csr.status.conditions)
    patch = {
        "metadata": {"resourceVersion": csr.metadata.resource_version},
        "status": {"conditions": [*others, condition]},
    }
    with suppress(NotFound, Conflict):  # it is gone; or it has changed, and that brings another pass
        await client.patch(CertificateSigningRequest, csr.metadata.name, patch, subresource="approval")
