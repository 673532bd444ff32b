"""Requests for certificates that were approved are signed with the cluster's key, if they are for one of its signers.

What a signer doesn't sign gets the condition Failed, which says why. Requests for other signers are left to them.
"""

import base64
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from windvane import Conflict, Context, NotFound, Operator, ambient, format_time, to_wire
from windvane.cluster.controllers.certificates.signer_rules import SIGNERS, refusal
from windvane.k8s.certificates import CertificateSigningRequest

if TYPE_CHECKING:
    from windvane.cluster.certificate_requests import Authority

YEAR = timedelta(days=365)


def add_to(operator: Operator, authority: "Callable[[], Authority]") -> None:
    """Declare the controller. The `authority` is asked for when there is something to sign, and not before."""

    @operator.controller(CertificateSigningRequest, name="certificatesigningrequest-signing-controller")
    async def sign(csr: CertificateSigningRequest, ctx: Context) -> None:
        if not is_to_be_signed(csr):
            return
        # Only now: the library that reads certificates takes long to load, and most clusters never need it.
        from windvane.cluster.certificate_requests import Request, certify

        request = Request.read(csr.spec.request)
        if why := refusal(csr.spec.signer_name, request, csr.spec.usages):
            status: dict[str, Any] = {"conditions": [*map(to_wire, csr.status.conditions), _failed(why)]}
        else:
            certificate = certify(authority(), request, csr.spec.usages, _life(csr))
            status = {"certificate": base64.b64encode(certificate).decode()}
        seen = {"resourceVersion": csr.metadata.resource_version}
        with suppress(NotFound, Conflict):  # it is gone; or it has changed, and that brings another pass
            patch = {"metadata": seen, "status": status}
            await ctx.client.patch(CertificateSigningRequest, csr.metadata.name, patch, subresource="status")


def is_to_be_signed(csr: CertificateSigningRequest) -> bool:
    """Whether the request is approved, is for one of our signers, and nothing has come of it yet."""
    said = {each.type for each in csr.status.conditions}
    decided = "Approved" in said and not said & {"Denied", "Failed"}
    return decided and csr.spec.signer_name in SIGNERS and not csr.status.certificate


def _failed(why: str) -> dict[str, str]:
    now = format_time(ambient.now())
    told = {"reason": "SignerValidationFailure", "message": why, "lastUpdateTime": now}
    return {"type": "Failed", "status": "True", **told}


def _life(csr: CertificateSigningRequest) -> timedelta:
    seconds = csr.spec.expiration_seconds
    return YEAR if seconds is None else timedelta(seconds=seconds)
