"""Requests for certificates are deleted when they are of no use any more: an hour after an answer, a day without."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from windvane import After, Conflict, Context, NotFound, Operator, ambient
from windvane.k8s.certificates import CertificateSigningRequest

ANSWERED = timedelta(hours=1)
WAITING = timedelta(days=1)


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(CertificateSigningRequest, name="certificatesigningrequest-cleaner-controller")
    async def clean(csr: CertificateSigningRequest, ctx: Context) -> After | None:
        end = end_of(csr)
        if end is None:
            return None
        if (left := (end - ambient.now()).total_seconds()) > 0:
            return After(seconds=left)
        with suppress(NotFound, Conflict):  # it is gone, or another one has its name
            await ctx.client.delete(CertificateSigningRequest, csr.metadata.name, uid=csr.metadata.uid)
        return None


def end_of(csr: CertificateSigningRequest) -> datetime | None:
    """When it goes, as far as that is known by now."""
    return min(_ends(csr), default=None)


def _ends(csr: CertificateSigningRequest) -> Iterator[datetime]:
    """When it would go, for each reason that there is."""
    if not csr.status.conditions and csr.metadata.creation_timestamp is not None:
        yield csr.metadata.creation_timestamp + WAITING
    for condition in csr.status.conditions:
        if condition.last_update_time is None:
            continue
        if condition.type in ("Denied", "Failed"):
            yield condition.last_update_time + ANSWERED
        elif condition.type == "Approved":
            yield condition.last_update_time + (ANSWERED if csr.status.certificate else WAITING)
    if csr.status.certificate:
        from windvane.cluster.certificate_requests import expiry  # loaded when it is needed, because that takes long

        if (end := expiry(csr.status.certificate)) is not None:
            yield end
