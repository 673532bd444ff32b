"""Warnings about certificates and keys that do not fit."""

import base64
from datetime import timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import NameOID

from conformance.requests import Raw
from windvane import ambient


def encoded(*content: bytes) -> str:
    return base64.b64encode(b"".join(content)).decode()


def certified(key: CertificateIssuerPrivateKeyTypes) -> tuple[bytes, bytes]:
    """A certificate of a key, by itself, and the key."""
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")]), ambient.now()
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    signed = made.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    if isinstance(key, ed25519.Ed25519PrivateKey):
        form = serialization.PrivateFormat.PKCS8
    return signed.public_bytes(encoding), key.private_bytes(encoding, form, serialization.NoEncryption())


async def test_a_key_and_a_certificate_that_do_not_belong_together(raw: Raw) -> None:
    one, one_key = certified(ec.generate_private_key(ec.SECP256R1()))
    other, other_key = certified(ec.generate_private_key(ec.SECP256R1()))
    edwards, edwards_key = certified(ed25519.Ed25519PrivateKey.generate())
    oddity = b"-----BEGIN ODDITY-----\nAAAA\n-----END ODDITY-----\n"
    nonsense = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    bad = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    skipped = "after skipping PEM blocks of the following types: [ODDITY]"
    said = {
        (one, one_key): "",
        (one + other, one_key + other_key): "",
        (b"words\n" + oddity + one, oddity + one_key): "",
        (edwards, edwards_key): "",
        (one, other_key): "tls: private key does not match public key",
        (one, edwards_key): "tls: private key type does not match public key type",
        (edwards, one_key): "tls: private key type does not match public key type",
        (b"", b""): "tls: failed to find any PEM data in certificate input",
        (one, b"words"): "tls: failed to find any PEM data in key input",
        (one_key, one): "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
        "PEM inputs may have been switched",
        (one, one): "tls: found a certificate rather than a key in the PEM for the private key",
        (oddity, one_key): f'tls: failed to find \\"CERTIFICATE\\" PEM block in certificate input {skipped}',
        (one, oddity): f'tls: failed to find PEM block with type ending in \\"PRIVATE KEY\\" in key input {skipped}',
        (one, nonsense): "tls: failed to parse private key",
        (bad, one_key): "x509: malformed certificate",
    }
    for (certificate, key), problem in said.items():
        data = {"tls.crt": encoded(certificate), "tls.key": encoded(key)}
        secret = {"metadata": {"name": "s"}, "type": "kubernetes.io/tls", "data": data}
        answer = await raw("POST secrets?dryRun=All", secret)
        assert (answer.code, answer.warnings) == (201, [f'299 - "{problem}"'] if problem else [])
