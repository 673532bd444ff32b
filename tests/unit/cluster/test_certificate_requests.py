"""What an authority makes of a request for a certificate."""

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from windvane.certificates import Authority
from windvane.cluster.certificate_requests import Request, certify


def test_who_has_not_the_key_gets_no_certificate_for_it() -> None:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    key = ec.generate_private_key(ec.SECP256R1())
    signed = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    forged = x509.load_der_x509_csr(signed.public_bytes(Encoding.DER).replace(b"jane", b"joan"))
    authority, usages, hour = Authority.new(), ["client auth"], timedelta(hours=1)
    assert certify(authority, Request(signed), usages, hour)
    with pytest.raises(ValueError, match="not signed with the key"):
        certify(authority, Request(forged), usages, hour)
