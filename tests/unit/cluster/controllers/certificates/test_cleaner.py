"""When requests for certificates go."""

from datetime import UTC, datetime, timedelta

import pytest

from windvane.api.meta import ObjectMeta
from windvane.cluster.controllers.certificates.cleaner import end_of
from windvane.k8s.certificates import (
    CertificateSigningRequest,
    CertificateSigningRequestSpec,
    CertificateSigningRequestStatus,
)
from windvane.k8s.certificates import CertificateSigningRequestCondition as Condition

MADE = datetime(2030, 1, 1, tzinfo=UTC)
DECIDED = MADE + timedelta(hours=5)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def csr(*conditions: str, certificate: bytes | None = None) -> CertificateSigningRequest:
    said = [Condition(type=each, status="True", last_update_time=DECIDED) for each in conditions]
    return CertificateSigningRequest(
        metadata=ObjectMeta(name="mine", creation_timestamp=MADE),
        spec=CertificateSigningRequestSpec(request=b"", signer_name="example.com/a", usages=["any"]),
        status=CertificateSigningRequestStatus(conditions=said, certificate=certificate),
    )


@pytest.mark.parametrize(
    ("request_", "end"),
    [
        pytest.param(csr(), MADE + DAY, id="nobody decided"),
        pytest.param(csr("Denied"), DECIDED + HOUR, id="denied"),
        pytest.param(csr("Approved"), DECIDED + DAY, id="approved, and nobody signed"),
        pytest.param(csr("Approved", "Failed"), DECIDED + HOUR, id="refused by its signer"),
        pytest.param(csr("Approved", certificate=b"whatever"), DECIDED + HOUR, id="signed"),
        pytest.param(csr("Seen"), None, id="somebody is at it"),
    ],
)
def test_a_request_goes_when_nobody_needs_it(request_: CertificateSigningRequest, end: datetime | None) -> None:
    assert end_of(request_) == end
